// Sums, means or maxima of the rows of a table, [rows, width], for bags of indices, and the
// gradients. The threads divide the bags; for the table's gradient, each thread reads all bags and
// writes to rows or, for maxima, columns of its own. Half types are converted 256 columns at a
// time. Bound by the cache misses of the rows, which the indices select.
#include "seam/embedding_bag.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/embedding_bag_kernels.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/strided.h"
#include "kernels/embedding_bag_indices.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kEmbeddingBagGrain = 1 << 14;  // elements that are worth another thread
constexpr int64_t kColumns = 256;                // columns of half types that are converted at once

template <class T>
const BagLoops& embedding_bag_loops_of() {
  return loops_for<T>(HEARTH_ISA_TABLE(bag_table));
}

/// Reads bags and reports their faults; I is the type of indices and offsets.
template <class I>
class BagReader {
 public:
  BagReader(const Bags& bags, FaultSlot* faults)
      : bags_(bags), num_indices(bags.indices.numel), faults_(faults) {}

  /// Returns the range [begin, end) of bag b's indices; it is empty after a fault.
  std::pair<int64_t, int64_t> range(int64_t b) const {
    int64_t begin, end;
    if (bags_.find_range(b, begin, end)) return {begin, end};
    faults_->report(Fault::kBadBagOffset, begin, num_indices);
    return {0, 0};
  }
  /// Returns the indices [begin, end) if they are int64 and all are rows of the table, without
  /// padding; else null.
  const int64_t* plain_indices(int64_t begin, int64_t end) const {
    if constexpr (std::is_same_v<I, int64_t>) {
      bool fits = true;
      for (int64_t i = begin; i < end; ++i)
        fits &= uint64_t(bags_.indices[i]) < uint64_t(bags_.num_rows) &&
                bags_.indices[i] != bags_.padding;
      return fits ? bags_.indices + begin : nullptr;
    }
    return nullptr;
  }
  /// Returns the row of index i; -1 if the row is padding or, which is a fault, outside the table.
  int64_t row(int64_t i) const {
    const int64_t row = bags_.indices[i];
    if (bags_.is_valid(i)) return row == bags_.padding ? -1 : row;
    faults_->report(Fault::kBadBagIndex, row);
    return -1;
  }
  int64_t longest(int64_t num_bags) const {
    int64_t longest = 0;
    for (int64_t b = 0; b < num_bags; ++b) {
      const auto [begin, end] = range(b);
      longest = std::max(longest, end - begin);
    }
    return longest;
  }

 private:
  const BagIndices<I> bags_;

 public:
  const int64_t num_indices;

 private:
  FaultSlot* const faults_;
};

/// Calls f(reader) with the type of the indices.
template <class F>
void with_bags(const Bags& bags, Ctx& ctx, const F& f) {
  if (bags.indices.dtype == kInt)
    f(BagReader<int32_t>(bags, ctx.faults()));
  else
    f(BagReader<int64_t>(bags, ctx.faults()));
}

/// Returns the number of bags that are worth another thread.
int64_t grain_of(const Bags& bags, int64_t width) {
  const int64_t elements = (bags.indices.numel / std::max<int64_t>(bags.count, 1) + 1) * width;
  return std::max<int64_t>(kEmbeddingBagGrain / std::max<int64_t>(elements, 1), 1);
}

/// The rows of one bag, and their scales.
template <class T>
struct BagRows {
  const void** rows;
  T* scales;
  int64_t* row_indices;
  int64_t count;
};

/// Combines the rows of bags. T is the type of the sums: the table's, or float for half types.
template <class T, class I>
class Combiner {
 public:
  Combiner(const EmbeddingBagParams& params, const BagReader<I>& bags)
      : p_(params),
        bags_(bags),
        width_(params.weight.sizes[1]),
        size_(int64_t(element_size(params.weight.dtype))),
        stride_(params.weight.strides[0] * size_),
        widen_(params.weight.dtype, dtype_of<T>),
        narrow_(dtype_of<T>, params.weight.dtype) {}

  void combine(int64_t b, BagRows<T> bag) const {
    char* const out = p_.out.as<char>() + b * width_ * size_;
    if (sums_plain_rows(b, out)) return;
    gather(b, bag);
    if (p_.mode == BagMode::kMax) return combine_max(b, bag, out);
    const double factor = p_.mode == BagMode::kMean && bag.count > 0 ? 1 / double(bag.count) : 1;
    if (p_.weight.dtype == dtype_of<T>)
      embedding_bag_loops_of<T>().sum_rows(bag.rows, scales(bag), bag.count, width_, out, factor);
    else
      converted_sum(bag, out, factor);
  }

 private:
  const T* scales(const BagRows<T>& bag) const { return p_.scale.defined() ? bag.scales : nullptr; }

  /// The usual case: sums rows of a table of type T, without scales. Returns false for other bags.
  bool sums_plain_rows(int64_t b, char* out) const {
    if (p_.weight.dtype != dtype_of<T> || p_.scale.defined() || p_.mode == BagMode::kMax)
      return false;
    const auto [begin, end] = bags_.range(b);
    const int64_t n = end - begin;
    const int64_t* const indices = bags_.plain_indices(begin, end);
    if (!indices) return false;
    if (p_.offset2bag.numel > 0) std::fill_n(p_.offset2bag.as<int64_t>() + begin, n, b);
    if (p_.bag_size.numel > 0) p_.bag_size.as<int64_t>()[b] = n;
    const double factor = p_.mode == BagMode::kMean && n > 0 ? 1 / double(n) : 1;
    embedding_bag_loops_of<T>().sum_at_indices(p_.weight.data, stride_, indices, n,
                                               bags_.num_indices - end, width_, out, factor);
    return true;
  }

  /// Finds the bag's rows, and writes its entries of bag_size and offset2bag.
  void gather(int64_t b, BagRows<T>& bag) const {
    const char* const table = p_.weight.as<const char>();
    int64_t* const bag_of = p_.offset2bag.numel > 0 ? p_.offset2bag.as<int64_t>() : nullptr;
    int64_t* const row_indices = p_.mode == BagMode::kMax ? bag.row_indices : nullptr;
    const bool scaled = p_.scale.defined();
    const auto [begin, end] = bags_.range(b);
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = bags_.row(i);
      if (bag_of) bag_of[i] = b;
      if (row < 0) continue;
      bag.rows[count] = table + row * stride_;
      if (row_indices) row_indices[count] = row;
      if (scaled)
        widen_(p_.scale.as<const char>() + i * p_.scale.strides[0] * size_, 1, bag.scales + count,
               1, 1);
      ++count;
    }
    bag.count = count;
    if (p_.bag_size.numel > 0) p_.bag_size.as<int64_t>()[b] = count;
  }

  /// Calls f(first column, n) for blocks of columns.
  template <class F>
  void for_columns(const F& f) const {
    for (int64_t c = 0; c < width_; c += kColumns) f(c, std::min(kColumns, width_ - c));
  }
  void converted_sum(const BagRows<T>& bag, char* out, double factor) const {
    alignas(64) T row[kColumns], sum[kColumns], zero[kColumns] = {};
    for_columns([&](int64_t c, int64_t n) {
      std::copy_n(zero, n, sum);
      for (int64_t r = 0; r < bag.count; ++r) {
        widen_(static_cast<const char*>(bag.rows[r]) + c * size_, 1, row, 1, n);
        embedding_bag_loops_of<T>().add(row, sum, n, scales(bag) ? double(bag.scales[r]) : 1);
      }
      for (int64_t j = 0; j < n; ++j) sum[j] = T(sum[j] * factor);
      narrow_(sum, 1, out + c * size_, 1, n);
    });
  }
  /// Writes the maxima of the bag's columns. As in PyTorch, a NaN is the maximum only if it is
  /// first.
  void combine_max(int64_t b, const BagRows<T>& bag, char* out) const {
    alignas(64) T row[kColumns], best[kColumns];
    int64_t* const best_rows =
        p_.max_indices.numel > 0 ? p_.max_indices.as<int64_t>() + b * width_ : nullptr;
    for_columns([&](int64_t c, int64_t n) {
      std::fill_n(best, n, T(0));
      if (best_rows) std::fill_n(best_rows + c, n, bag.count > 0 ? bag.row_indices[0] : 0);
      for (int64_t r = 0; r < bag.count; ++r) {
        widen_(static_cast<const char*>(bag.rows[r]) + c * size_, 1, r == 0 ? best : row, 1, n);
        for (int64_t j = 0; r > 0 && j < n; ++j) {
          if (!(row[j] > best[j])) continue;
          best[j] = row[j];
          if (best_rows) best_rows[c + j] = bag.row_indices[r];
        }
      }
      narrow_(best, 1, out + c * size_, 1, n);
    });
  }

  const EmbeddingBagParams& p_;
  const BagReader<I>& bags_;
  const int64_t width_, size_, stride_;
  const StridedConvert widen_, narrow_;
};

template <class T, class I>
void combine_all(const EmbeddingBagParams& p, const BagReader<I>& bags, Ctx& ctx) {
  const Combiner<T, I> combiner(p, bags);
  const int64_t longest = std::max<int64_t>(bags.longest(p.bags.count), 1);
  const int64_t grain = grain_of(p.bags, p.weight.sizes[1]);
  const int64_t ranges = task_slots((p.bags.count + grain - 1) / grain);
  const auto scratch = [&](size_t size) {
    return ctx.scratch(size_t(ranges) * size_t(longest) * size);
  };
  const BagRows<T> buffers{static_cast<const void**>(scratch(sizeof(void*))),
                           static_cast<T*>(scratch(sizeof(T))),
                           static_cast<int64_t*>(scratch(sizeof(int64_t))), 0};
  parallel_tasks(ranges, int(ranges), [&](int64_t range, int slot) {
    const BagRows<T> buffer{buffers.rows + slot * longest, buffers.scales + slot * longest,
                            buffers.row_indices + slot * longest, 0};
    const int64_t end = p.bags.count * (range + 1) / ranges;
    for (int64_t b = p.bags.count * range / ranges; b < end; ++b) combiner.combine(b, buffer);
  });
}

/// Calls f(b, i, row) for every index whose row is in [first, last).
template <class I, class F>
void for_rows(int64_t num_bags, const BagReader<I>& bags, int64_t first, int64_t last, const F& f) {
  for (int64_t b = 0; b < num_bags; ++b) {
    const auto [begin, end] = bags.range(b);
    for (int64_t i = begin; i < end; ++i)
      if (const int64_t row = bags.row(i); row >= first && row < last) f(b, i, row);
  }
}

/// Adds the gradients of sums or means to grad_weight; each thread writes to rows of its own.
template <class T, class I>
void add_sums(const EmbeddingBagBackwardParams& p, const BagReader<I>& bags) {
  const int64_t width = p.grad.sizes[1], rows = p.bags.rows;
  const T *grad = p.grad.as<const T>(), *scale = p.scale.as<const T>();
  T* const out = p.grad_weight.as<T>();
  const int64_t* const sizes = p.bag_size.as<const int64_t>();
  const int64_t parts =
      task_slots(std::min(rows, bags.num_indices * width / kEmbeddingBagGrain + 1));
  parallel_blocks(parts, [&](int64_t part) {
    for_rows(p.bags.count, bags, rows * part / parts, rows * (part + 1) / parts,
             [&](int64_t b, int64_t i, int64_t row) {
               double factor = scale ? double(scale[i * p.scale.strides[0]]) : 1;
               if (p.mode == BagMode::kMean) factor /= double(sizes[b]);
               embedding_bag_loops_of<T>().add(grad + b * width, out + row * width, width, factor);
             });
  });
}

/// Adds the gradients of maxima to grad_weight; each thread writes to columns of its own.
template <class T>
void add_maxima(const EmbeddingBagBackwardParams& p) {
  const int64_t width = p.grad.sizes[1];
  const T* const grad = p.grad.as<const T>();
  T* const out = p.grad_weight.as<T>();
  const int64_t *sizes = p.bag_size.as<const int64_t>(),
                *max_rows = p.max_indices.as<const int64_t>();
  constexpr int64_t kMinColumns = 16;  // at least a cache line
  const int64_t grain =
      std::max<int64_t>(kEmbeddingBagGrain / std::max<int64_t>(p.bags.count, 1), kMinColumns);
  parallel_for(0, width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = 0; b < p.bags.count; ++b)
      for (int64_t d = begin; sizes[b] > 0 && d < end; ++d)
        out[max_rows[b * width + d] * width + d] += grad[b * width + d];
  });
}

/// Computes the gradients of the scales.
template <class T, class I>
void dot_rows(const EmbeddingBagScaleBackwardParams& p, const BagReader<I>& bags) {
  const int64_t width = p.grad.sizes[1];
  const T *grad = p.grad.as<const T>(), *weight = p.weight.as<const T>();
  T* const out = p.out.as<T>();
  parallel_for(0, p.bags.count, grain_of(p.bags, width), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const auto [begin, end] = bags.range(b);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = bags.row(i);
        out[i] =
            row < 0
                ? T(0)
                : T(embedding_bag_loops_of<T>().dot(grad + b * width, weight + row * width, width));
      }
    }
  });
}

}  // namespace

void run(const EmbeddingBagParams& params, Ctx& ctx) {
  with_bags(params.bags, ctx, [&](const auto& bags) {
    if (params.weight.dtype == kDouble)
      combine_all<double>(params, bags, ctx);
    else
      combine_all<float>(params, bags, ctx);
  });
}

void run(const EmbeddingBagBackwardParams& params, Ctx& ctx) {
  const bool is_double = params.grad.dtype == kDouble;
  if (params.mode == BagMode::kMax)
    return is_double ? add_maxima<double>(params) : add_maxima<float>(params);
  with_bags(params.bags, ctx, [&](const auto& bags) {
    is_double ? add_sums<double>(params, bags) : add_sums<float>(params, bags);
  });
}

void run(const EmbeddingBagScaleBackwardParams& params, Ctx& ctx) {
  with_bags(params.bags, ctx, [&](const auto& bags) {
    params.grad.dtype == kDouble ? dot_rows<double>(params, bags) : dot_rows<float>(params, bags);
  });
}

}  // namespace hearth::cpu
