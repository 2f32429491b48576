// glu, a * sigmoid(b) of the two halves of the input, and its gradient. Each thread has one pair of
// a and b at a time. Bound by memory traffic: per pair two elements are read and one is written,
// backward three and two.
#include "seam/glu.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

struct GluArgs {
  int64_t numel;
  const char *a, *b, *g;  // g: grad_out, backward only
  char *first, *second;   // the result, or the gradients of a and of b
  Offsets<4> offsets;     // a and b, g, first, second
};

template <class T, bool backward>
__global__ void __launch_bounds__(kBlock) glu_kernel(const __grid_constant__ GluArgs args) {
  using C = Register<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[4];
    args.offsets.find(i, offsets);
    const C a = to_register(*reinterpret_cast<const T*>(args.a + offsets[0]));
    const C b = to_register(*reinterpret_cast<const T*>(args.b + offsets[0]));
    const C gate = C(1) / (C(1) + exp(-b));
    if constexpr (backward) {
      const C g = to_register(*reinterpret_cast<const T*>(args.g + offsets[1])) * gate;
      *reinterpret_cast<T*>(args.first + offsets[2]) = to_element<T>(g);
      *reinterpret_cast<T*>(args.second + offsets[3]) = to_element<T>(g * a * (C(1) - gate));
    } else {
      *reinterpret_cast<T*>(args.first + offsets[2]) = to_element<T>(a * gate);
    }
  }
}

GluArgs glu_args(const View& in, const View& g, const View& first, const View& second, int dim) {
  const View a = half_of(in, dim, 0), b = half_of(in, dim, 1);
  Loop loop(a.dim, a.sizes);
  for (const View* view : {&a, &g, &first, &second}) loop.add(*view);
  loop.merge();
  return {a.numel,          a.as<const char>(), b.as<const char>(), g.as<const char>(),
          first.as<char>(), second.as<char>(),  Offsets<4>(loop)};
}

template <bool backward>
void launch_glu(const GluArgs& args, ScalarType dtype, const Ctx& ctx) {
  if (args.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  const unsigned grid = grid_for(args.numel, stream);
  const auto start = [&](auto element) {
    glu_kernel<decltype(element), backward><<<grid, kBlock, 0, stream.stream>>>(args);
  };
  switch (dtype) {
    case kFloat: return start(float{});
    case kDouble: return start(double{});
    case kHalf: return start(Half{});
    case kBFloat16: return start(BFloat16{});
    default: detail::fail<Error>("\"glu\" not implemented for '", name_of(dtype), "'");
  }
}

}  // namespace

void run(const GluParams& params, Ctx& ctx) {
  launch_glu<false>(glu_args(params.in, params.out, params.out, params.out, params.dim),
                    params.in.dtype, ctx);
}

void run(const GluBackwardParams& params, Ctx& ctx) {
  const View first = half_of(params.grad_in, params.dim, 0),
             second = half_of(params.grad_in, params.dim, 1);
  launch_glu<true>(glu_args(params.in, params.grad_out, first, second, params.dim), params.in.dtype,
                   ctx);
}

}  // namespace hearth::cuda
