#pragma once

#include <atomic>
#include <functional>
#include <memory_resource>
#include <queue>
#include <unordered_map>
#include <vector>

#include "autograd/node.h"

namespace hearth::autograd {

/// One backward pass: the dependencies of the nodes, the gradients summed so far and the
/// destination of the results. It runs on the caller's thread (a deeply nested pass on a new one);
/// device work is asynchronous anyway (docs/adr/0002).
class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph)
      : id_(next_id_.fetch_add(1, std::memory_order_relaxed)),
        keep_graph_(keep_graph),
        create_graph_(create_graph) {}

  /// Starts the pass with a gradient for this edge.
  void add_root(const Edge& edge, Tensor gradient);
  /// Restricts the pass to the gradients of these edges. With `accumulate`, they are added to the
  /// leaves, else captured.
  void restrict_to(const SmallVector<Edge, 2>& inputs, bool accumulate);
  /// Runs the pass; returns the captured gradients, in restrict_to's order.
  variable_list run();
  void queue_callback(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }
  /// The pass that runs on this thread, the innermost if they are nested; null if there is none.
  static GraphTask* current();
  /// A number that no other pass of the process has.
  int64_t id() const { return id_; }
  bool keeps_graph() const { return keep_graph_; }
  bool is_restricted() const { return restricted_; }
  /// Whether the pass needs the gradient that flows into this node.
  bool wants(const Node& node) const;

 private:
  /// In place of an index in the result: the gradient is added to the leaf's gradient.
  static constexpr size_t kAccumulated = SIZE_MAX;

  /// A node of the pass.
  struct Pending {
    NodePtr node;
    int dependencies = 0;     // edges from nodes that have not run
    bool discovered = false;  // whether discover() has reached the node
    bool needed = true;       // whether the node has to run
    /// The destinations of the node's edges in children_.
    size_t first_child = 0, num_children = 0;
    variable_list gradients;  // the sums of the gradients that have reached the node
    /// The inputs whose gradients are results of the pass: input number, and index in the result or
    /// kAccumulated.
    std::vector<std::pair<uint32_t, size_t>> captures;
  };
  /// Nodes with higher numbers run first: those recorded later, and AccumulateGrad.
  struct LaterFirst {
    bool operator()(const Pending* a, const Pending* b) const {
      return a->node->sequence_nr() < b->node->sequence_nr();
    }
  };

  /// The entry of a node, created if needed.
  Pending& pending(const NodePtr& node);
  /// Finds all nodes of the pass and counts their dependencies.
  void discover();
  /// In a restricted pass, sets `needed`. In children_first, a node follows all nodes it leads to.
  void mark_needed(const std::vector<Pending*>& children_first);
  /// Runs the nodes in the order of their dependencies.
  void run_ready();
  void run_node(Pending& entry);
  /// Stores the gradients of the node that are results of the pass.
  void capture(Pending& entry);
  /// Passes a node's results along its edges.
  void distribute(Pending& from, variable_list&& gradients);
  /// Adds a gradient to the sum for input `input_nr` of a node.
  void deliver(Pending& to, uint32_t input_nr, Tensor gradient);

  static inline std::atomic<int64_t> next_id_{0};
  const int64_t id_;
  bool keep_graph_, create_graph_;
  bool restricted_ = false;
  /// The memory of entries_, freed as a whole.
  std::pmr::monotonic_buffer_resource memory_{std::pmr::new_delete_resource()};
  std::pmr::unordered_map<Node*, Pending> entries_{&memory_};
  std::vector<Pending*> children_;  // the edges' destinations, null for edges without one
  std::vector<Pending*> roots_;
  std::priority_queue<Pending*, std::vector<Pending*>, LaterFirst> ready_;
  variable_list captured_;
  std::vector<std::function<void()>> callbacks_;
};

/// Warns, once, that backward() with create_graph makes a cycle of references.
void warn_of_cycle();
/// Completes the text of an error about a gradient.
using Complete = std::function<std::string(const std::string&)>;
/// Converts gradient number `index` to the metadata of the forward value: sums over broadcast
/// dimensions and casts back from the promoted dtype; the gradient of a real number is real.
Tensor conform(Tensor grad, const InputMetadata& wanted, size_t index, const Complete& complete);

/// Whether sizes `to` can be broadcast to sizes `from`, so that gradients of `from` sum to `to`.
bool sums_to(IntArrayRef from, IntArrayRef to);
/// Whether `node` has to compute the gradient of input i: the input requires one, and the running
/// pass, if there is one, needs it.
bool wants_gradient(const Node& node, size_t i);
/// The node that runs on this thread, the innermost if they are nested; null if there is none.
Node* current_node();

}  // namespace hearth::autograd
