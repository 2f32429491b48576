#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hearth/nn/stateless.h"

namespace hearth::nn {

struct HEARTH_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  HEARTH_ARG(int64_t, in_features);
  HEARTH_ARG(int64_t, out_features);
  HEARTH_ARG(bool, bias) = true;
};
struct HEARTH_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  HEARTH_ARG(int64_t, in1_features);
  HEARTH_ARG(int64_t, in2_features);
  HEARTH_ARG(int64_t, out_features);
  HEARTH_ARG(bool, bias) = true;
};
struct HEARTH_API FlattenOptions {
  HEARTH_ARG(int64_t, start_dim) = 1;
  HEARTH_ARG(int64_t, end_dim) = -1;
};
struct HEARTH_API UnflattenOptions {
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  HEARTH_ARG(int64_t, dim);
  HEARTH_ARG(std::vector<int64_t>, sizes);
};

/// Its input.
HEARTH_STATELESS_MODULE(Identity, detail::NoOptions, const Tensor&);
/// The dimensions from start_dim to end_dim as one.
HEARTH_STATELESS_MODULE(Flatten, FlattenOptions, const Tensor&);

/// Dimension dim as several of these sizes.
class HEARTH_API UnflattenImpl : public detail::Stateless<UnflattenImpl, UnflattenOptions> {
 public:
  using detail::Stateless<UnflattenImpl, UnflattenOptions>::Stateless;
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Unflatten);

/// input x weight^T + bias over the last dimension; weight is [out_features, in_features].
class HEARTH_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options_);
  void reset() override;
  /// Draws the initial values anew.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
HEARTH_MODULE(Linear);

/// out[n][o] = the sum over i and j of input1[n][i] * weight[o][i][j] * input2[n][j], + bias[o].
class HEARTH_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  Tensor weight;
  Tensor bias;
};
HEARTH_MODULE(Bilinear);

namespace functional {
HEARTH_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
HEARTH_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                           const Tensor& bias = {});
}  // namespace functional

}  // namespace hearth::nn
