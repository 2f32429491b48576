#pragma once

#include <cstddef>
#include <functional>

#include "c10/namespaces.h"
#include "hearth/autograd.h"

template <>
struct std::hash<hearth::autograd::Edge> {
  size_t operator()(const hearth::autograd::Edge& edge) const noexcept {
    return std::hash<const void*>()(edge.function.get()) * 31 + edge.input_nr;
  }
};
