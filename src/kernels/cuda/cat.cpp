// Concatenates tensors: one launch of a copy kernel (pointwise.cuh) per input, into its slice of
// the output. Bound by memory traffic or, for many small inputs, by the launches.
#include "seam/cat.h"

#include "kernels/cuda/loop.h"

namespace hearth::cuda {

void run(const CatParams& params, Ctx& ctx) {
  int64_t start = 0;
  const int64_t byte_stride =
      params.out.strides[params.dim] * static_cast<int64_t>(element_size(params.out.dtype));
  for (const View& in : params.in) {
    View slice = params.out;
    slice.data = params.out.as<char>() + start * byte_stride;
    slice.sizes[params.dim] = in.sizes[params.dim];
    slice.numel = in.numel;
    start += in.sizes[params.dim];
    if (in.numel > 0) run(copy_params(slice, in), ctx);
  }
}

}  // namespace hearth::cuda
