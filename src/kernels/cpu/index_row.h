#pragma once

// Reads indices along a dimension. in_range() checks all of them without branches, in 8 independent
// chains that compilers turn into vectors; reading the indices bounds it.

#include <cstdint>

#include "seam/index.h"

namespace hearth::cpu {

/// Some indices of one IndexedDim, `stride` elements apart.
struct IndexRow {
  const IndexedDim& dim;
  int64_t start, stride, count;
  bool allow_negative;

  bool in_range() const {
    constexpr int64_t kChains = 8;  // independent, so that the compiler can use vectors
    uint64_t signs = 0;
    with_indices([&signs, end = count, last = static_cast<uint64_t>(dim.size) - 1](auto index) {
      // One of the two has its sign bit set if the index is out of range.
      const auto sign = [=](int64_t i) { return index(i) | (last - index(i)); };
      uint64_t chains[kChains] = {};
      int64_t i = 0;
      for (; i + kChains <= end; i += kChains)
        for (int64_t c = 0; c < kChains; ++c) chains[c] |= sign(i + c);
      for (; i < end; ++i) signs |= sign(i);
      for (const uint64_t chain : chains) signs |= chain;
    });
    return static_cast<int64_t>(signs) >= 0;
  }

  /// Calls f(index): index(i) is index i, counted from the start of the dimension. For an index out
  /// of range it is at least dim.size.
  template <class F>
  void with_indices(const F& f) const {
    if (dim.index.dtype == kInt)
      with_indices_of(dim.index.as<int32_t>() + start, f);
    else
      with_indices_of(dim.index.as<int64_t>() + start, f);
  }

  /// Calls f(i, index i) for every index.
  template <class F>
  void for_each(const F& f) const {
    with_indices([call = f, end = count](auto index) {
      for (int64_t i = 0; i < end; ++i) call(i, index(i));
    });
  }

  /// Calls f(i, index i as it was given) for every index out of range.
  template <class F>
  void for_each_bad(const F& f) const {
    for_each([&](int64_t i, uint64_t index) {
      const auto size = static_cast<uint64_t>(dim.size);
      if (index < size) return;
      const bool was_wrapped = allow_negative && static_cast<int64_t>(index) < 0;
      f(i, static_cast<int64_t>(was_wrapped ? index - size : index));
    });
  }

 private:
  template <class I, class F>
  void with_indices_of(const I* data, const F& f) const {
    const auto from_start = [wrap = allow_negative ? dim.size : 0](int64_t index) {
      return static_cast<uint64_t>(index + (wrap & (index >> 63)));
    };
    if (stride == 1)
      f([=](int64_t i) { return from_start(data[i]); });
    else
      f([=, step = stride](int64_t i) { return from_start(data[i * step]); });
  }
};

}  // namespace hearth::cpu
