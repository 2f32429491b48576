#include "kernels/scan.h"

#include <type_traits>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/scan_math.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kGroup = 16;          // lines that are scanned at once
constexpr int64_t kChunk = 1 << 14;     // elements of a line that is cut up
constexpr int64_t kGrain = kMoveGrain;  // elements that are worth another thread

/// Floats are summed in double, half types in float.
template <class T>
using Accumulator = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float,
                                       std::conditional_t<std::is_same_v<T, float>, double, T>>;
template <class T>
using Same = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;

/// The operands of a scan at one place.
template <class T>
struct Place {
  const T* in;
  const T* factor;
  T* out;
  int64_t* indices;
};

/// One scan: lines along a dimension, in the direction in which they are walked.
template <class T, class A, class Op>
class Scan {
 public:
  explicit Scan(const ScanParams& params);
  void run(Ctx& ctx) const;

 private:
  using State = typename Op::State;
  /// Distances between neighbours.
  struct Step {
    int64_t in = 0, factor = 0, out = 0, indices = 0;
  };

  Place<T> moved(Place<T> at, Step step, int64_t n) const {
    return {at.in + n * step.in, at.factor ? at.factor + n * step.factor : nullptr,
            at.out + n * step.out, at.indices ? at.indices + n * step.indices : nullptr};
  }
  /// Scans `count` lines that are `apart` from each other; states are read and left behind.
  template <int64_t count, bool write>
  void scan_lines(Place<T> first, Step apart, int64_t n, int64_t position, State* states) const;
  void scan_some(Place<T> first, Step apart, int64_t count) const;
  void scan_cut(Place<T> line, Ctx& ctx) const;
  Step step_of(const int64_t* strides) const {
    return {strides[0], strides[1], strides[2], strides[3]};
  }

  int64_t n_;
  Place<T> start_;
  Step along_;
  StridedLoop<4> lines_;
};

template <class T, class A, class Op>
Scan<T, A, Op>::Scan(const ScanParams& params) {
  const bool number = params.in.dim == 0;
  const int d = params.dim;
  n_ = number ? 1 : params.in.sizes[d];
  const View& factor = params.factor.defined() ? params.factor : params.in;
  const View& indices = params.indices.defined() ? params.indices : params.out;
  start_ = {params.in.as<const T>(),
            params.factor.defined() ? params.factor.as<const T>() : nullptr, params.out.as<T>(),
            params.indices.defined() ? indices.as<int64_t>() : nullptr};
  if (!number)
    along_ = {params.in.strides[d], factor.strides[d], params.out.strides[d], indices.strides[d]};
  if (params.reverse) {
    start_ = moved(start_, along_, n_ - 1);
    along_ = {-along_.in, -along_.factor, -along_.out, -along_.indices};
  }
  View shape = params.in;
  if (!number) shape.sizes[d] = 1;
  lines_.dim = shape.dim;
  std::copy_n(shape.sizes, shape.dim, lines_.sizes);
  for (const View* view : {&params.in, &factor, &params.out, &indices}) lines_.add(view->strides);
  lines_.merge();
}

template <class T, class A, class Op>
template <int64_t count, bool write>
void Scan<T, A, Op>::scan_lines(Place<T> at, Step apart, int64_t n, int64_t position,
                                State* states) const {
  State state[count];
  std::copy_n(states, count, state);
  for (int64_t i = 0; i < n; ++i, at = moved(at, along_, 1)) {
    for (int64_t l = 0; l < count; ++l) {
      const A factor = at.factor ? A(at.factor[l * apart.factor]) : A(0);
      state[l] = Op::merge(state[l], Op::element(A(at.in[l * apart.in]), factor, position + i));
    }
    if constexpr (write) {
      for (int64_t l = 0; l < count; ++l) at.out[l * apart.out] = T(Op::value(state[l]));
      if (at.indices)
        for (int64_t l = 0; l < count; ++l) at.indices[l * apart.indices] = Op::index(state[l]);
    }
  }
  std::copy_n(state, count, states);
}

template <class T, class A, class Op>
void Scan<T, A, Op>::scan_some(Place<T> first, Step apart, int64_t count) const {
  State states[kGroup];
  for (; count >= kGroup; count -= kGroup, first = moved(first, apart, kGroup)) {
    std::fill_n(states, kGroup, Op::start());
    scan_lines<kGroup, true>(first, apart, n_, 0, states);
  }
  for (; count > 0; --count, first = moved(first, apart, 1)) {
    states[0] = Op::start();
    scan_lines<1, true>(first, apart, n_, 0, states);
  }
}

/// A long line in chunks: first their totals, then each from what came before it.
template <class T, class A, class Op>
void Scan<T, A, Op>::scan_cut(Place<T> line, Ctx& ctx) const {
  const int64_t chunks = (n_ + kChunk - 1) / kChunk;
  auto* totals = static_cast<State*>(ctx.scratch(size_t(chunks) * sizeof(State)));
  const auto scan_chunk = [&]<bool write>(std::bool_constant<write>, int64_t c) {
    const int64_t first = c * kChunk, count = std::min(kChunk, n_ - first);
    State state = write && c > 0 ? totals[c - 1] : Op::start();
    scan_lines<1, write>(moved(line, along_, first), {}, count, first, &state);
    if (!write) totals[c] = state;
  };
  parallel_blocks(chunks - 1, [&](int64_t c) { scan_chunk(std::false_type{}, c); });
  for (int64_t c = 1; c < chunks - 1; ++c) totals[c] = Op::merge(totals[c - 1], totals[c]);
  parallel_blocks(chunks, [&](int64_t c) { scan_chunk(std::true_type{}, c); });
}

template <class T, class A, class Op>
void Scan<T, A, Op>::run(Ctx& ctx) const {
  constexpr int64_t kFew = 4;
  const int64_t count = lines_.numel();
  const auto at = [this](const int64_t* offsets) { return moved(start_, step_of(offsets), 1); };
  if (count <= kFew && n_ >= 8 * kChunk) {
    lines_.walk(0, count, [&](const int64_t* offsets, int64_t run) {
      for (int64_t l = 0; l < run; ++l)
        scan_cut(moved(at(offsets),
                       {lines_.inner_stride(0), lines_.inner_stride(1), lines_.inner_stride(2),
                        lines_.inner_stride(3)},
                       l),
                 ctx);
    });
    return;
  }
  const Step apart{lines_.inner_stride(0), lines_.inner_stride(1), lines_.inner_stride(2),
                   lines_.inner_stride(3)};
  parallel_for(0, count, kGrain / n_ + 1, [&](int64_t begin, int64_t end) {
    lines_.walk(begin, end,
                [&](const int64_t* offsets, int64_t run) { scan_some(at(offsets), apart, run); });
  });
}

template <class T, class A, class Op>
void run_scan(const ScanParams& params, Ctx& ctx) {
  Scan<T, A, Op>(params).run(ctx);
}

template <class T>
void run_typed(const ScanParams& params, Ctx& ctx) {
  using A = Accumulator<T>;
  constexpr bool kComplex = requires(T x) { x.real_; };
  switch (params.kind) {
    case ScanKind::kSum: return run_scan<T, A, scan::Sum<A>>(params, ctx);
    case ScanKind::kProd: return run_scan<T, A, scan::Prod<A>>(params, ctx);
    case ScanKind::kLinear: return run_scan<T, A, scan::Linear<A>>(params, ctx);
    default: break;
  }
  if constexpr (!kComplex) {
    using S = Same<T>;
    if (params.kind == ScanKind::kMax) return run_scan<T, S, scan::Extreme<S, true>>(params, ctx);
    if (params.kind == ScanKind::kMin) return run_scan<T, S, scan::Extreme<S, false>>(params, ctx);
    if constexpr (!std::is_integral_v<T>) run_scan<T, A, scan::LogSumExp<A>>(params, ctx);
  }
}

}  // namespace

void run(const ScanParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_dtype(params.in.dtype, [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cpu
