// The memory of nodes and their owners.
#include <thread>

#include "autograd/node.h"
#include "core/cpu_allocator.h"

namespace hearth::autograd {

void* Node::operator new(size_t bytes) { return object_allocate(bytes); }
void Node::operator delete(void* memory, size_t bytes) noexcept { object_free(memory, bytes); }

namespace {

/// Deletes a node to which no NodePtr refers, or leaves that to the std::shared_ptrs that own it.
void release(Node* node) noexcept {
  std::shared_ptr<Node> owner;
  if (NodeState* state = NodeAccess::state_if_any(*node)) {
    const std::lock_guard lock(state->mutex);
    if (state->owner) node->retain();  // as before the first NodePtr
    owner = std::move(state->owner);
  }
  if (!owner) delete node;
}

/// The deleter of a std::shared_ptr to a node that NodePtrs own.
struct DropReference {
  void operator()(Node* node) const noexcept {
    if (node->drop()) Node::destroy(node);
  }
};

}  // namespace

void Node::destroy(Node* node) noexcept {
  // A long chain would be destroyed recursively; the outermost call destroys its nodes one by one.
  using Queue = SmallVector<Node*, 16>;
  thread_local Queue* waiting = nullptr;
  if (waiting) {
    waiting->push_back(node);
    return;
  }
  Queue queue;
  waiting = &queue;
  release(node);
  while (!queue.empty()) {
    Node* next = queue.back();
    queue.pop_back();
    release(next);
  }
  waiting = nullptr;
}

void Node::hold(const std::shared_ptr<Node>& owner) {
  if (std::get_deleter<DropReference>(owner)) return owner->retain();
  NodeState& state = NodeAccess::state(*owner);
  for (;; std::this_thread::yield()) {
    const std::lock_guard lock(state.mutex);
    if (!state.owner) {
      state.owner = owner;  // the first NodePtr takes over the node's initial reference
      return;
    }
    if (owner->retain_if_alive()) return;
    // Another thread has dropped the last reference and will reset state.owner.
  }
}

std::shared_ptr<Node> Node::shared(Node* node) {
  if (NodeState* state = NodeAccess::state_if_any(*node)) {
    const std::lock_guard lock(state->mutex);
    if (state->owner) return state->owner;
  }
  node->retain();
  return {node, DropReference()};
}

std::shared_ptr<Node> Node::shared_from_this() { return shared(this); }

}  // namespace hearth::autograd
