// Scans along a dimension, each line of elements by itself. The threads divide the lines, and each
// scans four at once; if there are at most four lines, long ones are cut into chunks, whose totals
// are computed first. Bound by the latency of the arithmetic and, for large arrays, by memory.
#include "seam/scan.h"

#include <type_traits>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/scan_math.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kGroup = 4;  // lines scanned at once; more would conflict in the cache's sets
constexpr int64_t kChunk = 1 << 12;         // elements of a chunk of a long line
constexpr int64_t kScanGrain = kMoveGrain;  // up to this many elements run on one thread

/// Float is accumulated in double, half types in float, other types in their own.
template <class T>
using Accumulator = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float,
                                       std::conditional_t<std::is_same_v<T, float>, double, T>>;
/// Elements are compared in their own type, but half types in float.
template <class T>
using Compared = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;

/// Pointers to one element of every operand of a scan; factor and indices may be null.
struct Pointers {
  const char* in;
  const char* factor;
  char* out;
  int64_t* indices;
};

/// The strides of every operand, in elements.
struct Strides {
  int64_t in = 0, factor = 0, out = 0, indices = 0;
};

/// `count` lines of `n` elements, in the direction of the scan: `along` has the strides within a
/// line, `apart` those between lines.
struct ScanLines {
  Pointers first;
  Strides along, apart;
  int64_t n, count;
  int64_t element_size;
  int64_t position = 0, position_step = 0;  // of the first line's start; from line to line

  Pointers moved(Pointers p, Strides step, int64_t steps) const {
    return {p.in + steps * step.in * element_size,
            p.factor ? p.factor + steps * step.factor * element_size : nullptr,
            p.out + steps * step.out * element_size,
            p.indices ? p.indices + steps * step.indices : nullptr};
  }
  int64_t chunks() const { return (n + kChunk - 1) / kChunk; }
  /// Returns `group_size` chunks of one length, from number `chunk` on, as lines.
  ScanLines group(int64_t chunk, int64_t group_size) const {
    ScanLines result = *this;
    result.first = moved(first, along, chunk * kChunk);
    result.apart = {along.in * kChunk, along.factor * kChunk, along.out * kChunk,
                    along.indices * kChunk};
    result.n = std::min(kChunk, n - chunk * kChunk);
    result.count = group_size;
    result.position = chunk * kChunk;
    result.position_step = kChunk;
    return result;
  }
};

/// The loops of one kind of scan in one dtype; the remaining code is common to all scans.
struct ScanLoops {
  size_t element_size, state_size;
  void (*lines)(const ScanLines&);
  /// A line in chunks takes three steps: the total of each chunk, the totals up to each chunk, and
  /// the scan of each chunk. The first and the last step take up to kGroup chunks of equal length,
  /// from number `first` on.
  void (*chunk_totals)(const ScanLines& chunks, int64_t first, void* totals);
  void (*scan_totals)(int64_t chunks, void* totals);
  void (*chunks)(const ScanLines& chunks, int64_t first, const void* totals);
};

template <class T, class A, class Op>
struct ScanLoopsOf {
  using State = typename Op::State;
  static constexpr bool kHasFactor = std::is_same_v<Op, scan::Linear<A>>;
  static constexpr bool kHasIndices = requires(State state) { state.index; };

  /// Scans `count` lines: updates their states and, if `write`, writes the results.
  template <int64_t count, bool write>
  static void scan(const ScanLines& lines, const Pointers& pointers, State* states) {
    const auto* in = reinterpret_cast<const T*>(pointers.in);
    const auto* factors = reinterpret_cast<const T*>(pointers.factor);
    auto* out = reinterpret_cast<T*>(pointers.out);
    int64_t* indices = pointers.indices;
    const Strides along = lines.along, apart = lines.apart;
    const int64_t n = lines.n, position = lines.position, position_step = lines.position_step;
    State state[count];
    for (int64_t l = 0; l < count; ++l) state[l] = states[l];
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 4  // kGroup: keeps the states in registers
      for (int64_t l = 0; l < count; ++l) {
        A factor(0);
        if constexpr (kHasFactor) factor = A(factors[i * along.factor + l * apart.factor]);
        const A x(in[i * along.in + l * apart.in]);
        state[l] = Op::merge(state[l], Op::element(x, factor, position + l * position_step + i));
        if constexpr (write) {
          out[i * along.out + l * apart.out] = T(Op::value(state[l]));
          if constexpr (kHasIndices)
            if (indices) indices[i * along.indices + l * apart.indices] = Op::index(state[l]);
        }
      }
    }
    for (int64_t l = 0; l < count; ++l) states[l] = state[l];
  }

  static void scan_lines(const ScanLines& lines) {
    State states[kGroup];
    Pointers pointers = lines.first;
    int64_t remaining = lines.count;
    for (; remaining >= kGroup;
         remaining -= kGroup, pointers = lines.moved(pointers, lines.apart, kGroup)) {
      std::fill_n(states, kGroup, Op::start());
      scan<kGroup, true>(lines, pointers, states);
    }
    for (; remaining > 0; --remaining, pointers = lines.moved(pointers, lines.apart, 1)) {
      states[0] = Op::start();
      scan<1, true>(lines, pointers, states);
    }
  }

  template <bool write>
  static void scan_group(const ScanLines& chunks, State* states) {
    if (chunks.count == kGroup) return scan<kGroup, write>(chunks, chunks.first, states);
    ScanLines line = chunks;
    for (int64_t c = 0; c < chunks.count; ++c) {
      scan<1, write>(line, line.first, states + c);
      line.first = line.moved(line.first, line.apart, 1);
      line.position += line.position_step;
    }
  }
  static void chunk_totals(const ScanLines& chunks, int64_t first, void* totals) {
    State* const states = static_cast<State*>(totals) + first;
    std::fill_n(states, chunks.count, Op::start());
    scan_group<false>(chunks, states);
  }
  static void scan_totals(int64_t chunks, void* totals) {
    auto* states = static_cast<State*>(totals);
    for (int64_t c = 1; c < chunks; ++c) states[c] = Op::merge(states[c - 1], states[c]);
  }
  static void chunks(const ScanLines& chunks, int64_t first, const void* totals) {
    State states[kGroup];
    for (int64_t c = 0; c < chunks.count; ++c)
      states[c] = first + c > 0 ? static_cast<const State*>(totals)[first + c - 1] : Op::start();
    scan_group<true>(chunks, states);
  }

  static constexpr ScanLoops kLoops{sizeof(T),    sizeof(State), scan_lines,
                                    chunk_totals, scan_totals,   chunks};
};

/// Returns the loops of a kind of scan, or null if it is not defined for the dtype.
template <class T>
const ScanLoops* scan_loops(ScanKind kind) {
  using A = Accumulator<T>;
  constexpr bool kComplex = requires(T x) { x.real_; };
  switch (kind) {
    case ScanKind::kSum: return &ScanLoopsOf<T, A, scan::Sum<A>>::kLoops;
    case ScanKind::kProd: return &ScanLoopsOf<T, A, scan::Prod<A>>::kLoops;
    case ScanKind::kLinear: return &ScanLoopsOf<T, A, scan::Linear<A>>::kLoops;
    default: break;
  }
  if constexpr (!kComplex) {
    using S = Compared<T>;
    if (kind == ScanKind::kMax) return &ScanLoopsOf<T, S, scan::Extreme<S, true>>::kLoops;
    if (kind == ScanKind::kMin) return &ScanLoopsOf<T, S, scan::Extreme<S, false>>::kLoops;
    if constexpr (!std::is_integral_v<T>) return &ScanLoopsOf<T, A, scan::LogSumExp<A>>::kLoops;
  }
  return nullptr;
}

Strides strides_of(const int64_t* strides) {
  return {strides[0], strides[1], strides[2], strides[3]};
}

/// The scan of all lines along a dimension.
class Scan {
 public:
  Scan(const ScanParams& params, const ScanLoops& loops);
  void run(Ctx& ctx) const;

 private:
  void scan_in_chunks(const ScanLines& line, Ctx& ctx) const;

  const ScanLoops& loops_;
  ScanLines line_;  // the first line
  StridedLoop<4> lines_;
};

Scan::Scan(const ScanParams& params, const ScanLoops& loops) : loops_(loops) {
  const bool is_scalar = params.in.dim == 0;
  const int d = params.dim;
  const View& factor = params.factor.defined() ? params.factor : params.in;
  const View& indices = params.indices.defined() ? params.indices : params.out;
  line_.n = is_scalar ? 1 : params.in.sizes[d];
  line_.count = 1;
  line_.element_size = int64_t(loops.element_size);
  line_.first = {params.in.as<const char>(),
                 params.factor.defined() ? params.factor.as<const char>() : nullptr,
                 params.out.as<char>(), params.indices.defined() ? indices.as<int64_t>() : nullptr};
  if (!is_scalar)
    line_.along = {params.in.strides[d], factor.strides[d], params.out.strides[d],
                   indices.strides[d]};
  if (params.reverse) {
    Strides& along = line_.along;
    line_.first = line_.moved(line_.first, along, line_.n - 1);
    along = {-along.in, -along.factor, -along.out, -along.indices};
  }
  View shape = params.in;
  if (!is_scalar) shape.sizes[d] = 1;
  lines_.dim = shape.dim;
  std::copy_n(shape.sizes, shape.dim, lines_.sizes);
  for (const View* view : {&params.in, &factor, &params.out, &indices}) lines_.add(view->strides);
  lines_.merge();
  const int64_t apart[] = {lines_.inner_stride(0), lines_.inner_stride(1), lines_.inner_stride(2),
                           lines_.inner_stride(3)};
  line_.apart = strides_of(apart);
}

void Scan::scan_in_chunks(const ScanLines& line, Ctx& ctx) const {
  const int64_t whole = line.n / kChunk, groups = (line.chunks() + kGroup - 1) / kGroup;
  void* totals = ctx.scratch(size_t(line.chunks()) * loops_.state_size);
  const auto for_each_group = [&](const auto& f) {
    parallel_blocks(groups, [&](int64_t group) {
      const int64_t first = group * kGroup, end = std::min(first + kGroup, line.chunks());
      if (first < whole) f(line.group(first, std::min(end, whole) - first), first);
      if (end > whole) f(line.group(whole, 1), whole);  // a shorter chunk
    });
  };
  for_each_group(
      [&](const ScanLines& chunks, int64_t first) { loops_.chunk_totals(chunks, first, totals); });
  loops_.scan_totals(line.chunks(), totals);
  for_each_group(
      [&](const ScanLines& chunks, int64_t first) { loops_.chunks(chunks, first, totals); });
}

void Scan::run(Ctx& ctx) const {
  constexpr int64_t kMaxChunkedLines = 4, kMinChunks = 32;
  const int64_t count = lines_.numel(), n = line_.n;
  const bool in_chunks = count <= kMaxChunkedLines && n >= kMinChunks * kChunk;
  const auto scan = [&](const int64_t* offsets, int64_t num_lines) {
    ScanLines lines = line_;
    lines.first = line_.moved(line_.first, strides_of(offsets), 1);
    lines.count = num_lines;
    if (!in_chunks) return loops_.lines(lines);
    for (; lines.count > 0; --lines.count, lines.first = lines.moved(lines.first, lines.apart, 1))
      scan_in_chunks(lines, ctx);
  };
  if (in_chunks) return lines_.walk(0, count, scan);
  parallel_for(0, count, kScanGrain / n + 1,
               [&](int64_t begin, int64_t end) { lines_.walk(begin, end, scan); });
}

}  // namespace

void run(const ScanParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_dtype(params.in.dtype, [&](auto element) {
    if (const ScanLoops* loops = scan_loops<decltype(element)>(params.kind))
      Scan(params, *loops).run(ctx);
  });
}

}  // namespace hearth::cpu
