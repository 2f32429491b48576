// Copies or converts n elements between two strides, on the calling thread; elements with gaps are
// gathered and scattered in blocks of 128. Bound by a load and a store for each element with a
// stride, else by memory.
#include "kernels/cpu/reduce_convert.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/copy_bytes16.h"

namespace hearth::cpu {

namespace {

template <class T>
void copy_elements(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t n) {
  const T* x = static_cast<const T*>(from);
  T* y = static_cast<T*>(to);
  const auto copy_all = [=](auto x_step, auto y_step) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) y[i * y_step] = x[i * x_step];
  };
  constexpr std::integral_constant<int64_t, 1> one;
  if (to_stride == 1)
    copy_all(from_stride, one);
  else if (from_stride == 1)
    copy_all(one, to_stride);
  else
    copy_all(from_stride, to_stride);
}

void copy(int64_t size, const void* from, int64_t from_stride, void* to, int64_t to_stride,
          int64_t n) {
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, size_t(n * size));
    return;
  }
  switch (size) {
    case 1: return copy_elements<uint8_t>(from, from_stride, to, to_stride, n);
    case 2: return copy_elements<uint16_t>(from, from_stride, to, to_stride, n);
    case 4: return copy_elements<uint32_t>(from, from_stride, to, to_stride, n);
    case 8: return copy_elements<uint64_t>(from, from_stride, to, to_stride, n);
    default: return copy_elements<Bytes16>(from, from_stride, to, to_stride, n);
  }
}

}  // namespace

StridedConvert::StridedConvert(ScalarType from, ScalarType to)
    : convert_(pointwise_table().convert(from, to)),
      from_size_(int64_t(element_size(from))),
      to_size_(int64_t(element_size(to))) {}

void StridedConvert::operator()(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                                int64_t n) const {
  if (convert_.from == convert_.to) return copy(from_size_, from, from_stride, to, to_stride, n);
  if (from_stride == 1 && to_stride == 1) return convert_(from, to, n);
  constexpr int64_t kBlock = 128;
  constexpr int64_t kMaxElementSize = 16;
  alignas(64) char gathered[kBlock * kMaxElementSize], converted[kBlock * kMaxElementSize];
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    copy(from_size_, static_cast<const char*>(from) + done * from_stride * from_size_, from_stride,
         gathered, 1, count);
    convert_(gathered, converted, count);
    copy(to_size_, converted, 1, static_cast<char*>(to) + done * to_stride * to_size_, to_stride,
         count);
  }
}

}  // namespace hearth::cpu
