#pragma once

#include "hearth/context.h"
#include "ops/call.h"
#include "ops/copy.h"
#include "ops/gather.h"
#include "seam/scatter.h"

namespace hearth {

/// Combines the elements of src with the elements of self at index. Inputs: self, index, src.
template <const OpInfo& op_info, Combine combine, class Arguments = DimArgs>
struct ScatterOp {
  using Args = Arguments;
  static constexpr OpInfo info = op_info;
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &self = context.in(0), &index = context.in(1), &src = context.in(2);
    check_index("scatter", index);
    HEARTH_CHECK(self.dtype == src.dtype,
                 "scatter(): Expected self.dtype to be equal to src.dtype");
    if (index.numel > 0) {
      check_same_dims("scatter_add", index, self, "self");
      check_same_dims("scatter_add", index, src, "src");
      HEARTH_CHECK(
          first_larger_dim(index, self, args.dim) < 0 && first_larger_dim(index, src, -1) < 0,
          "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
          " apart from dimension ", args.dim, " and to be no larger size than src ", src.sizes());
    }
    context.set(0, self.sizes(), self.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    copy_self_to_out(context);
    if (context.in(1).numel > 0)
      run_kernel(context.ctx,
                 ScatterParams{context.out(), context.in(1), context.in(2), int(args.dim), combine,
                               are_deterministic_algorithms_enabled()});
  }
};

}  // namespace hearth
