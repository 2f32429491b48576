#include "core/parallel_for.h"

#include <atomic>
#include <exception>

#if defined(HEARTH_THREADS_STD)
#include <cstdlib>
#include <thread>
#include <vector>
#else
#include <omp.h>
#endif

namespace hearth::detail {

namespace {

/// One parallel loop: hands out its chunks and keeps the first exception.
class Region {
 public:
  Region(int64_t begin, int64_t end, int64_t chunks, RangeBody body, const void* f)
      : begin_(begin), count_(end - begin), chunks_(chunks), body_(body), f_(f) {}

  /// Runs chunks index, index + stride, …: a system that grants fewer threads still does all of
  /// them.
  void run(int64_t index, int64_t stride) noexcept {
    const SerialScope serial;
    for (; index < chunks_; index += stride) run_chunk(index);
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  int64_t limit(int64_t index) const {
    const int64_t each = count_ / chunks_;
    const int64_t longer = count_ % chunks_;
    return begin_ + index * each + (index < longer ? index : longer);
  }

  void run_chunk(int64_t index) noexcept {
    try {
      body_(f_, limit(index), limit(index + 1));
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  int64_t begin_, count_, chunks_;
  RangeBody body_;
  const void* f_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace

#if defined(HEARTH_THREADS_STD)

int default_num_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int wanted = text ? std::atoi(text) : 0;
  if (wanted > 0) return wanted;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores > 0 ? cores : 1;
}

void run_parallel(int64_t begin, int64_t end, int64_t chunks, RangeBody body, const void* f) {
  Region region(begin, end, chunks, body, f);
  {
    std::vector<std::jthread> threads;
    for (int64_t i = 1; i < chunks; ++i)
      threads.emplace_back([&region, i, chunks] { region.run(i, chunks); });
    region.run(0, chunks);
  }
  region.rethrow();
}

#else

int default_num_threads() { return omp_get_max_threads(); }

void run_parallel(int64_t begin, int64_t end, int64_t chunks, RangeBody body, const void* f) {
  Region region(begin, end, chunks, body, f);
#pragma omp parallel num_threads(static_cast <int>(chunks))
  region.run(omp_get_thread_num(), omp_get_num_threads());
  region.rethrow();
}

#endif

}  // namespace hearth::detail
