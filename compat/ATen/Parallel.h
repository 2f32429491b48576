#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "ATen/Context.h"
#include "ATen/ceil_div.h"
#include "c10/util/StringUtil.h"
#include "hearth/parallel_for.h"
#include "hearth/thread_state.h"

namespace at {

inline int64_t divup(int64_t a, int64_t b) { return ceil_div(a, b); }

/// Calls the function on another thread, with the modes of this one.
inline void launch(std::function<void()> function) {
  std::thread([function = std::move(function), state = hearth::ThreadLocalState()] {
    const hearth::ThreadLocalStateGuard guard(state);
    function();
  }).detach();
}
/// Calls the function at once, as LibTorch may do.
inline void intraop_launch(const std::function<void()>& function) { function(); }
inline int intraop_default_num_threads() { return hearth::get_num_threads(); }
/// The numbers of threads as text.
inline std::string get_parallel_info() {
  return c10::str("ATen/Parallel:\n\tat::get_num_threads() : ", hearth::get_num_threads(),
                  "\n\tat::get_num_interop_threads() : ", hearth::get_num_interop_threads(), '\n');
}
namespace internal {
inline constexpr int64_t GRAIN_SIZE = 32768;
inline void lazy_init_num_threads() {}
}  // namespace internal

/// Splits [begin, end) into chunks and combines f(chunk begin, chunk end, identity) in order.
template <class Scalar, class F, class Combine>
Scalar parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, Scalar identity, const F& f,
                       const Combine& combine) {
  if (begin >= end) return identity;
  constexpr int64_t kMaxChunks = 128;  // as in hearth::parallel_for
  const int64_t min_grain = divup(end - begin, kMaxChunks);
  const int64_t grain = grain_size <= 0          ? end - begin
                        : grain_size < min_grain ? min_grain
                                                 : grain_size;
  const int64_t num_chunks = divup(end - begin, grain);
  // Not a std::vector: vector<bool> packs elements into bytes, which threads cannot write safely.
  const std::unique_ptr<Scalar[]> results(new Scalar[static_cast<size_t>(num_chunks)]);
  hearth::parallel_for(0, num_chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t chunk_begin = begin + i * grain;
      results[i] = f(chunk_begin, end - chunk_begin < grain ? end : chunk_begin + grain, identity);
    }
  });
  Scalar total = results[0];
  for (int64_t i = 1; i < num_chunks; ++i) total = combine(total, results[i]);
  return total;
}

}  // namespace at

namespace torch {
using at::get_parallel_info;
}
