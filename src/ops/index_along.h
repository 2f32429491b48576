#pragma once

#include "ops/plain_args.h"

namespace hearth {

/// scatter and scatter_add: inputs self, index and src, the result like self.
void infer_scatter(const DimArgs& args, InferContext& context);

/// The gradient of their src, where input 1 (index) is saved.
Tensor gradient_of_source(const DimArgs& args, const GradContext& context);

}  // namespace hearth
