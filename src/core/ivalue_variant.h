#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "hearth/ivalue_containers.h"

namespace hearth {

namespace detail {

using ListPtr = std::shared_ptr<ListContent>;
using DictPtr = std::shared_ptr<DictContent>;
using TuplePtr = std::shared_ptr<const ivalue::Tuple>;
/// What an IValue holds; its functions in autograd/ivalue.cpp name the types.
using IValueVariant = std::variant<std::monostate, Tensor, bool, int64_t, double, std::string,
                                   ListPtr, DictPtr, TuplePtr, Device, Generator, complex<double>>;

}  // namespace detail

struct IValue::Value {
  detail::IValueVariant variant;
};

namespace detail {

struct IValueAccess {
  static const IValueVariant& variant(const IValue& value) {
    static const IValueVariant none;
    return value.value_ ? value.value_->variant : none;
  }
};

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

/// The type of a function object's only parameter, without reference and const.
template <class F>
struct ParameterOf : ParameterOf<decltype(&F::operator())> {};
template <class F, class Result, class Parameter>
struct ParameterOf<Result (F::*)(Parameter) const> {
  using type = std::remove_cvref_t<Parameter>;
};

/// Calls the one of the functions that takes what the value holds. A function that handles a value
/// of any type should use this: if it forgets a type, it does not compile.
template <class... Functions>
decltype(auto) visit_content(const IValue& value, Functions... functions) {
  const Overloaded<Functions...> function{std::move(functions)...};
  return std::visit(
      [&]<class T>(const T& content) -> decltype(auto) {
        static_assert((std::is_same_v<T, typename ParameterOf<Functions>::type> || ...),
                      "no function takes one of the types");
        return function(content);
      },
      IValueAccess::variant(value));
}

/// The kind of a list.
inline ListKind kind_of_list(const IValue& list) {
  return std::get<ListPtr>(IValueAccess::variant(list))->kind;
}
/// Whether elements of such a list can hold tensors.
inline bool may_hold_tensors(ListKind kind) {
  return kind == ListKind::kAny || kind == ListKind::kTensor;
}

}  // namespace detail

}  // namespace hearth
