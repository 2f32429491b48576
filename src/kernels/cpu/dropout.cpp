// Draws the mask of dropout, and multiplies kept elements by 1 / (1 - p), the others by 0. The
// threads divide the elements, in chunks of up to 1248, whose bits stay in the L1 cache. Most
// instructions draw the bits: for each element two words of a Mersenne twister, or one of Philox.
// Contiguous floats use the twister's words in vectors.
#include "seam/dropout.h"

#include <type_traits>

#include "kernels/cpu/random_bits.h"
#include "kernels/cpu/random_loops.h"

namespace hearth::cpu {

namespace {

/// 1 / (1 - p), rounded as in PyTorch; 0 for p = 1, which keeps no element.
template <class T>
T dropout_scale(double p) {
  using Compute = typename DrawTypes<T>::Compute;
  return p == 1 ? T(0) : static_cast<T>(1 / static_cast<Compute>(1 - p));
}

template <class T, class Bits>
void dropout(const DropoutParams& params) {
  using Compute = typename DrawTypes<T>::Compute;
  const auto loop = draw_loop<3>(params.source, {&params.mask, &params.in, &params.out});
  const BernoulliDraw<Bits> keep(1 - params.p);
  const Compute scale = dropout_scale<T>(params.p);
  const int64_t mask_stride = loop.inner_stride(0);
  const int64_t in_stride = loop.inner_stride(1);
  const int64_t out_stride = loop.inner_stride(2);
  for_each_draw<Bits>(
      loop, params.source, [&](const Bits* bits, const int64_t* offsets, int64_t count) {
        bool* mask = params.mask.as<bool>() + offsets[0];
        const T* in = params.in.as<T>() + offsets[1];
        T* out = params.out.as<T>() + offsets[2];
        if constexpr (std::is_same_v<T, float> && std::is_same_v<Bits, WordPair>)
          if (mask_stride == 1 && in_stride == 1 && out_stride == 1)
            return random_loops.dropout(words_of(bits), count, keep.threshold, scale, in, mask,
                                        out);
        for (int64_t i = 0; i < count; ++i) {
          const bool kept = keep(bits[i]);
          mask[i * mask_stride] = kept;
          // Dropped elements are multiplied by zero, so that signs, NaN and infinities take effect.
          out[i * out_stride] =
              static_cast<T>(static_cast<Compute>(in[i * in_stride]) * (kept ? scale : Compute(0)));
        }
      });
}

}  // namespace

void run(const DropoutParams& params, Ctx&) {
  with_dtype(params.in.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (is_floating_point(dtype_of<T>)) {
      if (params.source.mt)
        dropout<T, WordPair>(params);
      else
        dropout<T, Bits32>(params);
    }
  });
}

}  // namespace hearth::cpu
