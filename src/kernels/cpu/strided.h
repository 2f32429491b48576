#pragma once

// Loops over one shape with strides for several operands, slices of views, and calls with the type
// of an element. Dimensions are merged where one stride can serve, so that the runs along the last
// dimension are long: a run costs a few additions for each operand, which bounds loops with short
// runs.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "functors/families.h"
#include "seam/ctx.h"
#include "seam/pointwise.h"
#include "seam/view.h"

namespace hearth::cpu {

/// Up to this many elements are copied on one thread.
inline constexpr int64_t kMoveGrain = 32768;

/// A loop over the positions of one shape for up to N operands, each with strides in elements.
template <int N>
struct StridedLoop {
  int dim = 0;
  int operands = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[N][kMaxDims];

  StridedLoop() = default;
  /// The loop over the first view's sizes, with dimensions merged.
  explicit StridedLoop(std::initializer_list<const View*> views) {
    const View& first = **views.begin();
    dim = first.dim;
    std::copy_n(first.sizes, dim, sizes);
    for (const View* view : views) add(view->strides);
    merge();
  }

  void add(const int64_t* operand_strides) {
    std::copy_n(operand_strides, dim, strides[operands++]);
  }

  int64_t numel() const {
    int64_t product = 1;
    for (int d = 0; d < dim; ++d) product *= sizes[d];
    return product;
  }

  /// Appends dimension d of another loop, of as many operands as this one has.
  void push_dim_of(const StridedLoop& other, int d) {
    sizes[dim] = other.sizes[d];
    for (int o = 0; o < operands; ++o) strides[o][dim] = other.strides[o][d];
    ++dim;
  }

  /// Drops dimensions of size 1 and merges adjacent dimensions that one stride can serve in every
  /// operand.
  void merge() {
    const int old_dim = dim;
    dim = 0;
    for (int d = 0; d < old_dim; ++d) {
      if (sizes[d] == 1) continue;
      if (dim > 0 && can_merge(dim - 1, d)) {
        const int64_t outer = sizes[dim - 1];
        --dim;
        push_dim_of(*this, d);
        sizes[dim - 1] *= outer;
      } else {
        push_dim_of(*this, d);
      }
    }
  }

  /// Calls f(offsets, count) for the runs along the last dimension that make up positions [begin,
  /// end) in row-major order; offsets holds every operand's offset at the start of the run.
  template <class F>
  void walk(int64_t begin, int64_t end, const F& f) const {
    if (begin >= end) return;
    int64_t coordinates[kMaxDims], offsets[N];
    start(begin, coordinates, offsets);
    const int64_t inner = dim > 0 ? sizes[dim - 1] : 1;
    int64_t first = dim > 0 ? coordinates[dim - 1] : 0;
    while (true) {
      const int64_t count = std::min(inner - first, end - begin);
      f(static_cast<const int64_t*>(offsets), count);
      begin += count;
      if (begin >= end) return;
      for (int o = 0; o < operands; ++o) offsets[o] -= first * strides[o][dim - 1];
      first = 0;
      next_row(coordinates, offsets);
    }
  }

  /// An operand's stride along the last dimension.
  int64_t inner_stride(int operand) const { return dim > 0 ? strides[operand][dim - 1] : 1; }

 private:
  bool can_merge(int outer, int inner) const {
    for (int o = 0; o < operands; ++o)
      if (strides[o][outer] != strides[o][inner] * sizes[inner]) return false;
    return true;
  }

  void start(int64_t position, int64_t* coordinates, int64_t* offsets) const {
    std::fill_n(offsets, operands, int64_t{0});
    for (int d = dim - 1; d >= 0; --d) {
      coordinates[d] = d > 0 ? position % sizes[d] : position;
      position /= sizes[d];
      for (int o = 0; o < operands; ++o) offsets[o] += coordinates[d] * strides[o][d];
    }
  }

  void next_row(int64_t* coordinates, int64_t* offsets) const {
    for (int d = dim - 2; d >= 0; --d) {
      const bool carry = ++coordinates[d] == sizes[d];
      const int64_t steps = carry ? 1 - sizes[d] : 1;
      if (carry) coordinates[d] = 0;
      for (int o = 0; o < operands; ++o) offsets[o] += steps * strides[o][d];
      if (!carry) return;
    }
  }
};

/// Returns positions [begin, end) of dimension d.
inline View slice(View view, int d, int64_t begin, int64_t end) {
  view.data = view.as<char>() + begin * view.strides[d] * int64_t(element_size(view.dtype));
  view.numel = view.sizes[d] == 0 ? 0 : view.numel / view.sizes[d] * (end - begin);
  view.sizes[d] = end - begin;
  return view;
}

/// An element of n bytes, for code that only moves elements.
template <int n>
struct Bytes {
  unsigned char bytes[n];
};
/// Calls f(Bytes<size>{}) for an element size of 1, 2, 4, 8 or 16.
template <class F>
void with_element_type(size_t size, const F& f) {
  switch (size) {
    case 1: return f(Bytes<1>{});
    case 2: return f(Bytes<2>{});
    case 4: return f(Bytes<4>{});
    case 8: return f(Bytes<8>{});
    case 16: return f(Bytes<16>{});
  }
}

/// Throws: there is no kernel for the dtype.
[[noreturn]] void refuse_dtype(ScalarType dtype);

/// Calls f(T{}) with the C++ type of a dtype that has kernels.
template <class F>
void with_dtype(ScalarType dtype, const F& f) {
  switch (dtype) {
#define HEARTH_CASE(type, Name) \
  case ScalarType::Name: return f(type{});
    HEARTH_DTYPES(HEARTH_CASE)
#undef HEARTH_CASE
    default: refuse_dtype(dtype);
  }
}

/// Like with_dtype(), but only for floating-point dtypes.
template <class F>
void with_floating(ScalarType dtype, const F& f) {
  with_dtype(dtype, [&](auto type) {
    if constexpr (is_floating_point(dtype_of<decltype(type)>)) f(type);
  });
}

/// out = functor.formula(inputs...) by the pointwise kernels, for a functor without parameters; the
/// inputs have out's sizes.
void compute(int functor, Formula formula, const View& out,
             std::initializer_list<const View*> inputs, Ctx& ctx);
template <class F>
void compute(Formula formula, const View& out, std::initializer_list<const View*> inputs,
             Ctx& ctx) {
  static_assert(fn::number_of<F> >= 0 && std::is_empty_v<F>);
  compute(fn::number_of<F>, formula, out, inputs, ctx);
}

/// Copies `from`, converted to the dtype of `to`; both have the same sizes and do not overlap.
void copy(const View& from, const View& to, Ctx& ctx);

}  // namespace hearth::cpu
