#include "seam/scan.h"

#include <type_traits>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/scan_math.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kGroup = 4;  // lines that are scanned at once: more meet in the cache's sets
constexpr int64_t kChunk = 1 << 14;     // elements of a line that is cut up
constexpr int64_t kGrain = kMoveGrain;  // elements that are worth another thread

/// Floats are summed in double, half types in float.
template <class T>
using Accumulator = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float,
                                       std::conditional_t<std::is_same_v<T, float>, double, T>>;
template <class T>
using Same = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;

/// The operands of a scan at one place; factor and indices may be null.
struct Place {
  const char* in;
  const char* factor;
  char* out;
  int64_t* indices;
};

/// Distances between neighbours, in elements.
struct Step {
  int64_t in = 0, factor = 0, out = 0, indices = 0;
};

/// `count` lines of `n` elements, in the direction in which they are walked.
struct Lines {
  Place first;
  Step along, apart;
  int64_t n, count;
  int64_t element_size;

  Place moved(Place at, Step step, int64_t steps) const {
    return {at.in + steps * step.in * element_size,
            at.factor ? at.factor + steps * step.factor * element_size : nullptr,
            at.out + steps * step.out * element_size,
            at.indices ? at.indices + steps * step.indices : nullptr};
  }
  int64_t chunks() const { return (n + kChunk - 1) / kChunk; }
};

/// What is compiled for each dtype and kind; the rest is not.
struct ScanCode {
  size_t element_size, state_size;
  void (*lines)(const Lines&);
  /// A line in chunks: first their totals, then those of all that comes before, then each chunk.
  void (*chunk_total)(const Lines&, int64_t chunk, void* totals);
  void (*join_totals)(int64_t chunks, void* totals);
  void (*chunk)(const Lines&, int64_t chunk, const void* totals);
};

template <class T, class A, class Op>
struct CodeOf {
  using State = typename Op::State;
  static constexpr bool kHasFactor = std::is_same_v<Op, scan::Linear<A>>;

  /// Scans `count` lines from a position on; states are read and left behind.
  template <int64_t count, bool write>
  static void scan(const Lines& lines, Place at, int64_t n, int64_t position, State* states) {
    const Step apart = lines.apart;
    State state[count];
    std::copy_n(states, count, state);
    for (int64_t i = 0; i < n; ++i, at = lines.moved(at, lines.along, 1)) {
      const T* in = reinterpret_cast<const T*>(at.in);
      const T* factors = reinterpret_cast<const T*>(at.factor);
      for (int64_t l = 0; l < count; ++l) {
        A factor(0);
        if constexpr (kHasFactor) factor = A(factors[l * apart.factor]);
        state[l] = Op::merge(state[l], Op::element(A(in[l * apart.in]), factor, position + i));
      }
      if constexpr (write) {
        T* out = reinterpret_cast<T*>(at.out);
        for (int64_t l = 0; l < count; ++l) out[l * apart.out] = T(Op::value(state[l]));
        if (at.indices)
          for (int64_t l = 0; l < count; ++l) at.indices[l * apart.indices] = Op::index(state[l]);
      }
    }
    std::copy_n(state, count, states);
  }

  static void scan_lines(const Lines& lines) {
    State states[kGroup];
    Place at = lines.first;
    int64_t left = lines.count;
    for (; left >= kGroup; left -= kGroup, at = lines.moved(at, lines.apart, kGroup)) {
      std::fill_n(states, kGroup, Op::start());
      scan<kGroup, true>(lines, at, lines.n, 0, states);
    }
    for (; left > 0; --left, at = lines.moved(at, lines.apart, 1)) {
      states[0] = Op::start();
      scan<1, true>(lines, at, lines.n, 0, states);
    }
  }

  template <bool write>
  static void scan_chunk(const Lines& lines, int64_t chunk, State* state) {
    const int64_t first = chunk * kChunk, count = std::min(kChunk, lines.n - first);
    scan<1, write>(lines, lines.moved(lines.first, lines.along, first), count, first, state);
  }
  static void chunk_total(const Lines& lines, int64_t chunk, void* totals) {
    State state = Op::start();
    scan_chunk<false>(lines, chunk, &state);
    static_cast<State*>(totals)[chunk] = state;
  }
  static void join_totals(int64_t chunks, void* totals) {
    auto* states = static_cast<State*>(totals);
    for (int64_t c = 1; c < chunks; ++c) states[c] = Op::merge(states[c - 1], states[c]);
  }
  static void chunk(const Lines& lines, int64_t chunk, const void* totals) {
    State state = chunk > 0 ? static_cast<const State*>(totals)[chunk - 1] : Op::start();
    scan_chunk<true>(lines, chunk, &state);
  }

  static constexpr ScanCode kCode{sizeof(T),   sizeof(State), scan_lines,
                                  chunk_total, join_totals,   chunk};
};

/// Null for what a dtype cannot do.
template <class T>
const ScanCode* code_for(ScanKind kind) {
  using A = Accumulator<T>;
  constexpr bool kComplex = requires(T x) { x.real_; };
  switch (kind) {
    case ScanKind::kSum: return &CodeOf<T, A, scan::Sum<A>>::kCode;
    case ScanKind::kProd: return &CodeOf<T, A, scan::Prod<A>>::kCode;
    case ScanKind::kLinear: return &CodeOf<T, A, scan::Linear<A>>::kCode;
    default: break;
  }
  if constexpr (!kComplex) {
    using S = Same<T>;
    if (kind == ScanKind::kMax) return &CodeOf<T, S, scan::Extreme<S, true>>::kCode;
    if (kind == ScanKind::kMin) return &CodeOf<T, S, scan::Extreme<S, false>>::kCode;
    if constexpr (!std::is_integral_v<T>) return &CodeOf<T, A, scan::LogSumExp<A>>::kCode;
  }
  return nullptr;
}

Step step_of(const int64_t* strides) { return {strides[0], strides[1], strides[2], strides[3]}; }

/// One scan: lines along a dimension.
class Scan {
 public:
  Scan(const ScanParams& params, const ScanCode& code);
  void run(Ctx& ctx) const;

 private:
  void scan_cut(const Lines& line, Ctx& ctx) const;

  const ScanCode& code_;
  Lines line_;  // the first
  StridedLoop<4> lines_;
};

Scan::Scan(const ScanParams& params, const ScanCode& code) : code_(code) {
  const bool number = params.in.dim == 0;
  const int d = params.dim;
  const View& factor = params.factor.defined() ? params.factor : params.in;
  const View& indices = params.indices.defined() ? params.indices : params.out;
  line_.n = number ? 1 : params.in.sizes[d];
  line_.count = 1;
  line_.element_size = int64_t(code.element_size);
  line_.first = {params.in.as<const char>(),
                 params.factor.defined() ? params.factor.as<const char>() : nullptr,
                 params.out.as<char>(), params.indices.defined() ? indices.as<int64_t>() : nullptr};
  if (!number)
    line_.along = {params.in.strides[d], factor.strides[d], params.out.strides[d],
                   indices.strides[d]};
  if (params.reverse) {
    Step& along = line_.along;
    line_.first = line_.moved(line_.first, along, line_.n - 1);
    along = {-along.in, -along.factor, -along.out, -along.indices};
  }
  View shape = params.in;
  if (!number) shape.sizes[d] = 1;
  lines_.dim = shape.dim;
  std::copy_n(shape.sizes, shape.dim, lines_.sizes);
  for (const View* view : {&params.in, &factor, &params.out, &indices}) lines_.add(view->strides);
  lines_.merge();
  const int64_t apart[] = {lines_.inner_stride(0), lines_.inner_stride(1), lines_.inner_stride(2),
                           lines_.inner_stride(3)};
  line_.apart = step_of(apart);
}

void Scan::scan_cut(const Lines& line, Ctx& ctx) const {
  const int64_t chunks = line.chunks();
  void* totals = ctx.scratch(size_t(chunks) * code_.state_size);
  parallel_blocks(chunks - 1, [&](int64_t c) { code_.chunk_total(line, c, totals); });
  code_.join_totals(chunks - 1, totals);
  parallel_blocks(chunks, [&](int64_t c) { code_.chunk(line, c, totals); });
}

void Scan::run(Ctx& ctx) const {
  constexpr int64_t kFew = 4;
  const int64_t count = lines_.numel(), n = line_.n;
  const bool cut = count <= kFew && n >= 8 * kChunk;
  const auto scan = [&](const int64_t* offsets, int64_t run) {
    Lines lines = line_;
    lines.first = line_.moved(line_.first, step_of(offsets), 1);
    lines.count = run;
    if (!cut) return code_.lines(lines);
    for (; lines.count > 0; --lines.count, lines.first = lines.moved(lines.first, lines.apart, 1))
      scan_cut(lines, ctx);
  };
  if (cut) return lines_.walk(0, count, scan);
  parallel_for(0, count, kGrain / n + 1,
               [&](int64_t begin, int64_t end) { lines_.walk(begin, end, scan); });
}

}  // namespace

void run(const ScanParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_dtype(params.in.dtype, [&](auto element) {
    if (const ScanCode* code = code_for<decltype(element)>(params.kind))
      Scan(params, *code).run(ctx);
  });
}

}  // namespace hearth::cpu
