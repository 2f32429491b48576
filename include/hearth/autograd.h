#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
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

/// Whether ops on this thread are recorded for backward.
struct HEARTH_API GradMode {
  static bool is_enabled();               ///< whether ops are recorded
  static void set_enabled(bool enabled);  ///< enables or disables recording
};

/// Enables or disables recording during its lifetime.
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
/// Disables recording during its lifetime.
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

/// Disables recording and version counters during its lifetime, or enables both if `enabled` is
/// false. Tensors created in inference mode never enter a graph.
class HEARTH_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled();  ///< whether this thread is in inference mode

 private:
  bool previous_, previous_grad_;
};

namespace autograd {

using Variable = Tensor;                    ///< LibTorch's alias of Tensor
using variable_list = std::vector<Tensor>;  ///< tensors or gradients, which may be undefined

/// The destination of a gradient: input `input_nr` of node `function`.
struct Edge {
  Edge() = default;
  Edge(NodePtr to, uint32_t number) : function(std::move(to)), input_nr(number) {}
  NodePtr function;
  uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(function); }  ///< false if no gradient is needed
  friend bool operator==(const Edge& a, const Edge& b) {
    return a.function == b.function && a.input_nr == b.input_nr;
  }
};
using edge_list = SmallVector<Edge, 2>;  ///< the next_edges() of a node
/// Prints the node's address, or 0 for null.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const NodePtr& node);

/// Metadata that the gradient of one forward output must have.
class HEARTH_API InputMetadata {
 public:
  InputMetadata() = default;  ///< of an output that has no gradient
  explicit InputMetadata(const Tensor& output);
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef shape_as_dim_vector() const { return sizes_; }  ///< LibTorch's name of sizes()
  TypeMeta dtype() const { return dtype_; }
  ScalarType scalar_type() const { return dtype_; }
  Device device() const { return device_; }
  Layout layout() const { return Layout::Strided; }
  TensorOptions options() const { return TensorOptions(dtype_).device(device_); }
  bool was_default_constructed() const { return dtype_ == ScalarType::Undefined; }
  bool is_same_shape(const Tensor& gradient) const;           ///< whether the sizes agree
  bool is_expandable_to_shape(const Tensor& gradient) const;  ///< whether sizes() broadcast to them
  Tensor zeros_like() const;                                  ///< zeros with this metadata
  void* forward_stream() const { return stream_; }  ///< the device stream of the forward op

 private:
  hearth::detail::Dims sizes_;
  ScalarType dtype_ = ScalarType::Undefined;
  Device device_{DeviceType::CPU};
  void* stream_ = nullptr;
};

using IndexRange = std::pair<size_t, size_t>;  ///< indices [first, second)

struct FunctionPreHook;  // in autograd/node_hooks.h
struct FunctionPostHook;
struct NodeAccess;
struct NodeState;  // hooks and anomaly information, created at first use

/// A recorded op. apply() computes the gradients of the op's inputs from those of its outputs. A
/// program may define nodes of its own (autograd/history.h connects them), owned by NodePtr or by
/// std::shared_ptr.
class HEARTH_API Node : public RefCounted {
 public:
  Node();
  explicit Node(edge_list&& next_edges);
  explicit Node(uint64_t sequence_nr, edge_list&& next_edges = {});
  virtual ~Node();
  static void destroy(Node* node) noexcept;
  // Nodes are allocated from a pool of small blocks.
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;
  /// For IntrusivePtr: adds a reference to a node that `owner` owns.
  static void hold(const std::shared_ptr<Node>& owner);
  static std::shared_ptr<Node> shared(Node* node);   ///< for IntrusivePtr: a shared owner
  NodePtr getptr() { return NodePtr::share(this); }  ///< not in constructors and destructors
  std::shared_ptr<Node> shared_from_this();

  variable_list operator()(variable_list&& grads);  ///< runs the pre-hooks, apply(), the post-hooks
  virtual std::string name() const;                 ///< such as "MulBackward0"; the class's name
  std::string forward_op_name() const;              ///< "Mul" for "MulBackward0"
  /// Frees the saved tensors; running the node afterwards is an error.
  virtual void release_variables() {}
  virtual void will_release_variables() {}  ///< called before a node whose tensors will be freed
  virtual bool is_traceable() { return false; }
  virtual bool passes_state_transparently() { return false; }

  const edge_list& next_edges() const { return next_edges_; }  ///< one edge per forward input
  edge_list& next_edges() { return next_edges_; }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  size_t num_outputs() const { return next_edges_.size(); }  ///< the number of forward inputs
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  void set_next_edge(size_t i, Edge edge) { next_edges_[i] = std::move(edge); }
  void set_next_edges(edge_list&& next_edges) { next_edges_ = std::move(next_edges); }
  /// Whether forward input i needs a gradient.
  bool should_compute_output(size_t i) const {
    return i < next_edges_.size() && next_edges_[i].is_valid();
  }
  bool should_compute_output(
      std::initializer_list<IndexRange> ranges) const;  ///< one of the inputs
  /// Whether the running backward pass needs the gradient of forward input i.
  bool task_should_compute_output(size_t i) const;
  bool task_should_compute_output(std::initializer_list<IndexRange> ranges) const;

  size_t num_inputs() const { return inputs_.size(); }  ///< the number of forward outputs
  const InputMetadata& input_metadata(size_t i) const { return inputs_[i]; }
  InputMetadata& mutable_input_metadata(size_t i) { return inputs_[i]; }
  void clear_input_metadata() { inputs_.clear(); }
  /// Adds a forward output with the metadata of `output` and returns its index.
  uint32_t add_input_metadata(const Tensor& output);
  struct undefined_input {};
  uint32_t add_input_metadata(undefined_input);  ///< adds an output that has no gradient
  Device device() const;  ///< the device of the first output that is not on the CPU
  uint64_t sequence_nr() const { return sequence_nr_; }  ///< increases within a thread
  void set_sequence_nr(uint64_t number) { sequence_nr_ = number; }

  /// Receives the gradients for apply() and returns their replacements.
  using PreHook = std::function<variable_list(const variable_list& grads)>;
  /// Receives the results and the arguments of apply() and returns replacements of the results.
  using PostHook =
      std::function<variable_list(const variable_list& outputs, const variable_list& inputs)>;
  void add_pre_hook(PreHook hook);    ///< replaces the gradients before apply()
  void add_post_hook(PostHook hook);  ///< replaces the results of apply()
  // LibTorch's forms; del_post_hook removes the hook with the key that add_post_hook returned.
  void add_pre_hook(std::unique_ptr<FunctionPreHook>&& hook);
  void add_tensor_pre_hook(std::unique_ptr<FunctionPreHook>&& hook);  ///< before other pre-hooks
  uintptr_t add_post_hook(std::unique_ptr<FunctionPostHook>&& hook);
  bool del_post_hook(const uintptr_t& key);

 protected:
  virtual variable_list apply(variable_list&& grads) = 0;

 private:
  friend struct NodeAccess;
  edge_list next_edges_;
  SmallVector<InputMetadata, 1> inputs_;
  uint64_t sequence_nr_;
  std::atomic<NodeState*> state_{nullptr};

 protected:
  std::mutex mutex_;  // guards the saved tensors
};

/// Returns the gradients of `outputs` with respect to `inputs` without accumulating them.
HEARTH_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                              const variable_list& grad_outputs = {},
                              std::optional<bool> retain_graph = {}, bool create_graph = false,
                              bool allow_unused = false);
/// Accumulates the gradients of `tensors` in the leaves of the graph, or only in `inputs`.
HEARTH_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                         std::optional<bool> retain_graph = {}, bool create_graph = false,
                         const variable_list& inputs = {});
/// Called during backward: runs `callback` at the end of the backward pass.
HEARTH_API void queue_callback(std::function<void()> callback);

/// Restores the versions of tensors at the end of its lifetime, so that in-place changes during it
/// do not count.
class HEARTH_API PreserveVersionGuard {
 public:
  explicit PreserveVersionGuard(const std::vector<Tensor>& tensors);  ///< all must be defined
  explicit PreserveVersionGuard(std::vector<Tensor>&&) = delete;
  ~PreserveVersionGuard();
  PreserveVersionGuard(const PreserveVersionGuard&) = delete;
  PreserveVersionGuard& operator=(const PreserveVersionGuard&) = delete;

 private:
  const std::vector<Tensor>& tensors_;  // must outlive the guard
  std::vector<int64_t> versions_;
};

/// Anomaly mode during its lifetime: records where each op was called and checks gradients for NaN,
/// so that an error in backward names the forward call.
class HEARTH_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool previous_, previous_check_nan_;
};
/// The state that DetectAnomalyGuard sets.
struct HEARTH_API AnomalyMode {
  static bool is_enabled();        ///< whether anomaly mode is on
  static bool should_check_nan();  ///< whether gradients are checked for NaN
  static void set_enabled(bool enabled, bool check_nan = true);
};

}  // namespace autograd
}  // namespace hearth
