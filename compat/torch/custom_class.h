#pragma once

#include <string>

#include "c10/util/intrusive_ptr.h"
#include "hearth/storage.h"

namespace torch {

/// Base class of a program's own classes in operators, held by c10::intrusive_ptr.
using CustomClassHolder = c10::intrusive_ptr_target;

namespace detail {
using namespace hearth::detail;  // whose names programs find in torch::detail
template <class... Args>
struct types {};
}  // namespace detail
/// A constructor with these arguments, for class_::def.
template <class... Args>
detail::types<void, Args...> init() {
  return {};
}
template <class F>
F init(F f) {
  return f;
}

/// Describes a class for TorchScript and Python, which Hearth does not have: the description has no
/// effect. C++ code uses the class itself.
template <class Class>
class class_ {
 public:
  class_(const std::string&, const std::string&, std::string = "") {}
  template <class... Parts>
  class_& def(const Parts&...) {
    return *this;
  }
  template <class... Parts>
  class_& def_static(const std::string&, const Parts&...) {
    return *this;
  }
  template <class... Parts>
  class_& def_property(const std::string&, const Parts&...) {
    return *this;
  }
  template <class Member>
  class_& def_readwrite(const std::string&, Member Class::*) {
    return *this;
  }
  template <class Member>
  class_& def_readonly(const std::string&, const Member Class::*) {
    return *this;
  }
  template <class GetState, class SetState>
  class_& def_pickle(GetState&&, SetState&&) {
    return *this;
  }
};

}  // namespace torch
