// Transforms a group of lines on one thread, or one long line as a matrix on all threads: they
// divide first its columns, then its rows, in groups of as many as a vector has lanes. The products
// of a long convolution (Bluestein) run on one thread. Lines beyond the caches are bound by memory:
// the matrix is written and read between both steps, with strides.
#include "kernels/cpu/fft_lines.h"

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/isa_table.h"

namespace hearth::cpu {

namespace {

template <class T>
void run_stages(const FftLoops<T>& loops, const FftPlan<T>& plan, T* buffer) {
  loops.transform(plan.stages.data(), int(plan.stages.size()), buffer);
}

/// Transforms the numbers in a; returns the buffer with the result, a or b.
template <class T>
T* transformed(const FftLoops<T>& loops, const FftPlan<T>& plan, T* a, T* b) {
  if (plan.method == FftMethod::kStages) {
    run_stages(loops, plan, a);
    return a;
  }
  const FftPlan<T>& inner = *plan.first;
  const int64_t n = plan.n, m = inner.n;
  const int64_t* const slots = inner.slots.data();
  loops.multiply(a, n, plan.twiddles.data(), slots, false, false, b);
  loops.clear(m - n, slots + n, b);
  run_stages(loops, inner, b);
  loops.multiply(b, m, plan.spectrum.data(), slots, false, true, a);
  run_stages(loops, inner, a);
  loops.multiply(a, n, plan.twiddles.data(), plan.slots.data(), true, false, b);
  return b;
}

}  // namespace

template <class T>
const FftLoops<T>& fft_loops(bool single) {
  const FftTable& table = HEARTH_ISA_TABLE(fft_table);
  if constexpr (std::is_same_v<T, double>)
    return single ? table.f64_one_lane : table.f64;
  else
    return single ? table.f32_one_lane : table.f32;
}

template <class T>
FftLines<T> fft_lines(T* data, int64_t apart, int count, int lanes, int64_t step, int64_t pair) {
  FftLines<T> lines;
  lines.data = data;
  lines.count = count;
  lines.step = step;
  lines.pair = pair;
  for (int l = 0; l < lanes; ++l) lines.offsets[l] = l < count ? l * apart : 0;
  lines.apart = count == lanes ? apart : 0;
  return lines;
}

template <class T>
int64_t FftJob<T>::capacity() const {
  const int64_t inner = plan->first ? fft_convolution_size(length) : length;
  return std::max({inner, half(), length});
}

template <class T>
void FftJob<T>::prepare(const FftLoops<T>& loops, T* in, const int64_t* slots, T* out) const {
  if (weight != 1) loops.weigh(weight, 1, (n + 1) / 2, in);
  if (by_pairs)
    loops.join_pairs(in, real->twiddles.data(), length, slots, out);
  else
    loops.unfold(in, n, slots, out);
}

template <class T>
void FftJob<T>::finish(const FftLoops<T>& loops, T* result, const FftLines<T>& out) const {
  if (!to_half) return loops.store(result, length, write, out);
  if (by_pairs) loops.split_pairs(real->twiddles.data(), length, result);
  if (weight != 1) loops.weigh(weight, 1, (n + 1) / 2, result);
  loops.store(result, half(), write, out);
  if (!mirror) return;
  FftLines<T> back = out;
  back.data += (n - 1) * out.step;
  back.step = -out.step;
  loops.store(result + 2 * loops.lanes, (n - 1) / 2, {write.swap, write.first, -write.second},
              back);
}

template <class T>
void FftJob<T>::run(const FftLoops<T>& loops, const FftLines<T>& in, const FftLines<T>& out, T* a,
                    T* b) const {
  loops.load(in, read_count(), (from_half ? real : plan)->slots.data(), read, a);
  if (from_half) {
    prepare(loops, a, plan->slots.data(), b);
    std::swap(a, b);
  }
  finish(loops, transformed(loops, *plan, a, b), out);
}

template <class T>
FftLongLine<T>::FftLongLine(const FftJob<T>& job, Ctx& ctx)
    : job_(job), loops_(fft_loops<T>()), single_(fft_loops<T>(true)) {
  matrix_ = job.plan;
  if (matrix_->method == FftMethod::kConvolution)
    matrix_ = fft_plan<T>(fft_convolution_size(job.length), FftMethod::kGrid);
  const int64_t rows = matrix_->first->n, columns = matrix_->second->n;
  slots_ = task_slots(columns / loops_.lanes);
  buffer_ = 2 * loops_.lanes * std::max(rows, columns);
  const auto numbers = [&ctx](int64_t count) {
    return static_cast<T*>(ctx.scratch(size_t(count) * sizeof(T)));
  };
  table_ = numbers(2 * matrix_->n);
  buffers_ = numbers(buffer_ * slots_);
  if (job.plan->method == FftMethod::kGrid && !job.from_half && !job.to_half) return;
  a_ = numbers(2 * (matrix_->n + 1));
  b_ = numbers(2 * (matrix_->n + 1));
}

/// Calls f(first, count, buffer) for groups of lines.
template <class T>
template <class F>
void FftLongLine<T>::for_groups(int64_t count, const F& f) const {
  const int lanes = loops_.lanes;
  const int64_t groups = (count + lanes - 1) / lanes;
  parallel_tasks(groups, slots_, [&](int64_t group, int slot) {
    const int64_t first = group * lanes;
    f(first, int(std::min<int64_t>(lanes, count - first)), buffers_ + slot * buffer_);
  });
}

/// Transforms the columns of the matrix, then its rows. In between, number (k, j) is multiplied by
/// its twiddle factor, exp(-2 pi i k j / n). Row k has the results k, k + rows, k + 2 * rows, …
template <class T>
void FftLongLine<T>::grid(const FftPlan<T>& plan, const FftLines<T>& in, const FftPairs<T>& read,
                          const FftLines<T>& out, const FftPairs<T>& write) const {
  const int lanes = loops_.lanes;
  const int64_t rows = plan.first->n, columns = plan.second->n;
  T* const from = in.data + in.offsets[0];
  T* const to = out.data + out.offsets[0];
  for_groups(columns, [&](int64_t j, int count, T* buffer) {
    loops_.load(fft_lines(from + j * in.step, in.step, count, lanes, columns * in.step, in.pair),
                rows, plan.first->slots.data(), read, buffer);
    run_stages(loops_, *plan.first, buffer);
    loops_.rotate(plan.twiddles.data() + 2 * j, 2 * columns, rows, buffer);
    loops_.store(buffer, rows, {}, fft_lines(table_ + 2 * j, 2, count, lanes, 2 * columns, 1));
  });
  for_groups(rows, [&](int64_t k, int count, T* buffer) {
    loops_.load(fft_lines(table_ + 2 * columns * k, 2 * columns, count, lanes, 2, 1), columns,
                plan.second->slots.data(), {}, buffer);
    run_stages(loops_, *plan.second, buffer);
    loops_.store(buffer, columns, write,
                 fft_lines(to + k * out.step, out.step, count, lanes, rows * out.step, out.pair));
  });
}

template <class T>
void FftLongLine<T>::transform(const FftLines<T>& in, const FftPairs<T>& read,
                               const FftLines<T>& out, const FftPairs<T>& write) const {
  const FftPlan<T>& plan = *job_.plan;
  if (plan.method == FftMethod::kGrid) return grid(plan, in, read, out, write);
  const int64_t n = plan.n, m = matrix_->n;
  const int64_t* const slots = plan.slots.data();
  single_.load(in, n, slots, read, a_);
  single_.multiply(a_, n, plan.twiddles.data(), slots, false, false, b_);
  single_.clear(m - n, slots + n, b_);
  grid(*matrix_, whole(b_), {}, whole(a_), {});
  single_.multiply(a_, m, plan.spectrum.data(), slots, false, true, b_);
  grid(*matrix_, whole(b_), {}, whole(a_), {});
  single_.multiply(a_, n, plan.twiddles.data(), slots, true, false, b_);
  single_.store(b_, n, write, out);
}

template <class T>
void FftLongLine<T>::run(const FftLines<T>& in, const FftLines<T>& out) const {
  if (job_.from_half) {
    const int64_t* const slots = job_.real->slots.data();
    single_.load(in, job_.half(), slots, job_.read, a_);
    job_.prepare(single_, a_, job_.real->slots.data(), b_);
    transform(whole(b_), {}, out, job_.write);
  } else if (job_.to_half) {
    transform(in, job_.read, whole(a_), {});
    job_.finish(single_, a_, out);
  } else {
    transform(in, job_.read, out, job_.write);
  }
}

#define HEARTH_FFT_LINES(T)                                                   \
  template const FftLoops<T>& fft_loops<T>(bool);                             \
  template FftLines<T> fft_lines<T>(T*, int64_t, int, int, int64_t, int64_t); \
  template struct FftJob<T>;                                                  \
  template class FftLongLine<T>;
HEARTH_FFT_LINES(float)
HEARTH_FFT_LINES(double)
#undef HEARTH_FFT_LINES

}  // namespace hearth::cpu
