#pragma once

#include <memory>
#include <vector>

#include "c10/util/intrusive_ptr.h"
#include "hearth/autograd/engine.h"
#include "hearth/autograd/node_hooks.h"
#include "torch/csrc/autograd/edge.h"

namespace hearth::autograd {
using tensor_list = std::vector<Tensor>;
/// The deleter that older programs give to the std::shared_ptr of a node.
inline void deleteNode(Node* node) { Node::destroy(node); }
/// A node that LibTorch's tracer may look into; here an ordinary one.
struct TraceableFunction : Node {
  using Node::Node;
  bool is_traceable() final { return true; }
};
}  // namespace hearth::autograd
