#include "ops/memory_order.h"

#include <algorithm>

namespace hearth {

namespace {

/// 1 if dimension a is outside b in memory, -1 if it is inside, 0 if the operands do not decide.
/// With equal strides only a larger `a` decides, as in PyTorch.
int compare_in_memory(IntArrayRef sizes, const Dims* strides, int num_operands, size_t a,
                      size_t b) {
  for (int i = 0; i < num_operands; ++i) {
    const int64_t x = strides[i][a], y = strides[i][b];
    if (x == 0 || y == 0) continue;
    if (x != y) return x > y ? 1 : -1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

Dims memory_order(IntArrayRef sizes, const Dims* strides, int num_operands) {
  Dims order = Dims::uninitialized(sizes.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = int64_t(order.size() - 1 - k);
  for (size_t k = 1; k < order.size(); ++k) {
    size_t position = k;
    for (size_t other = k; other-- > 0;) {
      const int outside = compare_in_memory(sizes, strides, num_operands, size_t(order[other]),
                                            size_t(order[position]));
      if (outside < 0) break;
      if (outside == 0) continue;
      std::swap(order[other], order[position]);
      position = other;
    }
  }
  return order;
}

Dims packed_strides(IntArrayRef sizes, const Dims* strides, int num_operands) {
  Dims packed = Dims::uninitialized(sizes.size());
  int64_t step = 1;
  for (const int64_t d : memory_order(sizes, strides, num_operands)) {
    packed[size_t(d)] = step;
    step *= std::max<int64_t>(sizes[size_t(d)], 1);
  }
  return packed;
}

bool any_noncontiguous(const InferContext& context) {
  for (int i = 0; i < context.inputs(); ++i)
    if (!context.in(i).contiguous()) return true;
  return false;
}

void keep_memory_order(InferContext::Output& out, const Dims* strides, int num_operands) {
  out.strides = packed_strides(out.sizes, strides, num_operands);
  out.has_strides = true;
}

}  // namespace hearth
