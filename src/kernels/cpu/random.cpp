// Fills tensors with random numbers or permutations. The threads divide the elements
// (random_bits.h); the permutations and the draws of normal numbers by a Mersenne twister run on
// one thread. Bound by the integer arithmetic of the generator, normal and exponential numbers also
// by logarithms, sines and cosines, permutations by random access or a sort.
#include "seam/random.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/cpu/random_bits.h"
#include "kernels/cpu/random_loops.h"

namespace hearth::cpu {

namespace {

/// PyTorch's normal_ fills contiguous tensors of at least this size in blocks of this size.
constexpr int64_t kNormalBlock = 16;

template <class T>
constexpr bool kIsFloating = is_floating_point(dtype_of<T>);

template <class Draw>
void convert(const Draw& draw, const typename Draw::Bits* bits, int64_t count, auto* to) {
  using T = std::remove_pointer_t<decltype(to)>;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(draw(bits[i]));
}

void convert(const UniformDraw<float>& draw, const Bits32* bits, int64_t count, float* to) {
  random_loops.uniform_float(bits, count, draw.from, draw.span, draw.high, to);
}

void convert(const UniformDraw<double>& draw, const Bits64* bits, int64_t count, double* to) {
  random_loops.uniform_double(bits, count, draw.from, draw.span, draw.high, to);
}

void convert(const BernoulliDraw<WordPair>& draw, const WordPair* bits, int64_t count, bool* to) {
  random_loops.below(words_of(bits), count, draw.threshold, to);
}

/// out[i] = draw(bits of element i).
template <class T, class Draw>
void fill(const RandomParams& params, const Draw& draw) {
  using Bits = typename Draw::Bits;
  const auto loop = draw_loop<1>(params.source, {&params.out});
  const int64_t stride = loop.inner_stride(0);
  T* out = params.out.as<T>();
  for_each_draw<Bits>(loop, params.source,
                      [&](const Bits* bits, const int64_t* offset, int64_t count) {
                        if (stride == 1) return convert(draw, bits, count, out + *offset);
                        T values[kDrawChunk];
                        convert(draw, bits, count, values);
                        for (int64_t i = 0; i < count; ++i) out[*offset + i * stride] = values[i];
                      });
}

template <class T>
void fill_integers(const RandomParams& params, uint64_t from, uint64_t range, bool has_wide_range) {
  if (has_wide_range)
    fill<T>(params, IntegerDraw<T, Bits64>{from, range});
  else
    fill<T>(params, IntegerDraw<T, Bits32>{from, range});
}

template <class T>
void random_int(const RandomParams& params) {
  const uint64_t from = static_cast<uint64_t>(params.from);
  const uint64_t range = static_cast<uint64_t>(params.to) - from;
  fill_integers<T>(params, from, range, range == 0 || range >= IntegerDraw<T, Bits64>::kWideRange);
}

template <class T>
void random_full(const RandomParams& params) {
  fill_integers<T>(params, 0, full_range<T>(), sizeof(T) == 8);
}

template <class T>
void bernoulli(const RandomParams& params) {
  if (params.source.mt)
    fill<T>(params, BernoulliDraw<WordPair>(params.a));
  else
    fill<T>(params, BernoulliDraw<Bits32>(params.a));
}

/// out[i] is 1 with probability probabilities[i]. P is the type of probabilities and drawn numbers.
template <class T, class P>
void bernoulli_tensor(const RandomParams& params, Ctx& ctx) {
  using Bits = typename DrawTypes<P>::Bits;
  const auto loop = draw_loop<2>(params.source, {&params.out, &params.probabilities});
  const int64_t out_stride = loop.inner_stride(0), p_stride = loop.inner_stride(1);
  const auto body = [&](const Bits* bits, const int64_t* offsets, int64_t count) {
    T* out = params.out.as<T>() + offsets[0];
    const P* probabilities = params.probabilities.as<P>() + offsets[1];
    for (int64_t i = 0; i < count; ++i) {
      const P p = probabilities[i * p_stride];
      if (!(p >= 0 && p <= 1)) ctx.faults()->report(Fault::kBadProbability);
      out[i * out_stride] = static_cast<T>(unit(bits[i]) < p);
    }
  };
  for_each_draw<Bits>(loop, params.source, body);
}

/// PyTorch's algorithm for fewer than 16 elements and for tensors that are not contiguous.
template <class T>
void normal_one_by_one(const RandomParams& params) {
  const auto loop = loop_in_memory_order<1>({&params.out});
  T* out = params.out.as<T>();
  loop.walk(0, loop.numel(), [&](const int64_t* offset, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      out[*offset + i * loop.inner_stride(0)] =
          static_cast<T>(fused(params.source.mt->normal(), params.b, params.a));
  });
}

/// Draws `count` uniform numbers from [0, 1).
template <class T>
void draw_units(Mt19937& mt, T* to, int64_t count) {
  using Bits = typename DrawTypes<T>::Bits;
  Bits bits[kDrawChunk];
  for (; count > 0; count -= kDrawChunk, to += kDrawChunk) {
    const int64_t chunk = std::min(count, kDrawChunk);
    mt_fill(mt, bits, chunk);
    convert(UniformDraw<T>(0, 1), bits, chunk, to);
  }
}

void normal_blocks(float* data, int64_t blocks, float mean, float deviation) {
  random_loops.normal(data, blocks, mean, deviation);
}

void normal_blocks(double* data, int64_t blocks, double mean, double deviation) {
  constexpr double kTwoPi = 6.283185307179586;
  constexpr int64_t half = kNormalBlock / 2;
  for (; blocks > 0; --blocks, data += kNormalBlock) {
    for (int64_t i = 0; i < half; ++i) {
      const double radius = std::sqrt(-2 * std::log(1 - data[i]));
      const double angle = kTwoPi * data[half + i];
      data[i] = fused(radius * std::cos(angle), deviation, mean);
      data[half + i] = fused(radius * std::sin(angle), deviation, mean);
    }
  }
}

/// For float and double: draws all uniform numbers, then transforms them in place. If the last
/// block is not full, the last 16 elements are drawn again.
template <class T>
void normal_in_place(const RandomParams& params) {
  T* out = params.out.as<T>();
  const int64_t numel = params.out.numel;
  const T mean = static_cast<T>(params.a), deviation = static_cast<T>(params.b);
  draw_units(*params.source.mt, out, numel);
  parallel_for(0, numel / kNormalBlock, kDrawGrain / kNormalBlock, [&](int64_t begin, int64_t end) {
    normal_blocks(out + begin * kNormalBlock, end - begin, mean, deviation);
  });
  if (numel % kNormalBlock == 0) return;
  T* last = out + numel - kNormalBlock;
  draw_units(*params.source.mt, last, kNormalBlock);
  normal_blocks(last, 1, mean, deviation);
}

/// For half types: computes block after block in float.
template <class T>
void normal_through_float(const RandomParams& params) {
  T* out = params.out.as<T>();
  const int64_t numel = params.out.numel;
  const float mean = static_cast<float>(params.a), deviation = static_cast<float>(params.b);
  for (int64_t done = 0; done < numel; done += kNormalBlock) {
    float block[kNormalBlock];
    draw_units(*params.source.mt, block, kNormalBlock);
    normal_blocks(block, 1, mean, deviation);
    std::copy_n(block, kNormalBlock, out + std::min(done, numel - kNormalBlock));
  }
}

template <class T>
void normal(const RandomParams& params) {
  if (!params.source.mt)
    fill<T>(params, NormalDraw<T>(params.a, params.b));
  else if (params.out.numel < kNormalBlock || !params.out.contiguous())
    normal_one_by_one<T>(params);
  else if constexpr (sizeof(T) == 2)
    normal_through_float<T>(params);
  else
    normal_in_place<T>(params);
}

/// A Fisher-Yates shuffle with PyTorch's draws.
void shuffle(const RandomParams& params) {
  const int64_t numel = params.out.numel;
  const int64_t stride = params.out.dim > 0 ? params.out.strides[0] : 1;
  int64_t* out = params.out.as<int64_t>();
  for (int64_t i = 0; i < numel; ++i) out[i * stride] = i;
  for (int64_t i = 0; i + 1 < numel; ++i) {
    const int64_t ahead = static_cast<int64_t>(params.source.mt->random()) % (numel - i);
    std::swap(out[i * stride], out[(i + ahead) * stride]);
  }
}

/// Writes the permutation that sorts random keys, as on GPUs, which can sort in parallel, but not
/// shuffle.
void sort_by_keys(const RandomParams& params, Ctx& ctx) {
  using Entry = std::pair<Bits64, int64_t>;
  const int64_t numel = params.out.numel;
  auto* entries = static_cast<Entry*>(ctx.scratch(static_cast<size_t>(numel) * sizeof(Entry)));
  const PhiloxKey key = philox_key(params.source);
  for (int64_t i = 0; i < numel; ++i)
    entries[i] = {philox_bits<Bits64>(key.seed, key.offset, uint64_t(i)), i};
  std::sort(entries, entries + numel);
  const int64_t stride = params.out.dim > 0 ? params.out.strides[0] : 1;
  for (int64_t i = 0; i < numel; ++i) params.out.as<int64_t>()[i * stride] = entries[i].second;
}

template <class T>
void draw_floating(const RandomParams& params) {
  switch (params.kind) {
    case RandomParams::Kind::kUniform: return fill<T>(params, UniformDraw<T>(params.a, params.b));
    case RandomParams::Kind::kNormal: return normal<T>(params);
    case RandomParams::Kind::kExponential: return fill<T>(params, ExponentialDraw<T>(params.a));
    default: return;
  }
}

template <class T>
void draw_any(const RandomParams& params, Ctx& ctx) {
  switch (params.kind) {
    case RandomParams::Kind::kRandomInt: return random_int<T>(params);
    case RandomParams::Kind::kRandom: return random_full<T>(params);
    case RandomParams::Kind::kBernoulli: return bernoulli<T>(params);
    case RandomParams::Kind::kBernoulliTensor:
      if (params.probabilities.dtype == kDouble) return bernoulli_tensor<T, double>(params, ctx);
      return bernoulli_tensor<T, float>(params, ctx);
    default:
      if constexpr (kIsFloating<T>) draw_floating<T>(params);
  }
}

}  // namespace

void run(const RandomParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  if (params.kind == RandomParams::Kind::kRandPerm)
    return params.source.mt ? shuffle(params) : sort_by_keys(params, ctx);
  with_dtype(params.out.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (!is_complex(dtype_of<T>)) draw_any<T>(params, ctx);
  });
}

}  // namespace hearth::cpu
