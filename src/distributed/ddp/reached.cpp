#include "distributed/ddp/reached.h"

#include <unordered_set>

#include "hearth/autograd_hooks.h"

namespace hearth::distributed {

std::vector<bool> reached_nodes(const std::vector<Tensor>& from,
                                const std::vector<autograd::NodePtr>& nodes) {
  std::unordered_set<const autograd::Node*> seen;
  std::vector<autograd::NodePtr> stack;
  const auto visit = [&](const autograd::NodePtr& node) {
    if (node && seen.insert(node.get()).second) stack.push_back(node);
  };
  for (const Tensor& tensor : from)
    if (tensor.requires_grad()) visit(autograd::gradient_edge(tensor).function);
  while (!stack.empty()) {
    const autograd::NodePtr node = std::move(stack.back());
    stack.pop_back();
    for (const autograd::Edge& edge : node->next_edges()) visit(edge.function);
  }
  std::vector<bool> result;
  for (const autograd::NodePtr& node : nodes) result.push_back(seen.contains(node.get()));
  return result;
}

}  // namespace hearth::distributed
