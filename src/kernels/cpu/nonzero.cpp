// Counts the elements that are not zero, and writes their coordinates. The threads divide chunks of
// 32,768 elements; each chunk is counted first, so that its first row in the result is known. Bound
// by reading the elements, twice to fill; with many results, by a division for each dimension of a
// result.
#include "seam/nonzero.h"

#include <atomic>
#include <utility>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kNonzeroChunk = kMoveGrain;  // elements whose non-zeros are counted together

template <class T>
bool is_nonzero(T value) {
  if constexpr (requires { value.real_; })
    return value.real_ != 0 || value.imag_ != 0;
  else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return (value.x & 0x7fffu) != 0;
  else
    return value != 0;
}

/// Calls f(position) for the non-zero elements at positions [begin, end) in row-major order.
template <class T, class F>
void for_each_nonzero(const View& in, const StridedLoop<1>& loop, int64_t begin, int64_t end,
                      const F& f) {
  const T* const data = in.as<T>();
  const int64_t stride = loop.inner_stride(0);
  int64_t position = begin;
  loop.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (is_nonzero(data[offsets[0] + i * stride])) f(position + i);
    position += count;
  });
}

template <class T>
int64_t count_nonzero(const View& in, const StridedLoop<1>& loop, int64_t begin, int64_t end) {
  const T* const data = in.as<T>();
  const int64_t stride = loop.inner_stride(0);
  int64_t total = 0;
  loop.walk(begin, end, [&](const int64_t* offsets, int64_t count) {
    const T* const row = data + offsets[0];
    if (stride == 1)
      for (int64_t i = 0; i < count; ++i) total += is_nonzero(row[i]);
    else
      for (int64_t i = 0; i < count; ++i) total += is_nonzero(row[i * stride]);
  });
  return total;
}

/// Writes the coordinates of the element at this position in row-major order.
void write_coordinates(const View& in, int64_t position, const View& out, int64_t row) {
  int64_t* const to = out.as<int64_t>() + row * out.strides[0];
  for (int d = in.dim - 1; d > 0; --d) {
    const int64_t rest = position / in.sizes[d];
    to[d * out.strides[1]] = position - rest * in.sizes[d];
    position = rest;
  }
  if (in.dim > 0) *to = position;
}

}  // namespace

void run(const NonzeroCountParams& params, Ctx&) {
  const View& in = params.in;
  const StridedLoop<1> loop{&in};
  std::atomic<int64_t> total{0};
  with_dtype(in.dtype, [&](auto element) {
    parallel_for(0, in.numel, kNonzeroChunk, [&](int64_t begin, int64_t end) {
      total += count_nonzero<decltype(element)>(in, loop, begin, end);
    });
  });
  *params.count.as<int64_t>() = total;
}

void run(const NonzeroFillParams& params, Ctx& ctx) {
  const View& in = params.in;
  const int64_t rows = params.out.sizes[0];
  if (in.numel == 0 || rows == 0) return;
  const StridedLoop<1> loop{&in};
  const int64_t chunks = (in.numel - 1) / kNonzeroChunk + 1;
  auto* const first_row = static_cast<int64_t*>(ctx.scratch(size_t(chunks) * sizeof(int64_t)));
  with_dtype(in.dtype, [&](auto element) {
    using T = decltype(element);
    const auto end_of = [&](int64_t chunk) {
      return std::min(in.numel, (chunk + 1) * kNonzeroChunk);
    };
    parallel_blocks(chunks, [&](int64_t chunk) {
      first_row[chunk] = count_nonzero<T>(in, loop, chunk * kNonzeroChunk, end_of(chunk));
    });
    int64_t row = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) row += std::exchange(first_row[chunk], row);
    parallel_blocks(chunks, [&](int64_t chunk) {
      int64_t next = first_row[chunk];
      for_each_nonzero<T>(in, loop, chunk * kNonzeroChunk, end_of(chunk), [&](int64_t position) {
        if (next < rows) write_coordinates(in, position, params.out, next++);
      });
    });
  });
}

}  // namespace hearth::cpu
