#pragma once

#include <memory>
#include <string>
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

/// Calls the one of the functions that takes what the value holds. A function that handles a value
/// of any type should use this: if it forgets a type, it does not compile.
template <class... Functions>
decltype(auto) visit_content(const IValue& value, Functions... functions) {
  return std::visit(Overloaded<Functions...>{std::move(functions)...},
                    IValueAccess::variant(value));
}

}  // namespace detail

}  // namespace hearth
