#include "hearth/nn/linear.h"

#include <cmath>
#include <ostream>

#include "hearth/nn/init.h"

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return hearth::linear(input, weight, bias);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  return hearth::bilinear(input1, input2, weight, bias);
}

}  // namespace functional

// ---- Identity, Flatten, Unflatten

Tensor IdentityImpl::forward(const Tensor& input) {
  return run_module(
      *this, [](const Tensor& x) { return x; }, input);
}

void IdentityImpl::pretty_print(std::ostream& stream) const { stream << "Identity()"; }

Tensor FlattenImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return x.flatten(options.start_dim(), options.end_dim()); },
      input);
}

void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << str("Flatten(start_dim=", options.start_dim(), ", end_dim=", options.end_dim(), ")");
}

UnflattenImpl::UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
    : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}

Tensor UnflattenImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return x.unflatten(options.dim(), options.sizes()); },
      input);
}

void UnflattenImpl::pretty_print(std::ostream& stream) const {
  stream << "Unflatten(dim=" << options.dim() << ", unflattened_size={";
  for (size_t i = 0; i < options.sizes().size(); ++i)
    stream << (i ? ", " : "") << options.sizes()[i];
  stream << "})";
}

// ---- Linear

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features)
    : LinearImpl(LinearOptions(in_features, out_features)) {}
LinearImpl::LinearImpl(const LinearOptions& options_) : options(options_) { LinearImpl::reset(); }

void LinearImpl::reset() {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  const bool has_bias = options.bias();
  bias = register_parameter("bias", has_bias ? empty(options.out_features()) : Tensor(), has_bias);
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::_calculate_fan_in_and_fan_out(weight);
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << str("Linear(in_features=", options.in_features(),
                ", out_features=", options.out_features(), ", bias=", options.bias(), ")");
}

Tensor LinearImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return hearth::linear(x, weight, bias); }, input);
}

// ---- Bilinear

BilinearImpl::BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
    : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
BilinearImpl::BilinearImpl(const BilinearOptions& options_) : options(options_) {
  BilinearImpl::reset();
}

void BilinearImpl::reset() {
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  const bool has_bias = options.bias();
  bias = register_parameter("bias", has_bias ? empty(options.out_features()) : Tensor(), has_bias);
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  stream << str("Bilinear(in1_features=", options.in1_features(),
                ", in2_features=", options.in2_features(),
                ", out_features=", options.out_features(), ", bias=", options.bias(), ")");
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return run_module(
      *this,
      [this](const Tensor& a, const Tensor& b) { return hearth::bilinear(a, b, weight, bias); },
      input1, input2);
}

}  // namespace hearth::nn
