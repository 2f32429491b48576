#include "core/threads.h"

#include <pthread.h>

#include <atomic>

#include "core/parallel_for.h"
#include "hearth/error.h"

// Asked for by name, because which BLAS and which OpenMP are loaded is the system's choice.
extern "C" {
[[gnu::weak]] int openblas_get_parallel();
[[gnu::weak]] void openblas_set_num_threads(int count);
[[gnu::weak]] int omp_get_max_threads() noexcept;
[[gnu::weak]] void omp_set_num_threads(int count) noexcept;
}

namespace hearth {

namespace {

constexpr int kOpenBlasPthreads = 1;  // what openblas_get_parallel answers for its own threads

std::atomic<int> process_threads{0};  // 0: not set
std::atomic<int> interop_threads{0};
thread_local int serial_depth = 0;

/// GNU's OpenMP hangs in a child process that inherits a pool without its threads.
void compute_alone_after_fork() {
  pthread_atfork(nullptr, nullptr, [] { process_threads.store(1, std::memory_order_relaxed); });
}

int first_num_threads() {
  static const int count = [] {
    compute_alone_after_fork();
    return detail::default_num_threads();
  }();
  int unset = 0;
  process_threads.compare_exchange_strong(unset, count, std::memory_order_relaxed);
  return process_threads.load(std::memory_order_relaxed);
}

void check_count(int count) {
  HEARTH_CHECK(count > 0, "Expected positive number of threads, but got ", count);
}

/// OpenBLAS's own threads would compete with OpenMP's for the cores.
void hold_blas_to_one_thread() {
  [[maybe_unused]] static const bool done = [] {
    if (blas_has_own_threads()) openblas_set_num_threads(1);
    return true;
  }();
}

}  // namespace

int get_num_threads() {
  if (serial_depth > 0) return 1;
  const int count = process_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : first_num_threads();
}

void set_num_threads(int count) {
  check_count(count);
  first_num_threads();
  process_threads.store(count, std::memory_order_relaxed);
}

int get_num_interop_threads() {
  const int count = interop_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : detail::default_num_threads();
}

void set_num_interop_threads(int count) {
  check_count(count);
  interop_threads.store(count, std::memory_order_relaxed);
}

SerialScope::SerialScope() noexcept { ++serial_depth; }
SerialScope::~SerialScope() { --serial_depth; }

bool blas_has_own_threads() {
  return openblas_get_parallel && openblas_get_parallel() == kOpenBlasPthreads;
}

LibraryThreadsGuard::LibraryThreadsGuard() {
  hold_blas_to_one_thread();
  if (!omp_get_max_threads || !omp_set_num_threads) return;
#if defined(HEARTH_THREADS_STD)
  const int wanted = 1;  // this build is for TSan, which does not understand OpenMP
#else
  const int wanted = get_num_threads();
#endif
  const int former = omp_get_max_threads();
  if (former == wanted) return;
  omp_set_num_threads(wanted);
  former_ = former;
}

LibraryThreadsGuard::~LibraryThreadsGuard() {
  if (former_ > 0) omp_set_num_threads(former_);
}

}  // namespace hearth
