#pragma once

#include <utility>

#include "ATen/core/Dict.h"
#include "ATen/core/List.h"
#include "hearth/ivalue_conversions.h"

namespace hearth {

namespace ivalue {
template <class T>
IValue from(T&& value) {
  return IValue(std::forward<T>(value));
}
}  // namespace ivalue

}  // namespace hearth
