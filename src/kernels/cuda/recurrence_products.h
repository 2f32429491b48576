#pragma once

// Matrices of recurrent layers, and their products.

#include "core/backends.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"
#include "seam/matmul.h"
#include "seam/view.h"

namespace hearth::cuda {

/// A view of rows of a matrix whose rows are `stride` elements apart.
template <class T>
View matrix_view(const T* data, int64_t rows, int64_t columns, int64_t stride) {
  View view;
  view.data = const_cast<T*>(data);
  view.dtype = dtype_of<T>;
  view.dim = 2;
  view.numel = rows * columns;
  view.sizes[0] = rows;
  view.sizes[1] = columns;
  view.strides[0] = stride;
  view.strides[1] = 1;
  return view;
}
template <class T>
View matrix_view(const T* data, int64_t rows, int64_t columns) {
  return matrix_view(data, rows, columns, columns);
}

inline View transposed_matrix(View view) {
  std::swap(view.sizes[0], view.sizes[1]);
  std::swap(view.strides[0], view.strides[1]);
  return view;
}

/// out = a @ b or, with `add`, out += a @ b. The product's scratch memory is free again for the
/// next product.
inline void multiply(const View& a, const View& b, const View& out, bool add, Ctx& ctx) {
  MatmulParams params;
  params.a = a;
  params.b = b;
  params.out = out;
  if (add) params.c = out;
  Ctx own(ctx.backend(), ctx.device(), ctx.stream(), ctx.faults(), ctx.numerics());
  run(params, own);
}

template <class T>
void copy_elements(T* to, const T* from, int64_t count, const NativeStream& stream) {
  if (count > 0)
    HEARTH_CUDA(cudaMemcpyAsync(to, from, size_t(count) * sizeof(T), cudaMemcpyDeviceToDevice,
                                stream.stream));
}

}  // namespace hearth::cuda
