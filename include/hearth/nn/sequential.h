#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hearth/nn/any.h"
#include "hearth/nn/cloneable.h"

namespace hearth::nn {

namespace detail {
/// A module, a holder, a pointer to a module or an AnyModule.
template <class M, class Value = std::remove_cvref_t<M>>
concept SequentialPart = std::is_base_of_v<Module, Value> || is_holder<Value> ||
    std::is_same_v<Value, AnyModule> || requires {
  requires std::is_base_of_v<Module, typename Value::element_type>;
};
template <class T>
inline constexpr bool is_name = std::is_convertible_v<const T&, std::string>;
}  // namespace detail

/// A chain of modules: each is called with the result of the one before. They may be values,
/// holders, shared pointers or AnyModules, with or without names; default names are "0", "1", ….
class HEARTH_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class... Modules>
  requires(detail::SequentialPart<Modules>&&...) &&
      (sizeof...(Modules) > 1 ||
       !(std::is_base_of_v<SequentialImpl, std::decay_t<Modules>> || ...))  //
      explicit SequentialImpl(Modules&&... modules) {
    modules_.reserve(sizeof...(Modules));
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}

  /// Passes the arguments to the first module and returns the last one's result, a Result.
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... args) {
    const auto body = [this](auto&&... values) -> Result {
      const Call call;
      AnyValue value = first().any_forward(std::forward<decltype(values)>(values)...);
      value = pass_on(std::move(value));
      Result* result = value.try_get<Result>();
      HEARTH_CHECK(result, "The type of the return value is ", demangle(value.type_info().name()),
                   ", but you asked for type ", demangle(typeid(Result).name()));
      return std::move(*result);
    };
    return run_module(*this, body, std::forward<Args>(args)...);
  }

  void push_back(AnyModule module) { push_back(next_name(), std::move(module)); }
  void push_back(std::string name, AnyModule module);  ///< appends a module
  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(AnyModule(std::move(module)));
  }
  template <class M>
  void push_back(std::string name, std::shared_ptr<M> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(AnyModule(holder));
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), AnyModule(holder));
  }
  template <class M>
  requires std::is_base_of_v<Module, std::decay_t<M>>
  void push_back(M&& module) { push_back(AnyModule(std::forward<M>(module))); }
  template <class M>
  requires std::is_base_of_v<Module, std::decay_t<M>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& module : modules) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  /// The module at `index`, which must have type T.
  template <class T>
  T& at(size_t index) {
    return checked(index).get<T>();
  }
  template <class T>
  const T& at(size_t index) const {
    return checked(index).get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index).ptr(); }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    return checked(index).ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  /// Lives during one forward(). The outermost Call of a thread owns the tensors of skip::stash.
  struct HEARTH_API Call {
    Call();
    ~Call();
  };
  std::string next_name() const { return std::to_string(modules_.size()); }
  AnyModule& first();
  /// Calls all modules after the first.
  AnyValue pass_on(AnyValue value);
  const AnyModule& checked(size_t index) const;
  AnyModule& checked(size_t index) {
    return const_cast<AnyModule&>(std::as_const(*this).checked(index));
  }

  std::vector<AnyModule> modules_;
};

/// The holder of SequentialImpl.
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;
  Sequential() = default;
  HEARTH_API Sequential(std::initializer_list<NamedAnyModule> modules);
};

}  // namespace hearth::nn
