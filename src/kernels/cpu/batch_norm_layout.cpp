// Chooses the order of elements in which batch norm computes, and copies tensors into it and back.
// The threads divide the elements; each run along the innermost dimension is converted at once.
// Bound by memory: one read and one write of each element, one of them with strides.
#include "kernels/cpu/batch_norm_layout.h"

#include "core/parallel_for.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/reduce_plan.h"
#include "seam/ctx.h"

namespace hearth::cpu {

BatchNormLayout::BatchNormLayout(const View& in)
    : channels_last_(true),
      batch_(in.sizes[0]),
      channels_(in.sizes[1]),
      plane_(1),
      compute_(in.dtype == kDouble ? kDouble : kFloat) {
  for (int d = 2; d < in.dim; ++d) plane_ *= in.sizes[d];
  // dense() checks the order with channels last, because channels_last_ is still true.
  channels_last_ = plane_ == 1 || (dense(in) && !in.contiguous());
}

/// Fills `order` with the dimensions from the outermost to the innermost.
void BatchNormLayout::order_of(int dim, int* order) const {
  for (int d = 0; d < dim; ++d) order[d] = d;
  if (!channels_last_) return;
  for (int d = 1; d + 1 < dim; ++d) order[d] = d + 1;
  order[dim - 1] = 1;
}

bool BatchNormLayout::dense(const View& view) const {
  int order[kMaxDims];
  order_of(view.dim, order);
  int64_t expected = 1;
  for (int k = view.dim - 1; k >= 0; --k) {
    const int d = order[k];
    if (view.sizes[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.sizes[d];
  }
  return true;
}

/// Calls f(position in the layout's order, offset in the view, stride, count) in parallel, for runs
/// that cover all elements.
template <class F>
void BatchNormLayout::for_runs(const View& view, const F& f) const {
  int order[kMaxDims];
  order_of(view.dim, order);
  ReduceDims dims;
  for (int k = 0; k < view.dim; ++k) {
    dims.sizes[k] = view.sizes[order[k]];
    dims.in[k] = view.strides[order[k]];
    dims.out[k] = 0;
  }
  dims.dim = view.dim;
  constexpr int64_t kLayoutGrain = 1 << 15;  // elements that are worth another thread
  parallel_for(0, numel(), kLayoutGrain, [&](int64_t begin, int64_t end) {
    int64_t position = begin;
    dims.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t n) {
      f(position, offset, dims.inner_in(), n);
      position += n;
    });
  });
}

BatchNormData BatchNormLayout::read(const View& view, Ctx& ctx) const {
  if (dense(view)) return {view.as<char>(), view.dtype};
  const int64_t to_size = int64_t(element_size(compute_)), size = int64_t(element_size(view.dtype));
  char* const copy = static_cast<char*>(ctx.scratch(size_t(numel() * to_size)));
  const StridedConvert convert(view.dtype, compute_);
  for_runs(view, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    convert(view.as<const char>() + offset * size, stride, copy + position * to_size, 1, n);
  });
  return {copy, compute_};
}

BatchNormData BatchNormLayout::prepare_write(const View& view, Ctx& ctx) const {
  if (dense(view)) return {view.as<char>(), view.dtype};
  return {static_cast<char*>(ctx.scratch(size_t(numel()) * element_size(compute_))), compute_};
}

void BatchNormLayout::write_back(const BatchNormData& from, const View& view) const {
  if (from.data == view.data) return;
  const int64_t from_size = int64_t(element_size(compute_)),
                size = int64_t(element_size(view.dtype));
  const StridedConvert convert(compute_, view.dtype);
  for_runs(view, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    convert(from.data + position * from_size, 1, view.as<char>() + offset * size, stride, n);
  });
}

}  // namespace hearth::cpu
