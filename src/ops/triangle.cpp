#include "seam/triangle.h"

#include <algorithm>

#include "ops/define.h"

namespace hearth {

namespace {

/// tril and triu.
template <const OpInfo& op_info, bool upper>
struct Triangle {
  struct Args {
    int64_t diagonal;
    HEARTH_FIELDS(diagonal)
  };
  static constexpr OpInfo info = op_info;
  static void infer(const Args&, InferContext& context) {
    HEARTH_CHECK(context.in(0).dim >= 2, op_info.name,
                 ": input tensor must have at least 2 dimensions");
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    TriangleParams params{context.in(0), context.out(), args.diagonal, upper};
    const int last = params.out.dim - 1;
    params.diagonal =
        std::clamp(args.diagonal, -params.out.sizes[last - 1], params.out.sizes[last]);
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<Triangle>(args, context.grad()).call());
  }
};
constexpr OpInfo kTril{
    .name = "tril", .runs_inplace = true, .complex_grad = ComplexGrad::kAnalytic};
constexpr OpInfo kTriu{
    .name = "triu", .runs_inplace = true, .complex_grad = ComplexGrad::kAnalytic};

/// The coordinates of a triangle's elements, row by row.
Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, const TensorOptions& options,
                        bool upper) {
  HEARTH_CHECK(rows >= 0, "row must be non-negative, got", rows);
  HEARTH_CHECK(columns >= 0, "col must be non-negative, got", columns);
  const Tensor full_mask = ones({rows, columns}, options.dtype(kBool).requires_grad(false));
  const Tensor indices = (upper ? full_mask.triu(offset) : full_mask.tril(offset)).nonzero();
  return indices.t().contiguous().to(options.dtype_opt().value_or(kLong));
}

}  // namespace

HEARTH_DEFINE_ALL_FORMS(tril, (int64_t diagonal), invoke<Triangle<kTril, false>>({diagonal}, self))
HEARTH_DEFINE_ALL_FORMS(triu, (int64_t diagonal), invoke<Triangle<kTriu, true>>({diagonal}, self))

namespace by_name {

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices(row, col, offset, options, false);
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices(row, col, offset, options, true);
}

}  // namespace by_name

}  // namespace hearth
