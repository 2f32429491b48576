#pragma once

#include "c10/namespaces.h"
#include "c10/util/ArrayRef.h"
#include "hearth/small_vector.h"
#include "hearth/stream.h"

namespace hearth {

template <class T, size_t N>
bool operator==(const SmallVector<T, N>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}

/// Prints the elements: "[2, 3]".
template <class Traits, class T, size_t N>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const SmallVector<T, N>& values) {
  return out << ArrayRef<T>(values);
}

}  // namespace hearth
