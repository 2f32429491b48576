#pragma once

#include <algorithm>

#include "seam/ctx.h"

namespace hearth::cpu {

/// The elements, or pieces of several elements, of all tensors of a call, numbered one tensor after
/// the other, so that threads can divide them.
class TensorRanges {
 public:
  /// `piece` is the number of elements of a piece; the last piece of a tensor may have fewer.
  template <class Tensors>
  TensorRanges(const Tensors& tensors, Ctx& ctx, int64_t piece = 1)
      : num_tensors_(tensors.size()),
        starts_(static_cast<int64_t*>(ctx.scratch((num_tensors_ + 1) * sizeof(int64_t)))) {
    starts_[0] = 0;
    for (size_t i = 0; i < num_tensors_; ++i)
      starts_[i + 1] = starts_[i] + (tensors[i].numel + piece - 1) / piece;
  }

  int64_t count() const { return starts_[num_tensors_]; }

  /// Calls f(i, first, last) for each tensor i that has a part of [begin, end): the elements or
  /// pieces [first, last), counted from the tensor's own first one.
  template <class F>
  void visit(int64_t begin, int64_t end, const F& f) const {
    const int64_t* const last = starts_ + num_tensors_;
    auto i = size_t(std::upper_bound<const int64_t*>(starts_, last, begin) - starts_ - 1);
    for (; begin < end; begin = starts_[++i])
      f(i, begin - starts_[i], std::min(end, starts_[i + 1]) - starts_[i]);
  }

 private:
  const size_t num_tensors_;
  int64_t* const starts_;  // the number of each tensor's first element or piece, and the total
};

}  // namespace hearth::cpu
