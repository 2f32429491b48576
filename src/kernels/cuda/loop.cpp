#include "kernels/cuda/loop.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "functors/arithmetic.h"

namespace hearth::cuda {

namespace {

void copy_dim(Loop& loop, int to, const Loop& from_loop, int from) {
  loop.sizes[to] = from_loop.sizes[from];
  std::copy_n(from_loop.byte_strides[from], from_loop.operands, loop.byte_strides[to]);
}

void swap_dims(Loop& loop, int a, int b) {
  std::swap(loop.sizes[a], loop.sizes[b]);
  std::swap_ranges(loop.byte_strides[a], loop.byte_strides[a] + loop.operands,
                   loop.byte_strides[b]);
}

/// Whether dimensions `outer` and `inner` have a common stride in every operand.
bool can_merge(const Loop& loop, int outer, int inner) {
  for (int k = 0; k < loop.operands; ++k)
    if (loop.byte_strides[outer][k] != loop.byte_strides[inner][k] * loop.sizes[inner])
      return false;
  return true;
}

Operand operand_of(const View& view) {
  Operand operand;
  operand.data = view.data;
  operand.dtype = view.dtype;
  return operand;
}

}  // namespace

Loop::Loop(int num_dims, const int64_t* dim_sizes) : dim(num_dims) {
  std::copy_n(dim_sizes, num_dims, sizes);
}

int64_t Loop::numel() const {
  int64_t count = 1;
  for (int d = 0; d < dim; ++d) count *= sizes[d];
  return count;
}

void Loop::add(const int64_t* strides, size_t element_bytes) {
  for (int d = 0; d < dim; ++d)
    byte_strides[d][operands] = strides[d] * static_cast<int64_t>(element_bytes);
  ++operands;
}

void Loop::sort() {
  // Compares the strides of the first operand in which they differ.
  const auto comes_later = [this](int a, int b) {
    for (int k = 0; k < operands; ++k) {
      const int64_t left = std::abs(byte_strides[a][k]), right = std::abs(byte_strides[b][k]);
      if (left != right) return left < right;
    }
    return false;
  };
  for (int d = 1; d < dim; ++d)
    for (int e = d; e > 0 && comes_later(e - 1, e); --e) swap_dims(*this, e - 1, e);
  merge();
}

void Loop::merge() {
  int last = -1;
  for (int d = 0; d < dim; ++d) {
    if (sizes[d] == 1) continue;
    if (last >= 0 && can_merge(*this, last, d)) {
      const int64_t outer = sizes[last];
      copy_dim(*this, last, *this, d);
      sizes[last] *= outer;
    } else {
      copy_dim(*this, ++last, *this, d);
    }
  }
  dim = last + 1;
}

Loop select_dims(const Loop& loop, const bool* keep, bool inverse) {
  Loop result;
  result.operands = loop.operands;
  for (int d = 0; d < loop.dim; ++d)
    if (keep[d] != inverse) copy_dim(result, result.dim++, loop, d);
  return result;
}

PointwiseParams copy_params(const View& to, const View& from) {
  Loop loop(to.dim, to.sizes);
  loop.add(to);
  loop.add(from);
  loop.sort();
  PointwiseParams params;
  params.functor = fn::number_of<fn::Copy>;
  params.inputs = 1;
  params.compute = from.dtype;
  params.dim = static_cast<int8_t>(loop.dim);
  params.numel = loop.numel();
  params.out = operand_of(to);
  params.in[0] = operand_of(from);
  for (int d = 0; d < loop.dim; ++d) {
    params.sizes[d] = loop.sizes[d];
    params.out.strides[d] = loop.byte_strides[d][0] / static_cast<int64_t>(element_size(to.dtype));
    params.in[0].strides[d] =
        loop.byte_strides[d][1] / static_cast<int64_t>(element_size(from.dtype));
  }
  return params;
}

Operand number_operand(double value) {
  Operand operand;
  operand.dtype = kDouble;
  operand.is_number = true;
  std::fill_n(operand.strides, kMaxDims, 0);
  std::memcpy(operand.number, &value, sizeof(value));
  return operand;
}

}  // namespace hearth::cuda
