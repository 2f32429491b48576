#pragma once

#include <cstddef>
#include <utility>

#include "c10/namespaces.h"
#include "hearth/autograd/history.h"

namespace torch {

/// Base of classes F with operator() for single arguments: apply(args…) calls it for each argument,
/// for the elements of lists one by one, until short_circuit() is true.
template <class F>
struct IterArgs {
  template <class... Args>
  F& apply(Args&&... args) {
    (self().visit(args), ...);
    return self();
  }
  template <class T>
  void operator()(ArrayRef<T> elements) {
    for (const T& element : elements) {
      if (self().short_circuit()) return;
      self()(element);
    }
  }
  template <class T>
  void operator()(const std::vector<T>& elements) {
    self()(ArrayRef<T>(elements));
  }
  bool short_circuit() { return false; }

 private:
  F& self() { return static_cast<F&>(*this); }
  template <class Arg>
  void visit(Arg& argument) {
    if (!self().short_circuit()) self()(argument);
  }
};

/// The number of tensors in the arguments.
template <class... Args>
size_t count_tensors(const Args&... args) {
  return hearth::autograd::flatten_tensor_args(args...).size();
}

}  // namespace torch
