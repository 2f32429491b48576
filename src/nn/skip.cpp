#include "hearth/nn/skip.h"

#include "hearth/autograd_hooks.h"
#include "hearth/nn/sequential.h"
#include "nn/skip_store.h"

namespace hearth::nn::skip {

namespace {

thread_local Store* pipeline_store = nullptr;
thread_local Store sequential_store;  // of the outermost Sequential
thread_local int running_sequentials = 0;

/// The store of a backward pass that calls a checkpointed function again, outside of any
/// Sequential.
struct BackwardStore {
  int64_t pass = -1;
  Store store;
};
thread_local BackwardStore backward_store;

/// The store in use: the pipeline's, the Sequential's or the backward pass's. `function` and `name`
/// are for the error if there is none.
Store& store_in_use(const char* function, const std::string& name) {
  if (pipeline_store) return *pipeline_store;
  if (running_sequentials > 0) return sequential_store;
  const int64_t pass = autograd::current_graph_task_id();
  HEARTH_CHECK(pass >= 0, "skip::", function, "(\"", name,
               "\") was called outside of the forward of a Sequential or a Pipeline");
  if (backward_store.pass != pass) backward_store = {pass, {}};
  return backward_store.store;
}

}  // namespace

StoreScope::StoreScope(Store& store) : outer_(pipeline_store) { pipeline_store = &store; }
StoreScope::~StoreScope() { pipeline_store = outer_; }

void check_all_popped(const Store& store) {
  if (store.entries.empty()) return;
  hearth::detail::fail<Error>("The tensor '", store.entries.begin()->first,
                              "' was stashed in stage ", store.entries.begin()->second.stage,
                              ", but no later module popped it");
}

void stash(const std::string& name, const Tensor& tensor) {
  HEARTH_CHECK(tensor.defined(), "skip::stash: the tensor '", name, "' is undefined");
  Store& store = store_in_use("stash", name);
  // A checkpointed function that backward calls twice may stash its tensor twice.
  HEARTH_CHECK(&store == &backward_store.store || !store.entries.contains(name), "The tensor '",
               name, "' was stashed twice. Pop it first, or use two names");
  const StreamMark computed = store.is_pipeline ? StreamMark(tensor.device()) : StreamMark();
  store.entries.insert_or_assign(name, Store::Entry{tensor, store.stage, computed});
}

Tensor pop(const std::string& name) {
  Store& store = store_in_use("pop", name);
  const auto found = store.entries.find(name);
  HEARTH_CHECK(found != store.entries.end(), "There is no tensor '", name,
               "' to pop. An earlier module of the same forward must call skip::stash(\"", name,
               "\", tensor)");
  const Store::Entry entry = found->second;
  store.entries.erase(found);
  if (!store.is_pipeline || entry.stage == store.stage) return entry.tensor;
  if (!store.cuts_graph) return copy_to_stage(entry.tensor, store.device, entry.computed);
  Tensor leaf = copy_to_stage(entry.tensor.detach(), store.device, entry.computed);
  if (entry.tensor.requires_grad()) {
    leaf = leaf.detach().requires_grad_();
    store.links.push_back({entry.tensor, leaf, entry.stage, store.stage, Tensor()});
    leaf = alias_of_leaf(leaf);
  }
  return leaf;
}

}  // namespace hearth::nn::skip

namespace hearth::nn {

SequentialImpl::Call::Call() { ++skip::running_sequentials; }

SequentialImpl::Call::~Call() {
  if (--skip::running_sequentials > 0) return;
  skip::sequential_store.entries.clear();
  if (autograd::current_graph_task_id() < 0) skip::backward_store = {};
}

}  // namespace hearth::nn
