#include "seam/ctc_loss.h"

#include <algorithm>
#include <limits>

#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "ops/define.h"
#include "ops/losses.h"

namespace hearth {

namespace {

using Lengths = std::vector<int64_t>;

/// Returns inputs 0 to 4 of CtcKernel and CtcKernelBackward: log_probs, targets, the lengths of
/// both, and the offset of each sequence's targets.
CtcSequences sequences_of(const LaunchContext& context, int64_t blank) {
  CtcSequences sequences;
  sequences.log_probs = context.in(0);
  sequences.targets = context.in(1);
  sequences.input_lengths = context.in(2);
  sequences.target_lengths = context.in(3);
  sequences.starts = context.in(4);
  sequences.stride = sequences.targets.strides[sequences.targets.dim - 1];
  sequences.blank = blank;
  return sequences;
}

/// Inputs: as in CtcKernel, then the gradient of the loss, the loss and log_alpha.
struct CtcKernelBackward {
  struct Args {
    int64_t blank;
    bool zero_infinity;
    HEARTH_FIELDS(blank, zero_infinity)
  };
  static constexpr OpInfo info{
      .name = "_ctc_loss_backward",
      .arguments =
          "log_probs,targets,input_lengths,target_lengths,starts,grad,neg_log_likelihood,log_alpha",
      .dtypes = dtypes::kFloatAndDouble};
  static void launch(const Args& args, LaunchContext& context) {
    CtcLossBackwardParams params;
    params.sequences = sequences_of(context, args.blank);
    params.grad_loss = context.in(5);
    params.loss = context.in(6);
    params.log_alpha = context.in(7);
    params.grad_log_probs = context.out();
    params.zero_infinity = args.zero_infinity;
    run_kernel(context.ctx, params);
  }
};

/// Inputs: see sequences_of; outputs: the loss of each sequence and log_alpha (seam/ctc_loss.h).
struct CtcKernel {
  struct Args {
    int64_t blank;
    bool zero_infinity;
    int64_t longest;  // target length
    HEARTH_FIELDS(blank, zero_infinity, longest)
  };
  static constexpr OpInfo info{.name = "_ctc_loss",
                               .node = "CtcLoss",
                               .arguments = "log_probs,targets,input_lengths,target_lengths,starts",
                               .dtypes = dtypes::kFloatAndDouble,
                               .saves = in_slot(0) | in_slot(1) | in_slot(2) | in_slot(3) |
                                        in_slot(4) | out_slot(0) | out_slot(1),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& log_probs = context.in(0);
    const int64_t batch = log_probs.sizes()[1];
    context.set(0, Dims{batch}, log_probs.dtype);
    context.set(1, Dims{batch, log_probs.sizes()[0], 2 * args.longest + 1}, log_probs.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    CtcLossParams params;
    params.sequences = sequences_of(context, args.blank);
    params.loss = context.out(0);
    params.log_alpha = context.out(1);
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(
        0, invoke<CtcKernelBackward>({args.blank, args.zero_infinity}, context.in(0), context.in(1),
                                     context.in(2), context.in(3), context.in(4), context.grad(),
                                     context.out(0), context.out(1))
               .call());
  }
};

constexpr const char* kWhileChecking = " (while checking arguments for ctc_loss_allocate_outputs)";

/// Throws unless each sequence of the batch has a length of 0 to `max_length`.
void check_lengths(const char* name, const Lengths& lengths, int64_t batch, int64_t max_length) {
  HEARTH_CHECK(int64_t(lengths.size()) == batch, name, " must be of size batch_size");
  for (const int64_t length : lengths) {
    HEARTH_CHECK(length >= 0, "Expected ", name, " to have value at least 0, but got value ",
                 length, kWhileChecking);
    HEARTH_CHECK(length <= max_length, "Expected ", name, " to have value at most ", max_length,
                 ", but got value ", length, kWhileChecking);
  }
}

void check_target_size(const Tensor& targets, int64_t dim, int64_t size, bool at_least) {
  const int64_t actual = targets.size(dim);
  HEARTH_CHECK(at_least ? actual >= size : actual == size, "Expected tensor to have size ",
               at_least ? "at least " : "", size, " at dimension ", dim, ", but got size ", actual,
               " for argument #2 'targets'", kWhileChecking);
}

void check(const Tensor& log_probs, const Tensor& targets, const Lengths& input_lengths,
           const Lengths& target_lengths, int64_t blank) {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  HEARTH_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  HEARTH_CHECK(log_probs.dim() == 3, "Expected 3-dimensional tensor, but got ", log_probs.dim(),
               "-dimensional tensor for argument #1 'log_probs'", kWhileChecking);
  HEARTH_CHECK_AS(NotImplementedError,
                  log_probs.scalar_type() == kFloat || log_probs.scalar_type() == kDouble,
                  "\"ctc_loss_cpu\" not implemented for '", name_of(log_probs.scalar_type()), "'");
  HEARTH_CHECK(targets.scalar_type() == kLong || targets.scalar_type() == kInt,
               "Expected tensor for argument #2 'targets' to have one of the following scalar "
               "types: Long, Int; but got ",
               name_of(targets.scalar_type()), kWhileChecking);
  HEARTH_CHECK(blank >= 0 && blank < log_probs.size(2), "blank must be in label range");
  HEARTH_CHECK(targets.dim() == 1 || targets.dim() == 2, "Expected 1 to 2 dimensions, but got ",
               targets.dim(), "-dimensional tensor for argument #2 'targets'", kWhileChecking);
  check_lengths("input_lengths", input_lengths, log_probs.size(1), log_probs.size(0));
  check_lengths("target_lengths", target_lengths, log_probs.size(1), kNoLimit);
}

/// The offset of each sequence's targets, in elements; checks the sizes of targets.
Lengths starts_of(const Tensor& targets, const Lengths& lengths) {
  Lengths starts;
  int64_t total = 0, longest = 0;
  for (const int64_t length : lengths) {
    starts.push_back(targets.dim() == 1 ? total * targets.stride(0)
                                        : int64_t(starts.size()) * targets.stride(0));
    total += length;
    longest = std::max(longest, length);
  }
  check_target_size(targets, 0, targets.dim() == 1 ? total : int64_t(lengths.size()), false);
  if (targets.dim() == 2) check_target_size(targets, 1, longest, true);
  return starts;
}

Tensor on_device(const Lengths& numbers, Device device) {
  return tensor(numbers, TensorOptions(kLong).device(device));
}

TensorPair losses_of(const Tensor& log_probs, const Tensor& targets, const Lengths& input_lengths,
                     const Lengths& target_lengths, int64_t blank, bool zero_infinity) {
  check(log_probs, targets, input_lengths, target_lengths, blank);
  const Lengths starts = starts_of(targets, target_lengths);
  const int64_t longest = *std::max_element(target_lengths.begin(), target_lengths.end());
  const Device device = log_probs.device();
  return invoke<CtcKernel>({blank, zero_infinity, longest}, log_probs, targets,
                           on_device(input_lengths, device), on_device(target_lengths, device),
                           on_device(starts, device))
      .pair();
}

struct CtcLoss {
  struct Args {
    Lengths input_lengths, target_lengths;
    int64_t blank, reduction;
    bool zero_infinity;
    HEARTH_FIELDS(input_lengths, target_lengths, blank, reduction, zero_infinity)
  };
  static constexpr OpInfo info{
      .name = "ctc_loss", .arguments = "log_probs,targets", .amp_cpu = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& log_probs, const Tensor& targets) {
    const bool is_batched = log_probs.dim() == 3;
    Tensor losses = std::get<0>(
        losses_of(is_batched || log_probs.dim() == 0 ? log_probs : log_probs.unsqueeze(1), targets,
                  args.input_lengths, args.target_lengths, args.blank, args.zero_infinity));
    if (args.zero_infinity)
      losses = only_where(losses.ne(std::numeric_limits<double>::infinity()), losses);
    if (args.reduction == Reduction::Mean) {
      const Tensor counts = on_device(args.target_lengths, losses.device()).clamp_min(1);
      return losses.div(counts.to(losses.scalar_type())).mean();
    }
    if (args.reduction == Reduction::Sum) return losses.sum();
    return is_batched ? losses : losses.squeeze(0);
  }
};

/// The elements of a tensor of lengths.
Lengths lengths_in(const char* name, const Tensor& lengths) {
  HEARTH_CHECK(is_integral(lengths.scalar_type(), false), name, " must be integral");
  const Tensor numbers = lengths.to(kCPU, kLong).contiguous();
  const int64_t* const first = numbers.data_ptr<int64_t>();
  return {first, first + numbers.numel()};
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                IntArrayRef target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  return compose<CtcLoss>(
      {input_lengths.vec(), target_lengths.vec(), blank, reduction, zero_infinity}, log_probs,
      targets);
}
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction,
                bool zero_infinity) {
  check_defined("ctc_loss", 2, "input_lengths", input_lengths);
  check_defined("ctc_loss", 3, "target_lengths", target_lengths);
  return ctc_loss(log_probs, targets, lengths_in("input_lengths", input_lengths),
                  lengths_in("target_lengths", target_lengths), blank, reduction, zero_infinity);
}
TensorPair _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                     IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
  check_defined("_ctc_loss", 0, "log_probs", log_probs);
  check_defined("_ctc_loss", 1, "targets", targets);
  return losses_of(log_probs, targets, input_lengths.vec(), target_lengths.vec(), blank,
                   zero_infinity);
}
TensorPair _ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                     const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  check_defined("_ctc_loss", 2, "input_lengths", input_lengths);
  check_defined("_ctc_loss", 3, "target_lengths", target_lengths);
  return _ctc_loss(log_probs, targets, lengths_in("input_lengths", input_lengths),
                   lengths_in("target_lengths", target_lengths), blank, zero_infinity);
}

}  // namespace hearth
