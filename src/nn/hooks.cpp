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

bool Hooks::has_call_hooks() const {
  return !table_->before.empty() || !table_->after.empty() || table_->has_backward();
}

HookTable& Hooks::table() {
  if (!table_) table_ = std::make_shared<HookTable>();
  return *table_;
}

namespace {
template <class Hook>
RemovableHandle add(Hooks& hooks, HookTable::List<Hook> HookTable::*list, Hook hook,
                    bool prepend = false) {
  HookTable& table = hooks.table();
  auto& hooks_of_kind = table.*list;
  hooks_of_kind.emplace(prepend ? hooks_of_kind.begin() : hooks_of_kind.end(), table.next_id,
                        std::make_shared<const Hook>(std::move(hook)));
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
  std::erase_if(table->before_backward, is_mine);
  std::erase_if(table->after_backward, is_mine);
  std::erase_if(table->loading, is_mine);
}

RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook, bool prepend) {
  return detail::add(hooks_, &detail::HookTable::before, std::move(hook), prepend);
}

RemovableHandle Module::register_forward_hook(ForwardHook hook, bool prepend) {
  return detail::add(hooks_, &detail::HookTable::after, std::move(hook), prepend);
}

RemovableHandle Module::register_full_backward_pre_hook(BackwardPreHook hook, bool prepend) {
  return detail::add(hooks_, &detail::HookTable::before_backward, std::move(hook), prepend);
}

RemovableHandle Module::register_full_backward_hook(BackwardHook hook, bool prepend) {
  return detail::add(hooks_, &detail::HookTable::after_backward, std::move(hook), prepend);
}

RemovableHandle Module::register_load_state_dict_pre_hook(LoadStateDictPreHook hook) {
  return detail::add(hooks_, &detail::HookTable::loading, std::move(hook));
}

}  // namespace hearth::nn
