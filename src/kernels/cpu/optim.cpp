// The step of an optimizer, an average or a clipping, on all tensors of a call in place. The
// threads divide the elements of all tensors as one range; half types and tensors with gaps are
// computed in dense copies of 512 elements. Bound by memory: in float32, Adam reads 16 bytes and
// writes 12 for each element.
#include "seam/optim.h"

#include <algorithm>
#include <limits>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/optim_kernels.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/strided.h"
#include "kernels/cpu/tensor_ranges.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kOptimGrain = 16384;  // elements that are worth another thread
constexpr int64_t kTile = 512;          // elements that are converted at once
constexpr int kGradient = 1;            // operand number

using FactorsFn = fn::StepFactors (*)(const void* rule, double step);

/// Returns the function that computes a rule's factors for a step.
template <class... F>
FactorsFn factors_of(int rule, List<F...>) {
  static constexpr FactorsFn functions[] = {
      [](const void* f, double step) { return static_cast<const F*>(f)->factors(step); }...};
  return functions[rule];
}

/// A fused step, with its loops.
class FusedStep {
 public:
  FusedStep(const FusedStepParams& params, Ctx& ctx)
      : params_(params),
        compute_type_(params.dtype == kDouble ? kDouble : kFloat),
        step_(HEARTH_ISA_TABLE(optim_table).steps[params.rule][compute_type_ == kDouble]),
        factors_(factors_of(params.rule, fn::OptimRules{})),
        ranges_(params.tensors, ctx) {}

  int64_t numel() const { return ranges_.count(); }

  /// Updates elements [begin, end) of all tensors, counted one tensor after the other.
  void run(int64_t begin, int64_t end) const {
    StepArgs args{
        params_.parameters, {}, params_.grad_scale ? *params_.grad_scale : 1.0, params_.maximize};
    double last_step = std::numeric_limits<double>::quiet_NaN();  // equals no number
    ranges_.visit(begin, end, [&](size_t i, int64_t first, int64_t last) {
      const StepTensor& tensor = params_.tensors[i];
      const double step =
          tensor.step_at ? number_at(tensor.step_at, params_.step_dtype) : tensor.step;
      if (step != last_step) args.factors = factors_(params_.parameters, last_step = step);
      update(tensor, args, first, last);
    });
  }

 private:
  void update(const StepTensor& tensor, const StepArgs& args, int64_t begin, int64_t end) const {
    if (tensor.layout >= 0 || params_.dtype != compute_type_)
      return update_tiles(tensor, args, begin, end);
    const int64_t size = int64_t(element_size(compute_type_));
    void* data[kStepOperands];
    for (int k = 0; k < params_.operands; ++k)
      data[k] = static_cast<char*>(tensor.data[k]) + begin * size;
    step_(args, data, end - begin);
  }

  StridedLoop<kStepOperands> loop_over(const StepTensor& tensor) const {
    StridedLoop<kStepOperands> loop;
    constexpr int64_t kOne = 1;
    const StepLayout* const layout =
        tensor.layout < 0 ? nullptr : &params_.layouts[size_t(tensor.layout)];
    loop.dim = layout ? layout->dim : 1;
    std::copy_n(layout ? layout->sizes : &tensor.numel, loop.dim, loop.sizes);
    for (int k = 0; k < params_.operands; ++k) loop.add(layout ? layout->strides[k] : &kOne);
    loop.merge();
    return loop;
  }

  /// Updates elements that are of a half type or not contiguous, in tiles of dense copies.
  void update_tiles(const StepTensor& tensor, const StepArgs& args, int64_t begin,
                    int64_t end) const {
    const StridedLoop<kStepOperands> loop = loop_over(tensor);
    const StridedConvert load(params_.dtype, compute_type_), store(compute_type_, params_.dtype);
    const int64_t size = int64_t(element_size(params_.dtype));
    alignas(64) char buffers[kStepOperands][kTile * sizeof(double)];
    void* data[kStepOperands];
    for (int k = 0; k < params_.operands; ++k) data[k] = buffers[k];
    const auto tile = [&](const int64_t* offsets, int64_t first, int64_t n) {
      const auto address = [&](int k) {
        return static_cast<char*>(tensor.data[k]) +
               (offsets[k] + first * loop.inner_stride(k)) * size;
      };
      for (int k = 0; k < params_.operands; ++k)
        load(address(k), loop.inner_stride(k), data[k], 1, n);
      step_(args, data, n);
      for (int k = 0; k < params_.operands; ++k)
        if (k != kGradient || params_.grad_scale)
          store(data[k], 1, address(k), loop.inner_stride(k), n);
    };
    loop.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
      for (int64_t done = 0; done < count; done += kTile)
        tile(offsets, done, std::min(kTile, count - done));
    });
  }

  const FusedStepParams& params_;
  const ScalarType compute_type_;
  const StepFn step_;
  const FactorsFn factors_;
  const TensorRanges ranges_;
};

}  // namespace

void run(const FusedStepParams& params, Ctx& ctx) {
  if (params.tensors.empty() || (params.found_inf && *params.found_inf == 1)) return;
  const FusedStep step(params, ctx);
  parallel_for(0, step.numel(), kOptimGrain,
               [&step](int64_t begin, int64_t end) { step.run(begin, end); });
}

}  // namespace hearth::cpu
