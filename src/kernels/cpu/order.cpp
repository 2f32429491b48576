// Sorts, topk, kthvalue, medians and modes along a dimension. Many lines are divided among the
// threads; few long lines are ordered one by one: sorts (also of modes) and topk by all threads.
// Sorts are bound by the radix passes over memory, topk by the comparison of every element with the
// k-th best so far.
#include "seam/order.h"

#include "core/parallel_for.h"
#include "kernels/cpu/order_sort.h"
#include "kernels/cpu/strided.h"
#include "kernels/order_keys.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kTasksPerThread = 4;  // more than one, because lines take different times
constexpr int64_t kTopBuffer = 4;  // topk collects up to kTopBuffer * k records, or 1024 if more

/// Orders the lines along a dimension. A line is loaded into scratch memory as records of key and
/// index; sorting needs the same amount of memory again.
template <class T, class R>
class Order {
 public:
  explicit Order(const OrderParams& params);
  void run(Ctx& ctx) const;

 private:
  using Key = order::KeyOf<T>;
  struct Line {
    const T* in;
    T* values;
    int64_t* indices;
  };

  void order_line(Line line, R* records) const;
  void load(const T* in, R* records) const;
  const R* pick(const T* in, R* records) const;
  const R* top(const T* in, R* records) const;
  void top_of_part(const T* in, int64_t begin, int64_t end, R* records) const;
  const R* nth(R* records, int64_t n, int64_t k) const;
  const R* median(R* records) const;
  const R* mode(R* records) const;
  Key key_at(const T* in, int64_t i) const {
    const Key key = order::load_key(in + i * in_step_);
    return params_.descending ? Key(~key) : key;
  }

  const OrderParams& params_;
  int64_t n_ = 1, num_results_ = 1;  // of a line
  int64_t in_step_ = 0, value_step_ = 0, index_step_ = 0;
  StridedLoop<3> lines_;
};

template <class T, class R>
Order<T, R>::Order(const OrderParams& params) : params_(params) {
  View shape = params.in;
  if (shape.dim > 0) {
    const int d = params.dim;
    n_ = shape.sizes[d];
    num_results_ = params.values.sizes[d];
    in_step_ = shape.strides[d];
    value_step_ = params.values.strides[d];
    index_step_ = params.indices.strides[d];
    shape.sizes[d] = 1;
  }
  lines_ = StridedLoop<3>{&shape, &params.values, &params.indices};
}

template <class T, class R>
void Order<T, R>::run(Ctx& ctx) const {
  const int64_t count = lines_.numel(), threads = get_num_threads();
  // A little work is one task. Few long lines are ordered one after the other, each by all threads.
  const bool one_by_one = count * n_ < kMoveGrain || (count < threads && n_ > kSortChunk);
  const int64_t tasks = one_by_one ? 1 : std::min(count, kTasksPerThread * threads);
  const int slots = task_slots(tasks);
  R* scratch = static_cast<R*>(ctx.scratch(size_t(slots * 2 * n_) * sizeof(R)));
  parallel_tasks(tasks, slots, [&](int64_t task, int slot) {
    lines_.walk(count * task / tasks, count * (task + 1) / tasks,
                [&](const int64_t* offsets, int64_t num_lines) {
                  for (int64_t l = 0; l < num_lines; ++l)
                    order_line(
                        {params_.in.as<const T>() + offsets[0] + l * lines_.inner_stride(0),
                         params_.values.as<T>() + offsets[1] + l * lines_.inner_stride(1),
                         params_.indices.as<int64_t>() + offsets[2] + l * lines_.inner_stride(2)},
                        scratch + slot * 2 * n_);
                });
  });
}

template <class T, class R>
void Order<T, R>::order_line(Line line, R* records) const {
  const R* result = pick(line.in, records);
  parallel_for(0, num_results_, kMoveGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = result[i].index();
      line.values[i * value_step_] = line.in[index * in_step_];
      line.indices[i * index_step_] = index;
    }
  });
}

template <class T, class R>
void Order<T, R>::load(const T* in, R* records) const {
  parallel_for(0, n_, kMoveGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) records[i] = R(key_at(in, i), i);
  });
}

/// Returns the records of a line's results, in their order.
template <class T, class R>
const R* Order<T, R>::pick(const T* in, R* records) const {
  if (params_.kind == OrderKind::kTopK) return top(in, records);
  load(in, records);
  switch (params_.kind) {
    case OrderKind::kKth: return nth(records, n_, params_.k);
    case OrderKind::kMedian:
    case OrderKind::kNanMedian: return median(records);
    case OrderKind::kMode: return mode(records);
    default: return sort_records(records, records + n_, n_, int(sizeof(Key)));
  }
}

/// Returns the record at place k of the sorted order, of n records that it reorders.
template <class T, class R>
const R* Order<T, R>::nth(R* records, int64_t n, int64_t k) const {
  std::nth_element(records, records + k, records + n);
  return records + k;
}

/// Returns the k best records, sorted: the best among the k best of each part of the line.
template <class T, class R>
const R* Order<T, R>::top(const T* in, R* records) const {
  const int64_t k = num_results_;
  if (k == 0) return records;
  const int64_t most_parts = std::min(n_ / kMoveGrain, n_ / (kTopBuffer * k));
  const int64_t parts = task_slots(std::max<int64_t>(most_parts, 1));
  const auto begin = [&](int64_t part) { return n_ * part / parts; };
  parallel_blocks(parts, [&](int64_t part) {
    top_of_part(in, begin(part), begin(part + 1), records + begin(part));
  });
  for (int64_t part = 1; part < parts; ++part)
    std::copy_n(records + begin(part), k, records + part * k);
  nth(records, parts * k, k - 1);
  std::sort(records, records + k);
  return records;
}

/// Puts the k best records of [begin, end) first. Collects records that are better than the k-th
/// best so far; whenever the buffer is full, drops all but the k best.
template <class T, class R>
void Order<T, R>::top_of_part(const T* in, int64_t begin, int64_t end, R* records) const {
  const int64_t k = num_results_, step = in_step_;
  const int64_t capacity = std::min(end - begin, std::max<int64_t>(kTopBuffer * k, 1024));
  int64_t count = capacity;
  for (int64_t j = 0; j < capacity; ++j) records[j] = R(key_at(in, begin + j), begin + j);
  const auto keep_best = [&] {
    nth(records, count, k - 1);
    count = k;
    return records[k - 1];
  };
  R worst = keep_best();
  T worst_value = in[worst.index() * step];
  const bool descending = params_.descending;
  for (int64_t i = begin + capacity; i < end; ++i) {
    const T x = in[i * step];
    if constexpr (std::is_arithmetic_v<T>)  // faster than keys, which also order NaN
      if (descending ? x <= worst_value : x >= worst_value) continue;
    const Key key = key_at(in, i);
    if (key >= Key(worst.key())) continue;
    records[count++] = R(key, i);
    if (count < capacity) continue;
    worst = keep_best();
    worst_value = in[worst.index() * step];
  }
  keep_best();
}

/// Returns the record of the lower median of the numbers that are not NaN; a NaN if there is one
/// and the kind is kMedian, or if all are NaN.
template <class T, class R>
const R* Order<T, R>::median(R* records) const {
  int64_t n = n_;
  if constexpr (order::kHasNan<T>) {
    const auto is_not_nan = [](const R& r) { return Key(r.key()) != order::kNanKey<T>; };
    R* const first_nan = std::partition(records, records + n_, is_not_nan);
    n = first_nan - records;
    if (n < n_ && (n == 0 || params_.kind == OrderKind::kMedian))
      return std::min_element(first_nan, records + n_);
  }
  return nth(records, n, (n - 1) / 2);
}

/// Returns the last record of the longest run of equal keys, of several such runs the first.
template <class T, class R>
const R* Order<T, R>::mode(R* records) const {
  const R* sorted = sort_records(records, records + n_, n_, int(sizeof(Key)));
  const R* best = sorted;
  int64_t longest = 0;
  for (int64_t begin = 0, end = 0; begin < n_; begin = end) {
    while (end < n_ && sorted[end].key() == sorted[begin].key()) ++end;
    if (end - begin <= longest) continue;
    longest = end - begin;
    best = sorted + end - 1;
  }
  return best;
}

template <class T>
void run_typed(const OrderParams& params, Ctx& ctx) {
  if constexpr (!requires(T x) { x.real_; }) {
    const int64_t n = params.in.dim == 0 ? 1 : params.in.sizes[params.dim];
    if constexpr (sizeof(T) <= 4)
      if (n <= int64_t{UINT32_MAX}) return Order<T, NarrowRecord>(params).run(ctx);
    Order<T, WideRecord>(params).run(ctx);
  }
}

}  // namespace

void run(const OrderParams& params, Ctx& ctx) {
  if (params.values.numel == 0) return;
  with_dtype(params.in.dtype, [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cpu
