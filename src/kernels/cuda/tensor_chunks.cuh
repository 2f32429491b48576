#pragma once

#include <cstdint>

namespace hearth::cuda {

/// The tensors of one launch, cut into chunks of `chunk_size` elements: each block handles one
/// chunk. It is a part of a kernel's argument and so has no constructor: call clear() first.
template <int max_tensors, int64_t chunk_size>
struct TensorChunks {
  static constexpr int kMaxTensors = max_tensors;
  int num_tensors;
  int first_chunk[max_tensors + 1];  // each tensor's first chunk; then the number of chunks
  int64_t numel[max_tensors];

  /// Elements [begin, begin + count) of a tensor.
  struct Chunk {
    int tensor;
    int64_t begin, count;
  };

  /// The chunk of this block, by binary search.
  __device__ __forceinline__ Chunk of_block() const {
    const auto block = static_cast<int>(blockIdx.x);
    int tensor = 0;
    for (int end = num_tensors; end - tensor > 1;) {
      const int middle = (tensor + end) / 2;
      (first_chunk[middle] <= block ? tensor : end) = middle;
    }
    const int64_t begin = int64_t{block - first_chunk[tensor]} * chunk_size;
    const int64_t rest = numel[tensor] - begin;
    return {tensor, begin, rest < chunk_size ? rest : chunk_size};
  }

  static int64_t chunks_of(int64_t elements) { return (elements + chunk_size - 1) / chunk_size; }
  int num_chunks() const { return first_chunk[num_tensors]; }
  void clear() { num_tensors = first_chunk[0] = 0; }

  /// Adds a tensor of this many elements and returns its index. If the table is full, first calls
  /// launch() and clears the table.
  template <class Launch>
  int add(int64_t elements, const Launch& launch) {
    const int64_t chunks = chunks_of(elements);
    if (num_tensors == max_tensors || num_chunks() + chunks > INT32_MAX) {
      launch();
      clear();
    }
    const int i = num_tensors++;
    numel[i] = elements;
    first_chunk[i + 1] = first_chunk[i] + static_cast<int>(chunks);
    return i;
  }
};

}  // namespace hearth::cuda
