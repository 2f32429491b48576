#include "seam/softmax.h"

#include "ops/define.h"
#include "ops/reduce.h"

namespace hearth {

namespace {

/// The gradient. Inputs: the gradient of the output, and the output.
template <bool log>
struct SoftmaxBackward {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = log ? "log_softmax_backward" : "softmax_backward",
                               .node = log ? "LogSoftmaxBackward" : "SoftmaxBackward",
                               .arguments = "grad_output,output",
                               .dtypes = dtypes::kFloating,
                               .saves = in_slot(0) | in_slot(1)};
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(1).sizes(), context.in(1).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, SoftmaxBackwardParams{context.in(0), context.in(1), context.out(),
                                                  int(args.dim), log});
  }
  static void grad(const Args& args, GradContext& context) {
    const Tensor g = context.in(0), y = context.in(1), gg = context.grad();
    const auto summed = [&](const Tensor& t) { return t.sum(args.dim, true); };
    if constexpr (log) {
      const Tensor weighted = gg.mul(y.exp());
      if (context.needs(0)) context.set(0, gg.sub(summed(weighted)));
      if (context.needs(1)) context.set(1, weighted.mul(summed(g)).neg());
    } else {
      if (context.needs(0)) context.set(0, invoke<SoftmaxBackward>(args, gg, y).call());
      if (context.needs(1))
        context.set(1, gg.mul(g.sub(summed(g.mul(y)))).sub(g.mul(summed(gg.mul(y)))));
    }
  }
};

template <bool log>
struct Softmax {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = log ? "log_softmax" : "softmax",
                               .node = log ? "LogSoftmax" : "Softmax",
                               .dtypes = dtypes::kFloating,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .saves = out_slot(0)};
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx, SoftmaxParams{context.in(0), context.out(), int(args.dim), log});
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<SoftmaxBackward<log>>(args, context.grad(), context.out()).call());
  }
};

}  // namespace

HEARTH_DEFINE_OUT(softmax, (int64_t dim, std::optional<ScalarType> dtype),
                  invoke<Softmax<false>>({wrap_dim(dim, self.dim())}, in_dtype(self, dtype)))
HEARTH_DEFINE_OUT(log_softmax, (int64_t dim, std::optional<ScalarType> dtype),
                  invoke<Softmax<true>>({wrap_dim(dim, self.dim())}, in_dtype(self, dtype)))

}  // namespace hearth
