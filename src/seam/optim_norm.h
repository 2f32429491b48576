#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "functors/reduction.h"
#include "functors/traits.h"
#include "hearth/dtype.h"
#include "seam/table.h"

namespace hearth {

/// The norms of fn::Reductions.
using NormFunctors = List<fn::Norm0, fn::Norm1, fn::Norm2, fn::NormP, fn::NormMax, fn::NormMin>;

/// The norm of all elements of many dense tensors of one floating dtype, in this dtype. Half types
/// are computed in float32.
struct TotalNormParams {
  struct Elements {
    const void* data;
    int64_t numel;
  };
  int norm = 0;                                 // index in NormFunctors
  int reduction = 0;                            // index in fn::Reductions
  alignas(8) unsigned char parameters[8] = {};  // the functor, by value
  ScalarType dtype = ScalarType::Undefined;
  void* out = nullptr;
  std::vector<Elements> tensors;

  template <class F>
  void set_norm(const F& f) {
    static_assert(sizeof(F) <= sizeof parameters && std::is_trivially_copyable_v<F>);
    norm = fn::index_of<F, NormFunctors>;
    reduction = fn::index_of<F, fn::Reductions>;
    std::memcpy(parameters, &f, sizeof f);
  }
};

}  // namespace hearth
