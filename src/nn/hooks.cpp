#include "hearth/nn/hooks.h"

#include "hearth/nn/module.h"
#include "nn/hook_table.h"

namespace hearth::nn {

namespace detail {

Hooks::Hooks(const Hooks& other)
    : table_(other.table_ ? std::make_shared<HookTable>(*other.table_) : nullptr) {}

Hooks& Hooks::operator=(const Hooks& other) {
  if (this != &other) table_ = other.table_ ? std::make_shared<HookTable>(*other.table_) : nullptr;
  return *this;
}

bool Hooks::has_any() const { return !table_->before.empty() || !table_->after.empty(); }

HookTable& Hooks::table() {
  if (!table_) table_ = std::make_shared<HookTable>();
  return *table_;
}

namespace {
template <class Hook>
RemovableHandle add(Hooks& hooks, HookTable::List<Hook> HookTable::*list, Hook hook) {
  HookTable& table = hooks.table();
  (table.*list).emplace_back(table.next_id, std::make_shared<const Hook>(std::move(hook)));
  return {hooks.pointer(), table.next_id++};
}
}  // namespace

}  // namespace detail

void RemovableHandle::remove() {
  const auto table = table_.lock();
  if (!table) return;
  const auto is_mine = [this](const auto& entry) { return entry.first == id_; };
  std::erase_if(table->before, is_mine);
  std::erase_if(table->after, is_mine);
  std::erase_if(table->loading, is_mine);
}

RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  return detail::add(hooks_, &detail::HookTable::before, std::move(hook));
}

RemovableHandle Module::register_forward_hook(ForwardHook hook) {
  return detail::add(hooks_, &detail::HookTable::after, std::move(hook));
}

RemovableHandle Module::register_load_state_dict_pre_hook(LoadStateDictPreHook hook) {
  return detail::add(hooks_, &detail::HookTable::loading, std::move(hook));
}

}  // namespace hearth::nn
