// Ops that return a view of a part (a window) of a tensor. Each has a static function `narrow` that
// both infer and the derivative use. Also functions that change a View.
#pragma once

#include <algorithm>

#include "ops/copy.h"
#include "ops/define.h"
#include "ops/view_shape.h"

namespace hearth {

/// The derivative of a window: zeros of the input's sizes, with the gradient written to the window.
template <class ViewOp>
struct IntoZeros {
  struct Args {
    typename ViewOp::Args view;
    Dims sizes;
    HEARTH_FIELDS(view, sizes)
  };
  static constexpr OpInfo info{.name = ViewOp::kBackwardName,
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, args.sizes, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View out = context.out();
    run_fill(context.ctx, out, 0);
    View window = out;
    ViewOp::narrow(args.view, window);
    run_copy(context.ctx, window, context.in(0));
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<ViewOp>(args.view, context.grad()).call());
  }
};

/// The geometry of a tensor as a View without memory, for infer.
inline View geometry_of(const TensorImpl& impl) {
  View view;
  view.dtype = impl.dtype;
  view.dim = impl.dim;
  view.numel = impl.numel;
  std::copy_n(impl.sizes_data(), impl.dim, view.sizes);
  std::copy_n(impl.strides_data(), impl.dim, view.strides);
  return view;
}

/// infer and grad of a view op whose function `narrow` turns the input's View into the output's and
/// returns the offset.
template <class Op>
void infer_window(const typename Op::Args& args, InferContext& context, int output = 0) {
  View view = geometry_of(context.in(0));
  const int64_t offset = Op::narrow(args, view);
  set_view(context, Dims(IntArrayRef(view.sizes, size_t(view.dim))),
           Dims(IntArrayRef(view.strides, size_t(view.dim))), offset, output);
}

template <class Op>
void grad_of_window(const typename Op::Args& args, GradContext& context) {
  context.set(0, invoke<IntoZeros<Op>>({args, Dims(context.in_sizes(0))}, context.grad()).call());
}

/// Moves the first element of the view by `elements`, and returns that number.
inline int64_t advance(View& view, int64_t elements) {
  if (view.data) view.data = view.as<char>() + elements * int64_t(element_size(view.dtype));
  return elements;
}

inline void update_numel(View& view) {
  view.numel = 1;
  for (int d = 0; d < view.dim; ++d) view.numel *= view.sizes[d];
}

/// Removes a dimension of a View.
inline void remove_dim(View& view, int dim) {
  for (int d = dim + 1; d < view.dim; ++d) {
    view.sizes[d - 1] = view.sizes[d];
    view.strides[d - 1] = view.strides[d];
  }
  --view.dim;
}

/// Returns the part [start, start + length) of dimension dim of a View.
inline View narrowed(View view, int64_t dim, int64_t start, int64_t length) {
  advance(view, start * view.strides[dim]);
  view.sizes[dim] = length;
  update_numel(view);
  return view;
}

}  // namespace hearth
