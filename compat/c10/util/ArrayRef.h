#pragma once

#include <vector>

#include "c10/namespaces.h"
#include "hearth/shape.h"

namespace c10 {

template <class T>
ArrayRef<T> makeArrayRef(const T& element) {
  return element;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& values) {
  return values;
}
template <class T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& values) {
  return values;
}

}  // namespace c10

namespace at {
using c10::makeArrayRef;
}
namespace torch {
using c10::makeArrayRef;
}
