#include "distributed/sharding/sharded_module.h"
#include "hearth/autograd_hooks.h"

namespace hearth::distributed {

namespace {

template <class F>
void for_each_member(const ShardedTree& tree, const F& f) {
  for (const auto& weak : tree.members)
    if (const auto member = weak.lock()) f(*member);
}

}  // namespace

void ShardedTree::begin_forward() {
  if (std::exchange(backward_pass, -1) != -1)  // an error ended the last backward pass
    for_each_member(*this, [](ShardedModule& member) { member.abandon_backward(); });
  end_forward();  // in case an error has ended the last forward()
  former_order = std::exchange(order, {});
  last_recorded.reset();
}

void ShardedTree::end_forward() {
  // Parameters that were gathered in advance, but that no forward() has used.
  for_each_member(*this, [](ShardedModule& member) { member.params().cancel_unshard(); });
}

std::shared_ptr<ShardedModule> ShardedTree::expected_next() const {
  const size_t next = order.size();
  if (next == 0 || next >= former_order.size()) return nullptr;
  const bool same_order = former_order[next - 1].lock() == order[next - 1].lock();
  return same_order ? former_order[next].lock() : nullptr;
}

void ShardedTree::reduce(const std::shared_ptr<ShardedParams>& params) {
  if (const auto former = reducing.lock()) former->finish_reduction();
  params->start_reduction();
  reducing = params;
}

void ShardedTree::finish_at_end_of_backward(const std::shared_ptr<ShardedTree>& self) {
  const int64_t pass = autograd::current_graph_task_id();
  if (backward_pass == pass) return;
  backward_pass = pass;
  autograd::queue_callback([self] { self->finish_backward(); });
}

void ShardedTree::finish_backward() {
  backward_pass = -1;
  for_each_member(*this, [](ShardedModule& member) { member.end_calls(); });
  for_each_member(*this, [](ShardedModule& member) { member.finish_backward(); });
}

}  // namespace hearth::distributed
