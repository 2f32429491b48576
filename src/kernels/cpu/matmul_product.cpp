// Operands of matrix products: views as batches of matrices that BLAS can read.
#include "kernels/cpu/matmul_product.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/strided.h"

namespace hearth::cpu {

View as_batch(const View& view) {
  View result = view;
  if (view.dim == 3) return result;
  result.dim = 3;
  result.sizes[0] = 1;
  result.strides[0] = 0;
  std::copy_n(view.sizes, 2, result.sizes + 1);
  std::copy_n(view.strides, 2, result.strides + 1);
  return result;
}

View transposed(View view) {
  std::swap(view.sizes[1], view.sizes[2]);
  std::swap(view.strides[1], view.strides[2]);
  return view;
}

View first_of_broadcast(View view) {
  if (view.strides[0] != 0 || view.sizes[0] <= 1) return view;
  view.numel /= view.sizes[0];
  view.sizes[0] = 1;
  return view;
}

View contiguous_like(const View& view, ScalarType dtype) {
  View result = first_of_broadcast(view);
  result.dtype = dtype;
  result.strides[2] = 1;
  result.strides[1] = view.sizes[2];
  result.strides[0] = view.sizes[1] * view.sizes[2];
  return result;
}

View scratch_like(const View& view, ScalarType dtype, Ctx& ctx) {
  View result = contiguous_like(view, dtype);
  result.data = ctx.scratch(size_t(result.numel) * element_size(dtype));
  return result;
}

View broadcast(View one, int64_t batch) {
  if (one.sizes[0] == batch) return one;
  one.numel *= batch;
  one.sizes[0] = batch;
  one.strides[0] = 0;
  return one;
}

bool as_operand(const View& view, GemmOperand& operand) {
  const int64_t rows = view.sizes[1], columns = view.sizes[2];
  const int64_t row_stride = view.strides[1], column_stride = view.strides[2];
  operand.data = view.data;
  if ((column_stride == 1 || columns == 1) && (rows == 1 || row_stride >= columns)) {
    operand.transposed = false;
    operand.ld = rows == 1 ? columns : row_stride;
    return true;
  }
  operand.transposed = true;
  operand.ld = columns == 1 ? rows : column_stride;
  return (row_stride == 1 || rows == 1) && (columns == 1 || column_stride >= rows);
}

View readable(const View& view, Ctx& ctx) {
  GemmOperand operand;
  if (as_operand(view, operand)) return view;
  const View packed = scratch_like(view, view.dtype, ctx);
  copy(first_of_broadcast(view), packed, ctx);
  return broadcast(packed, view.sizes[0]);
}

}  // namespace hearth::cpu
