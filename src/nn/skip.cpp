#include "hearth/nn/skip.h"

#include "nn/skip_store.h"

namespace hearth::nn::skip {

namespace {

/// Outside of pipelines.
thread_local Store plain_store;
thread_local Store* pipeline_store = nullptr;

Store& store_in_use() { return pipeline_store ? *pipeline_store : plain_store; }

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
  Store& store = store_in_use();
  HEARTH_CHECK(!store.is_pipeline || !store.entries.contains(name), "The tensor '", name,
               "' was stashed twice. Pop it first, or use two names");
  const StreamMark computed = store.is_pipeline ? StreamMark(tensor.device()) : StreamMark();
  store.entries.insert_or_assign(name, Store::Entry{tensor, store.stage, computed});
}

Tensor pop(const std::string& name) {
  Store& store = store_in_use();
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
    store.links.push_back({entry.tensor, leaf, entry.stage, store.stage});
  }
  return leaf;
}

}  // namespace hearth::nn::skip
