#include "seam/dropout.h"

#include <cmath>

#include "core/generator_impl.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// Dropout while training: outputs the result and the mask.
struct Dropout {
  struct Args {
    double p;
    HEARTH_FIELDS(p)
  };
  static constexpr OpInfo info{.name = "native_dropout",
                               .dtypes = dtypes::kFloating,
                               .effect = Effect::kRandom,
                               .saves = out_slot(1),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static void infer(const Args&, InferContext& context) {
    infer_copy(context, context.in(0).dtype, MemoryFormat::Preserve);
    const InferContext::Output result = context.out(0);  // a copy: out(1) may move the outputs
    context.out(1) = result;
    context.out(1).dtype = kBool;
  }
  static void launch(const Args& args, LaunchContext& context) {
    DropoutParams params;
    params.in = context.in(0);
    params.out = context.out(0);
    params.mask = context.out(1);
    params.p = args.p;
    const Draw draw({}, context.ctx.device());
    params.source = draw.source();
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    const double scale = args.p == 1 ? 0 : 1 / (1 - args.p);
    context.set(0, context.grad().mul(context.out(1)).mul(scale));
  }
};

/// The random tensors of feature and alpha dropout, whose result is `factor * input + shift`.
struct Noise {
  Tensor factor, shift;
};

/// Draws 1 with probability 1 - p, else 0, for each element or, if `features`, for each channel of
/// each sample.
Tensor keep_mask(const Tensor& input, double p, bool features) {
  const NoGradGuard off;
  if (!features) return empty_like(input).bernoulli_(1 - p);
  HEARTH_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  Dims sizes(size_t(input.dim()), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return empty(sizes, input.options()).bernoulli_(1 - p);
}

bool has_effect(const Tensor& input, double p, bool train) {
  HEARTH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  return train && p > 0 && input.numel() > 0;
}

Noise noise_for(const Tensor& input, double p, bool features, bool alpha) {
  if (p == 1) return {zeros({}, input.options()), {}};
  const Tensor mask = keep_mask(input, p, features);
  check_castable(kFloat, mask.scalar_type());
  if (!alpha) return {mask.div(1 - p), {}};
  constexpr double kSeluLimit = 1.7580993408473766;  // selu's outputs are above -kSeluLimit
  const double scale = 1 / std::sqrt((kSeluLimit * kSeluLimit * p + 1) * (1 - p));
  return {mask * scale, (mask - 1) * (kSeluLimit * scale) + kSeluLimit * scale * p};
}

/// Feature or alpha dropout, or both.
Tensor dropped(const Tensor& input, double p, bool train, bool features, bool alpha) {
  if (!has_effect(input, p, train)) return input;
  const Noise noise = noise_for(input, p, features, alpha);
  const Tensor scaled = input * noise.factor;
  return noise.shift.defined() ? scaled + noise.shift : scaled;
}

/// The in-place form of dropped().
Tensor& drop(Tensor& self, double p, bool train, bool features, bool alpha) {
  if (!has_effect(self, p, train)) return self;
  const Noise noise = noise_for(self, p, features, alpha);
  self.mul_(noise.factor);
  return noise.shift.defined() ? self.add_(noise.shift) : self;
}

/// Applies dropout to single elements, in training mode.
Tensor elements_dropped(const Tensor& input, double p) {
  // As in PyTorch, p = 1 draws nothing, and NaN and infinities become NaN.
  if (p == 1) return input.mul(zeros({}, input.options()));
  return std::get<0>(invoke<Dropout>({p}, input).pair());
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  return has_effect(input, p, train) ? elements_dropped(input, p) : input;
}
TensorPair native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  check_defined("native_dropout", 0, "input", input);
  if (input.numel() == 0) return {input, empty_like(input)};
  if (!train.value_or(true)) return {input.clone(), ones_like(input, kBool)};
  HEARTH_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", 1 - p);
  check_castable(kFloat, input.scalar_type());
  const auto [result, mask] = invoke<Dropout>({p}, input).pair();
  return {result, mask};
}
// Multiplies by the dropout of ones, which draws the same numbers as dropout().
HEARTH_DEFINE_INPLACE_AS(dropout_, (double p, bool train),
                         has_effect(self, p, train)
                             ? self.mul_(elements_dropped(ones_like(self), p))
                             : self)

#define HEARTH_DEFINE_DROPOUT(name, features, alpha)       \
  Tensor name(const Tensor& input, double p, bool train) { \
    return dropped(input, p, train, features, alpha);      \
  }                                                        \
  HEARTH_DEFINE_INPLACE_AS(name##_, (double p, bool train), drop(self, p, train, features, alpha))
HEARTH_DEFINE_DROPOUT(feature_dropout, true, false)
HEARTH_DEFINE_DROPOUT(alpha_dropout, false, true)
HEARTH_DEFINE_DROPOUT(feature_alpha_dropout, true, true)
#undef HEARTH_DEFINE_DROPOUT

}  // namespace hearth
