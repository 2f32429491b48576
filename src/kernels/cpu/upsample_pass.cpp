// Interpolates images in two steps, along their columns and along their rows. A task is a band of
// rows of one image, at most about 32,768 elements of the output; the rows between the steps stay
// in the cache. The columns come first, unless the number of rows shrinks and the images are not of
// bytes. Bound by the loads of the taps: without antialiasing, linear interpolation has two for
// each element and step, cubic four.
#include "kernels/cpu/upsample_pass.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kBandElements = 1 << 15;   // of the output, in one band
constexpr int64_t kMinChannelsForLoop = 16;  // from this number on, the inner loop is over channels
constexpr int64_t kTasksPerSlot = 4;         // so that slots (core/parallel_for.h) finish together

template <class T>
const UpsampleLoops& upsample_loops_of() {
  return loops_for<T>(HEARTH_ISA_TABLE(upsample_table));
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

/// The scratch memory of one slot.
template <class T>
struct UpsamplePass<T>::Scratch {
  T* kept;            // the band's input rows, or the rows between the two steps
  T* in_row;          // one row of the input or, if rows come first, between the two steps
  T* out_row;         // one row of the output
  const void** taps;  // the addresses of the rows or pixels that one output reads
};

template <class T>
UpsamplePass<T>::UpsamplePass(const UpsampleImages& in, const UpsampleImages& out,
                              const UpsampleStep<T>& rows, const UpsampleStep<T>& columns)
    : in_(in),
      out_(out),
      rows_(rows),
      columns_(columns),
      loops_(upsample_loops_of<T>()),
      reader_(in_, dtype_of<T>),
      writer_(out_, dtype_of<T>),
      by_position_(in.inner >= kMinChannelsForLoop || in.width() >= INT32_MAX) {
  if (columns_.table && !by_position_) elements_ = UpsampleElements<T>(*columns_.table, in.inner);
  // If the number of rows shrinks, interpolate_rows() comes first, so that interpolate_columns()
  // has fewer rows. 8-bit images are rounded after each step; they keep PyTorch's order, columns
  // first.
  columns_first_ = columns_.table && (!rows_.table || columns_.unit != 0 || out_.rows >= in_.rows);
  copies_rows_ = !reader_.direct() || (columns_first_ && elements_.has_missing_taps);
  const int64_t wanted_bands =
      ceil_div(kTasksPerSlot * get_num_threads(), std::max<int64_t>(out_.outer(), 1));
  band_rows_ =
      std::clamp<int64_t>(kBandElements / out_.width(), 1, ceil_div(out_.rows, wanted_bands));
  bands_ = ceil_div(out_.rows, band_rows_);
  if (!rows_.table || (!columns_first_ && !copies_rows_)) return;
  for (int64_t i = 0; i < bands_; ++i) {
    const Band current = band(i);
    kept_rows_ = std::max(kept_rows_, current.in_end - current.in_begin);
  }
}

template <class T>
typename UpsamplePass<T>::Band UpsamplePass<T>::band(int64_t index) const {
  Band result{index * band_rows_, std::min((index + 1) * band_rows_, out_.rows), in_.rows, 0};
  if (!rows_.table) return result;
  for (int64_t k = rows_.table->start[size_t(result.begin)];
       k < rows_.table->start[size_t(result.end)]; ++k) {
    const int64_t row = rows_.table->index[size_t(k)];
    result.in_begin = std::min(result.in_begin, row);
    result.in_end = std::max(result.in_end, row + 1);
  }
  result.in_end = std::max(result.in_begin, result.in_end);
  return result;
}

template <class T>
size_t UpsamplePass<T>::scratch_elements() const {
  const int64_t kept = kept_rows_ * (columns_first_ ? out_.width() : in_.width());
  const int64_t taps = std::max(rows_.table ? rows_.table->max_taps() : 1,
                                columns_.table ? columns_.table->max_taps() : 1);
  const int64_t pointers = ceil_div(taps * int64_t(sizeof(void*)), int64_t(sizeof(T)));
  // One element more for missing taps, one for the pointers' alignment; whole cache lines.
  return size_t(ceil_div(kept + in_.width() + 1 + out_.width() + pointers + 1, 16) * 16);
}

template <class T>
typename UpsamplePass<T>::Scratch UpsamplePass<T>::scratch_at(char* memory) const {
  T* const kept = reinterpret_cast<T*>(memory);
  T* const in_row = kept + kept_rows_ * (columns_first_ ? out_.width() : in_.width());
  T* const out_row = in_row + in_.width() + 1;
  in_row[in_.width()] = 0;  // missing taps read this element
  const int64_t used = out_row + out_.width() - kept;
  char* const taps = memory + ceil_div(used * int64_t(sizeof(T)), 8) * 8;
  return {kept, in_row, out_row, reinterpret_cast<const void**>(taps)};
}

template <class T>
void UpsamplePass<T>::run(Ctx& ctx) const {
  const int64_t tasks = out_.outer() * bands_;
  if (tasks == 0) return;
  const bool small =
      out_.outer() * (out_.rows * out_.width() + in_.rows * in_.width()) < kMoveGrain;
  const int slots = small ? 1 : task_slots(tasks);
  const size_t slot_bytes = scratch_elements() * sizeof(T);
  char* const memory = static_cast<char*>(ctx.scratch(slot_bytes * size_t(slots)));
  parallel_tasks(tasks, slots, [&](int64_t task, int slot) {
    run_band(task / bands_, band(task % bands_), scratch_at(memory + slot_bytes * size_t(slot)));
  });
}

template <class T>
void UpsamplePass<T>::run_band(int64_t image, const Band& band, const Scratch& scratch) const {
  if (columns_first_) return columns_first(image, band, scratch);
  rows_first(image, band, scratch);
}

template <class T>
void UpsamplePass<T>::columns_first(int64_t image, const Band& band, const Scratch& scratch) const {
  const int64_t width = out_.width();
  for (int64_t r = band.in_begin; r < band.in_end; ++r)
    interpolate_columns(source(image, r, scratch), scratch.kept + (r - band.in_begin) * width,
                        scratch);
  for (int64_t r = band.begin; r < band.end; ++r) {
    T* const to = target(image, r, scratch);
    if (rows_.table)
      interpolate_rows(r, scratch.kept, width, band.in_begin, width, to, scratch);
    else
      interpolate_columns(source(image, r, scratch), to, scratch);
    store(image, r, scratch);
  }
}

template <class T>
void UpsamplePass<T>::rows_first(int64_t image, const Band& band, const Scratch& scratch) const {
  const int64_t width = in_.width();
  for (int64_t r = band.in_begin; copies_rows_ && r < band.in_end; ++r)
    reader_.read(image, r, scratch.kept + (r - band.in_begin) * width);
  const T* const rows =
      copies_rows_ ? scratch.kept : reinterpret_cast<const T*>(in_.row(image, band.in_begin));
  const int64_t stride = copies_rows_ ? width : in_.row_stride;
  for (int64_t r = band.begin; r < band.end; ++r) {
    T* const to = target(image, r, scratch);
    interpolate_rows(r, rows, stride, band.in_begin, width, columns_.table ? scratch.in_row : to,
                     scratch);
    if (columns_.table) interpolate_columns(scratch.in_row, to, scratch);
    store(image, r, scratch);
  }
}

template <class T>
void UpsamplePass<T>::interpolate_columns(const T* row, T* to, const Scratch& scratch) const {
  const UpsampleTable<T>& table = *columns_.table;
  if (by_position_) {
    const int64_t inner = in_.inner;
    for (int64_t i = 0; i < table.out(); ++i) {
      const int64_t first = table.start[size_t(i)], taps = table.taps(i);
      for (int64_t k = 0; k < taps; ++k)
        scratch.taps[k] = row + table.index[size_t(first + k)] * inner;
      if (taps > 0)
        loops_.combine(scratch.taps, &table.weight[size_t(first)], taps, to + i * inner, inner);
      else
        std::fill_n(to + i * inner, inner, T(0));
    }
  } else {
    loops_.gather(row, elements_.index.data(), elements_.weight.data(), elements_.taps, to,
                  elements_.num_elements);
  }
  if (columns_.unit != 0) loops_.quantise(to, out_.width(), columns_.unit);
}

template <class T>
void UpsamplePass<T>::interpolate_rows(int64_t r, const T* rows, int64_t stride, int64_t first,
                                       int64_t width, T* to, const Scratch& scratch) const {
  const UpsampleTable<T>& table = *rows_.table;
  const int64_t begin = table.start[size_t(r)], taps = table.taps(r);
  for (int64_t k = 0; k < taps; ++k)
    scratch.taps[k] = rows + (table.index[size_t(begin + k)] - first) * stride;
  if (taps > 0)
    loops_.combine(scratch.taps, &table.weight[size_t(begin)], taps, to, width);
  else
    std::fill_n(to, width, T(0));
  if (rows_.unit != 0) loops_.quantise(to, width, rows_.unit);
}

template <class T>
const T* UpsamplePass<T>::source(int64_t image, int64_t r, const Scratch& scratch) const {
  if (!copies_rows_) return reinterpret_cast<const T*>(in_.row(image, r));
  reader_.read(image, r, scratch.in_row);
  return scratch.in_row;
}

template <class T>
T* UpsamplePass<T>::target(int64_t image, int64_t r, const Scratch& scratch) const {
  return writer_.direct() ? reinterpret_cast<T*>(out_.row(image, r)) : scratch.out_row;
}

template <class T>
void UpsamplePass<T>::store(int64_t image, int64_t r, const Scratch& scratch) const {
  if (!writer_.direct()) writer_.write(scratch.out_row, image, r);
}

template class UpsamplePass<float>;
template class UpsamplePass<double>;

}  // namespace hearth::cpu
