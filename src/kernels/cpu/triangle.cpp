// tril and triu: copies a triangle of each matrix, [..., rows, columns], and sets the other
// elements to zero. The threads divide the rows. Bound by memory: each element is written once and,
// in the triangle, read once; in place, only zeros are written.
#include "seam/triangle.h"

#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

// Operand numbers of the loop. kRow is no tensor: its stride is 1 along the rows, so that its
// offset is the row's index.
constexpr int kIn = 0, kOut = 1, kRow = 2;

/// Writes one row; columns [begin, end) are kept, the others become zero.
template <class T>
void write_row(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t columns,
               int64_t begin, int64_t end) {
  constexpr int64_t kLongRow = 16;  // a loop is faster for shorter ones
  if (in_stride == 1 && out_stride == 1 && columns >= kLongRow) {
    const auto clear = [out](int64_t from, int64_t to) {
      std::memset(static_cast<void*>(out + from), 0, size_t(to - from) * sizeof(T));
    };
    clear(0, begin);
    if (in != out && begin < end)
      std::memcpy(out + begin, in + begin, size_t(end - begin) * sizeof(T));
    clear(end, columns);
    return;
  }
  for (int64_t j = 0; j < begin; ++j) out[j * out_stride] = T{};
  if (in != out)
    for (int64_t j = begin; j < end; ++j) out[j * out_stride] = in[j * in_stride];
  for (int64_t j = end; j < columns; ++j) out[j * out_stride] = T{};
}

template <class T>
void run_rows(const TriangleParams& params) {
  const int last = params.out.dim - 1;
  const int64_t columns = params.out.sizes[last];
  int64_t row_number_strides[kMaxDims] = {};
  row_number_strides[last - 1] = 1;
  StridedLoop<3> rows;
  rows.dim = last;
  std::copy_n(params.out.sizes, last, rows.sizes);
  rows.add(params.in.strides);
  rows.add(params.out.strides);
  rows.add(row_number_strides);
  const auto write = [&](int64_t in, int64_t out, int64_t row) {
    const int64_t edge =
        std::clamp(row + params.diagonal + (params.upper ? 0 : 1), int64_t{0}, columns);
    write_row(params.in.as<T>() + in, params.in.strides[last], params.out.as<T>() + out,
              params.out.strides[last], columns, params.upper ? edge : 0,
              params.upper ? columns : edge);
  };
  const int64_t grain = std::max<int64_t>(1, kMoveGrain / columns);
  parallel_for(0, rows.numel(), grain, [&](int64_t begin, int64_t end) {
    rows.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        write(offsets[kIn] + i * rows.inner_stride(kIn),
              offsets[kOut] + i * rows.inner_stride(kOut), offsets[kRow] + i);
    });
  });
}

}  // namespace

void run(const TriangleParams& params, Ctx&) {
  if (params.out.numel == 0) return;
  with_element_type(element_size(params.out.dtype),
                    [&](auto element) { run_rows<decltype(element)>(params); });
}

}  // namespace hearth::cpu
