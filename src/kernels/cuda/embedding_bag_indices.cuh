#pragma once

#include "kernels/cuda/faults.cuh"
#include "kernels/cuda/stream.h"
#include "kernels/embedding_bag_indices.h"

namespace hearth::cuda {

/// Reads bags and reports their faults.
template <class I>
struct DeviceBags : BagIndices<I> {
  FaultSlot* faults;

  DeviceBags(const Bags& bags, const NativeStream& stream)
      : BagIndices<I>(bags), faults(stream.faults) {}

  /// Finds the range of bag b's indices; it is empty after a fault.
  __device__ void range(int64_t b, int64_t& begin, int64_t& end) const {
    if (this->find_range(b, begin, end)) return;
    report(faults, Fault::kBadBagOffset, begin, this->num_indices);
    begin = end = 0;
  }
  /// The row of index i; -1 if the row is padding or, which is a fault, outside the table.
  __device__ int64_t row(int64_t i) const {
    const int64_t index = this->indices[i];
    if (this->is_valid(i)) return index == this->padding ? -1 : index;
    report(faults, Fault::kBadBagIndex, index);
    return -1;
  }
};

/// Calls f(bags) with the type of the indices.
template <class F>
void with_bags(const Bags& bags, const NativeStream& stream, const F& f) {
  bags.indices.dtype == kInt ? f(DeviceBags<int32_t>(bags, stream))
                             : f(DeviceBags<int64_t>(bags, stream));
}

}  // namespace hearth::cuda
