#pragma once

#include <functional>
#include <initializer_list>

#include "hearth/tensor.h"

namespace hearth {

/// What a loss makes of its elements' values; `reduction` is one of Reduction's.
Tensor reduced(const Tensor& losses, int64_t reduction);

/// The out= form of a composed op: computes and copies.
Tensor& write_out(const char* op, Tensor& out, std::initializer_list<const Tensor*> inputs,
                  const std::function<Tensor()>& compute);

}  // namespace hearth
