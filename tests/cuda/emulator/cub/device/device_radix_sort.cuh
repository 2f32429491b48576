// Replaces CUB's radix sort where kernels are compiled for the CPU.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda_runtime_api.h"

namespace cub {

struct DeviceRadixSort {
  /// Sorts pairs by the bits [first_bit, end_bit) of their keys; equal keys keep their order.
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* temporary, size_t& bytes, const Key* keys, Key* sorted_keys,
                               const Value* values, Value* sorted_values, Count count,
                               int first_bit, int end_bit, cudaStream_t) {
    if (temporary == nullptr) return bytes = 16, cudaSuccess;
    const Key mask = end_bit == 8 * int(sizeof(Key)) ? ~Key(0) : (Key(1) << end_bit) - 1;
    std::vector<size_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return (keys[a] & mask) >> first_bit < (keys[b] & mask) >> first_bit;
    });
    for (size_t i = 0; i < order.size(); ++i) {
      sorted_keys[i] = keys[order[i]];
      sorted_values[i] = values[order[i]];
    }
    return cudaSuccess;
  }
};

}  // namespace cub
