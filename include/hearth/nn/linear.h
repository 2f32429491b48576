#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of Linear.
struct HEARTH_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  HEARTH_ARG(int64_t, in_features);   ///< size of the input's last dimension
  HEARTH_ARG(int64_t, out_features);  ///< size of the output's last dimension
  HEARTH_ARG(bool, bias) = true;      ///< whether a bias is added
};
/// Options of Bilinear.
struct HEARTH_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  HEARTH_ARG(int64_t, in1_features);  ///< size of the first input's last dimension
  HEARTH_ARG(int64_t, in2_features);  ///< size of the second input's last dimension
  HEARTH_ARG(int64_t, out_features);  ///< size of the output's last dimension
  HEARTH_ARG(bool, bias) = true;      ///< whether a bias is added
};
/// Options of Flatten.
struct HEARTH_API FlattenOptions {
  HEARTH_ARG(int64_t, start_dim) = 1;  ///< the first of the combined dimensions
  HEARTH_ARG(int64_t, end_dim) = -1;   ///< the last of the combined dimensions
};
/// Options of Unflatten.
struct HEARTH_API UnflattenOptions {
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  HEARTH_ARG(int64_t, dim);                 ///< the dimension to split
  HEARTH_ARG(std::vector<int64_t>, sizes);  ///< its new sizes, one of which may be -1
};

/// Returns its input.
HEARTH_STATELESS_MODULE(Identity, detail::NoOptions, const Tensor&);
/// Combines the dimensions from start_dim to end_dim into one.
HEARTH_STATELESS_MODULE(Flatten, FlattenOptions, const Tensor&);

/// Splits dimension dim into dimensions of the given sizes.
class HEARTH_API UnflattenImpl : public detail::Stateless<UnflattenImpl, UnflattenOptions> {
 public:
  using detail::Stateless<UnflattenImpl, UnflattenOptions>::Stateless;
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Unflatten);

/// input * weight^T + bias over the last dimension; weight is [out_features, in_features].
class HEARTH_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features);
  explicit LinearImpl(const LinearOptions& options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);  ///< [..., in_features] to [..., out_features]

  LinearOptions options;
  Tensor weight;  ///< [out_features, in_features]
  Tensor bias;    ///< [out_features], or undefined
};
HEARTH_MODULE(Linear);

/// out[n][o] = bias[o] + the sum over i and j of input1[n][i] * weight[o][i][j] * input2[n][j].
class HEARTH_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features);
  explicit BilinearImpl(const BilinearOptions& options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  Tensor weight;  ///< [out_features, in1_features, in2_features]
  Tensor bias;    ///< [out_features], or undefined
};
HEARTH_MODULE(Bilinear);

namespace functional {
/// input * weight^T + bias.
HEARTH_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
/// As Bilinear.
HEARTH_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                           const Tensor& bias = {});
}  // namespace functional

}  // namespace hearth::nn
