// Finds the index at which each value would be inserted into its sorted row of n elements, by
// binary search. The threads divide the values. Bound by the latency of log2(n) loads that depend
// on each other, many of them cache misses if rows are long.
#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "seam/search.h"

namespace hearth::cpu {

namespace {

/// Finds the index at which every value would be inserted into its row.
template <class T, class I>
void search(const SearchParams& params) {
  const View &rows = params.sorted, &values = params.values;
  const int64_t n = rows.dim == 0 ? 1 : rows.sizes[rows.dim - 1];
  const int64_t per_row =
      rows.dim == 1 || values.dim == 0 ? values.numel : values.sizes[values.dim - 1];
  const T* const x = values.as<const T>();
  I* const out = params.out.as<I>();
  constexpr int64_t kSearchCost = 16;  // in copies of elements
  parallel_for(0, values.numel, kMoveGrain / kSearchCost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* const row = rows.as<const T>() + i / per_row * n;
      const T value = x[i];
      // Comparisons with NaN are false, so that a NaN is inserted at the end, as in PyTorch.
      const auto goes_before = [&](T element) {
        return params.right ? !(element > value) : !(element >= value);
      };
      out[i] = I(std::partition_point(row, row + n, goes_before) - row);
    }
  });
}

}  // namespace

void run(const SearchParams& params, Ctx&) {
  if (params.values.numel == 0) return;
  with_dtype(params.sorted.dtype, [&](auto element) {
    using T = decltype(element);
    if constexpr (!requires(T x) { x.real_; }) {
      if (params.out.dtype == kInt)
        search<T, int32_t>(params);
      else
        search<T, int64_t>(params);
    }
  });
}

}  // namespace hearth::cpu
