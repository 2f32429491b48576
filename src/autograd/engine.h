#pragma once

#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "autograd/node.h"

namespace hearth::autograd {

/// One backward pass: what depends on what, the gradients gathered so far, and where results go. It
/// runs on the thread that asked for it; device work is asynchronous anyway (docs/adr/0002).
class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph)
      : keep_graph_(keep_graph), create_graph_(create_graph) {}

  void add_root(const Edge& edge, Tensor gradient);
  /// Only gradients of these edges are wanted. With `accumulate`, they are added to the leaves;
  /// else captured.
  void restrict_to(const SmallVector<Edge, 2>& inputs, bool accumulate);
  /// Runs everything; returns the captured gradients, in restrict_to's order.
  variable_list run();
  void queue_callback(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }
  static GraphTask* current();
  /// Whether anything behind this node is asked for.
  bool wants(const Node& node) const;

 private:
  struct Pending {
    NodePtr node;
    int dependencies = 0;
    bool needed = true;
    variable_list gradients;
    std::vector<std::pair<uint32_t, size_t>> captures;  // input number, index of the result
  };
  struct LaterFirst {
    bool operator()(const Pending* a, const Pending* b) const {
      return a->node->sequence_nr() < b->node->sequence_nr();
    }
  };

  Pending& pending(const NodePtr& node);
  void discover();
  void mark_needed(const std::vector<Pending*>& children_first);
  void run_ready();
  void run_node(Pending& task);
  void capture(Pending& task);
  void distribute(Pending& from, variable_list&& gradients);
  void deliver(Pending& to, uint32_t input_nr, Tensor gradient);

  bool keep_graph_, create_graph_;
  bool restricted_ = false;
  std::unordered_map<Node*, Pending> tasks_;
  std::vector<Pending*> roots_;
  std::priority_queue<Pending*, std::vector<Pending*>, LaterFirst> ready_;
  variable_list captured_;
  std::vector<std::function<void()>> callbacks_;
};

/// Whether broadcasting from sizes `to` gives sizes `from`.
bool sums_to(IntArrayRef from, IntArrayRef to);
/// Whether the running pass, or anyone if there is none, asks `node` for the gradient of input i.
bool wants_gradient(const Node& node, size_t i);

}  // namespace hearth::autograd
