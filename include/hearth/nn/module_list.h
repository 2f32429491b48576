#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

namespace detail {

/// Converts a module, a holder or a pointer to a shared pointer.
template <class M>
std::shared_ptr<Module> to_pointer(M&& module) {
  using Value = std::decay_t<M>;
  if constexpr (is_holder<Value>)
    return module.ptr();
  else if constexpr (std::is_base_of_v<Module, Value>)
    return std::make_shared<Value>(std::forward<M>(module));
  else
    return std::forward<M>(module);
}

/// The types that to_pointer accepts.
template <class M, class Value = std::remove_cvref_t<M>>
concept ListPart = std::is_base_of_v<Module, Value> || is_holder<Value> ||
    std::is_convertible_v<Value, std::shared_ptr<Module>>;

/// The module as a T; errors show `index_or_key`, its index or key in a container.
template <class T, class IndexOrKey>
T& cast_module(const std::shared_ptr<Module>& module, const IndexOrKey& index_or_key) {
  static_assert(std::is_base_of_v<Module, T>, "T must be a module");
  T* cast = module->as<T>();
  HEARTH_CHECK(cast, "Unable to cast module[", index_or_key, "] to ", demangle(typeid(T).name()));
  return *cast;
}

}  // namespace detail

/// Submodules in a list; their names are "0", "1", ….
class HEARTH_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <class... Modules>
  requires(detail::ListPart<Modules>&&...) &&
      (sizeof...(Modules) > 1 ||
       !(std::is_same_v<ModuleListImpl, std::decay_t<Modules>> || ...))  //
      explicit ModuleListImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}

  void push_back(std::shared_ptr<Module> module);  ///< appends a module
  template <class M>
  requires(std::is_base_of_v<Module, std::decay_t<M>> || detail::is_holder<M>)  //
      void push_back(M&& module) {
    push_back(detail::to_pointer(std::forward<M>(module)));
  }
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& module : modules) push_back(module);
  }
  /// Inserts a module at `index`; the later modules get the next names.
  void insert(size_t index, std::shared_ptr<Module> module);
  template <class M>
  requires(std::is_base_of_v<Module, std::decay_t<M>> || detail::is_holder<M>)  //
      void insert(size_t index, M&& module) {
    insert(index, detail::to_pointer(std::forward<M>(module)));
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  /// The module at `index`, which must have type T.
  template <class T>
  T& at(size_t index) {
    return detail::cast_module<T>(checked(index), index);
  }
  template <class T>
  const T& at(size_t index) const {
    return detail::cast_module<T>(checked(index), index);
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index); }
  /// The module as a T, or null if it has another type.
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    return std::dynamic_pointer_cast<T>(checked(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const { return checked(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  const std::shared_ptr<Module>& checked(size_t index) const;
  std::vector<std::shared_ptr<Module>> modules_;
};
HEARTH_MODULE(ModuleList);

}  // namespace hearth::nn
