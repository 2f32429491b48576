// Attention of half types by cuDNN's fused kernels: a graph (attention_graph.cpp) is compiled once
// per device, direction and shape, kept, and run by cudnnBackendExecute (cudnn_graph.cpp). Before
// the backward pass, unwanted gradients get scratch memory and the float sum of the query's
// gradient is cleared; after a masked forward pass, rows without visible keys are cleared.
#include "kernels/cuda/attention_cudnn.h"

#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/modes.h"
#include "kernels/cuda/attention_choice.h"
#include "kernels/cuda/attention_graph.h"
#include "kernels/cuda/cudnn_parts.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr size_t kMaxPlans = 1024;  // of one device; before another one, all are forgotten

/// The compiled graphs of one device, by direction and shape; null for those that cuDNN refuses.
class Plans {
 public:
  static Plans& of(int device) {
    static auto* plans = new Plans[kMaxGpus];  // never destroyed: the driver may be unloaded before
    return plans[device];
  }
  /// Calls use(plan), under a lock: cuDNN does not say whether two threads may run one plan.
  /// Returns false if cuDNN refuses.
  template <class Build, class Use>
  bool with(bool is_backward, const AttentionGraphShape& shape, cudnnHandle_t handle,
            const Build& build, const Use& use) {
    const std::lock_guard lock(mutex_);
    if (plans_.size() >= kMaxPlans && !plans_.contains({is_backward, shape})) forget();
    const auto [entry, is_new] = plans_.try_emplace({is_backward, shape});
    try {
      if (is_new) entry->second = build(shape).compile({handle});
      if (entry->second == nullptr) return false;
      use(*entry->second);
      return true;
    } catch (const GraphRefusal&) {
      entry->second = nullptr;
      return false;
    } catch (...) {
      if (is_new && entry->second == nullptr) plans_.erase(entry);
      throw;
    }
  }

 private:
  void forget() {
    HEARTH_CUDA(cudaDeviceSynchronize());  // the kernels of a plan must not be running
    plans_.clear();
  }

  std::mutex mutex_;
  std::map<std::pair<bool, AttentionGraphShape>, std::unique_ptr<GraphPlan>> plans_;
};

AttentionLayout layout_of(const View& tensor, bool is_mask = false) {
  const View view = graph_layout(tensor, is_mask);
  AttentionLayout layout;
  std::copy_n(view.sizes, 4, layout.sizes.begin());
  std::copy_n(view.strides, 4, layout.strides.begin());
  return layout;
}

AttentionGraphShape shape_of(const AttentionOperands& operands) {
  AttentionGraphShape shape;
  shape.dtype = shape.mask_dtype = data_type(operands.query.dtype);
  shape.causal = operands.causal;
  shape.has_mask = operands.mask.defined();
  shape.query = layout_of(operands.query);
  shape.key = layout_of(operands.key);
  shape.value = layout_of(operands.value);
  shape.out = layout_of(operands.out);
  if (shape.has_mask) shape.mask = layout_of(operands.mask, true);
  return shape;
}

/// The host's numbers in the graphs.
struct HostNumbers {
  float scale, lowest = std::numeric_limits<float>::lowest(), one = 1;
};

GraphAddresses addresses_of(const AttentionOperands& operands, const HostNumbers& numbers) {
  GraphAddresses addresses;
  addresses.add(kQueryTensor, operands.query.data);
  addresses.add(kKeyTensor, operands.key.data);
  addresses.add(kValueTensor, operands.value.data);
  addresses.add(kOutTensor, operands.out.data);
  addresses.add(kLogSumExpTensor, operands.logsumexp.data);
  addresses.add(kScaleNumber, &numbers.scale);
  if (operands.mask.defined()) addresses.add(kMaskTensor, operands.mask.data);
  if (operands.causal) addresses.add(kLowestNumber, &numbers.lowest);
  return addresses;
}

bool is_wanted(const Ctx& ctx) {
  if (!cudnn_parts().attention || !ctx.is_set(kUseCuDNN)) return false;
  const Cudnn* const library = Cudnn::find();
  return library != nullptr && library->has_graphs;
}

/// The gradients, in scratch memory where they are not wanted, and memory for float sums.
struct BackwardMemory {
  View grad_query, grad_key, grad_value;
  void *row_products, *grad_query_sum;

  BackwardMemory(const AttentionBackwardParams& p, Ctx& ctx)
      : grad_query(or_scratch(p.grad_query, p.operands.query, ctx)),
        grad_key(or_scratch(p.grad_key, p.operands.key, ctx)),
        grad_value(or_scratch(p.grad_value, p.operands.value, ctx)),
        row_products(ctx.scratch(size_t(p.operands.logsumexp.numel) * sizeof(float))),
        grad_query_sum(ctx.scratch(size_t(p.operands.query.numel) * sizeof(float))) {
    // cuDNN before 9.6 adds to this sum without clearing it first.
    HEARTH_CUDA(cudaMemsetAsync(grad_query_sum, 0, size_t(p.operands.query.numel) * sizeof(float),
                                stream_of(ctx).stream));
  }
  static View or_scratch(const View& gradient, const View& operand, Ctx& ctx) {
    if (gradient.defined()) return gradient;
    View view = operand;
    view.make_contiguous();
    view.data = ctx.scratch(size_t(view.numel) * element_size(view.dtype));
    return view;
  }
};

bool run_backward(const AttentionBackwardParams& params, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const BackwardMemory memory(params, ctx);
  AttentionGraphShape shape = shape_of(params.operands);
  shape.grad_out = layout_of(params.grad_out);
  shape.grad_query = layout_of(memory.grad_query);
  shape.grad_key = layout_of(memory.grad_key);
  shape.grad_value = layout_of(memory.grad_value);
  const HostNumbers numbers{static_cast<float>(params.operands.scale)};
  GraphAddresses addresses = addresses_of(params.operands, numbers);
  addresses.add(kOneNumber, &numbers.one);
  addresses.add(kGradOutTensor, params.grad_out.data);
  addresses.add(kGradQueryTensor, memory.grad_query.data);
  addresses.add(kGradKeyTensor, memory.grad_key.data);
  addresses.add(kGradValueTensor, memory.grad_value.data);
  addresses.add(kRowProductsTensor, memory.row_products);
  addresses.add(kGradQuerySumTensor, memory.grad_query_sum);
  const cudnnHandle_t handle = cudnn_handle(stream);
  return Plans::of(stream.device)
      .with(true, shape, handle, attention_backward_graph, [&](const GraphPlan& plan) {
        execute(plan, handle, addresses, ctx.scratch(size_t(plan.workspace_bytes)));
        ++cudnn_calls().attention_backward;
      });
}

}  // namespace

bool run_cudnn(const AttentionParams& params, Ctx& ctx) {
  const AttentionOperands& operands = params.operands;
  if (!is_wanted(ctx) || !suits_cudnn(operands)) return false;
  const NativeStream& stream = stream_of(ctx);
  const HostNumbers numbers{static_cast<float>(operands.scale)};
  const GraphAddresses addresses = addresses_of(operands, numbers);
  const cudnnHandle_t handle = cudnn_handle(stream);
  const auto use = [&](const GraphPlan& plan) {
    execute(plan, handle, addresses, ctx.scratch(size_t(plan.workspace_bytes)));
    ++cudnn_calls().attention;
  };
  try {
    const AttentionGraphShape shape = shape_of(operands);
    if (!Plans::of(stream.device).with(false, shape, handle, attention_graph, use)) return false;
  } catch (const OutOfMemoryError&) {
    return false;
  }
  if (operands.mask.defined()) clear_masked_rows(operands, ctx);
  return true;
}

bool run_cudnn(const AttentionBackwardParams& params, Ctx& ctx) {
  if (!is_wanted(ctx) || !suits_cudnn(params, int64_t(Cudnn::get().cudnnGetVersion()),
                                      ctx.is_set(kDeterministicCuDNN)))
    return false;
  try {
    return run_backward(params, ctx);
  } catch (const OutOfMemoryError&) {
    return false;
  }
}

}  // namespace hearth::cuda
