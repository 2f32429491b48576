#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hearth/intrusive.h"
#include "hearth/small_vector.h"
#include "hearth/tensor.h"

namespace hearth {

/// Whether ops record history on this thread.
struct HEARTH_API GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

/// Switches recording on or off while it lives.
class HEARTH_API AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

/// No history, no version counters: for inference only. Tensors made under it never enter a graph.
class HEARTH_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled();

 private:
  bool previous_, previous_grad_;
};

namespace autograd {

using Variable = Tensor;
using variable_list = std::vector<Tensor>;

/// Where a gradient goes next: input `input_nr` of `function`.
struct Edge {
  NodePtr function;
  uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(function); }
  friend bool operator==(const Edge& a, const Edge& b) {
    return a.function == b.function && a.input_nr == b.input_nr;
  }
};
using edge_list = SmallVector<Edge, 2>;
/// Prints the node's address, 0 for none.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const NodePtr& node);

/// What a gradient must look like: one per output of the forward op.
struct InputMetadata {
  hearth::detail::Dims sizes;
  ScalarType dtype = ScalarType::Undefined;
  Device device{DeviceType::CPU};
  void* stream = nullptr;  // the stream of the device that the forward ran on; backward runs there
};

struct NodeAccess;
struct NodeState;  // hooks and anomaly information, made when first used

/// One recorded operation. apply() turns gradients of its outputs into gradients of its inputs.
class HEARTH_API Node : public RefCounted {
 public:
  Node();
  virtual ~Node();
  static void destroy(Node* node) noexcept;
  // Nodes come from a pool of small blocks.
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

  /// Hooks, apply, hooks.
  variable_list operator()(variable_list&& grads);
  virtual std::string name() const = 0;
  /// Drops what backward would need; using the node again is an error.
  virtual void release_variables() {}

  const edge_list& next_edges() const { return next_edges_; }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  size_t num_outputs() const { return next_edges_.size(); }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  bool should_compute_output(size_t i) const {
    return i < next_edges_.size() && next_edges_[i].is_valid();
  }

  size_t num_inputs() const { return inputs_.size(); }
  const InputMetadata& input_metadata(size_t i) const { return inputs_[i]; }
  /// Registers one more forward output of these looks and returns its number.
  uint32_t add_input_metadata(const Tensor& output);
  uint64_t sequence_nr() const { return sequence_nr_; }

  using PreHook = std::function<variable_list(const variable_list& grads)>;
  using PostHook =
      std::function<variable_list(const variable_list& outputs, const variable_list& inputs)>;
  void add_pre_hook(PreHook hook);
  void add_post_hook(PostHook hook);

 protected:
  virtual variable_list apply(variable_list&& grads) = 0;

 private:
  friend struct NodeAccess;
  edge_list next_edges_;
  SmallVector<InputMetadata, 1> inputs_;
  uint64_t sequence_nr_;
  std::atomic<NodeState*> state_{nullptr};

 protected:
  std::mutex mutex_;
};

/// Gradients of `outputs` with respect to `inputs`, returned instead of accumulated.
HEARTH_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                              const variable_list& grad_outputs = {},
                              std::optional<bool> retain_graph = {}, bool create_graph = false,
                              bool allow_unused = false);
/// Accumulates gradients of `tensors` into the graph's leaves.
HEARTH_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                         std::optional<bool> retain_graph = {}, bool create_graph = false,
                         const variable_list& inputs = {});
/// From inside a backward function: runs `callback` when the whole backward pass has ended.
HEARTH_API void queue_callback(std::function<void()> callback);

/// Remembers where each op was called and checks gradients for NaN, so that a failing backward
/// names its forward.
class HEARTH_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool previous_, previous_nan_;
};
struct HEARTH_API AnomalyMode {
  static bool is_enabled();
  static bool should_check_nan();
  static void set_enabled(bool enabled, bool check_nan = true);
};

}  // namespace autograd
}  // namespace hearth
