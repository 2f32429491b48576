#include "core/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "hearth/error.h"

// Weak symbols, because the system chooses the BLAS and the OpenMP library.
extern "C" {
[[gnu::weak]] int openblas_get_parallel();
[[gnu::weak]] void openblas_set_num_threads(int count);
[[gnu::weak]] int omp_in_parallel() noexcept;
[[gnu::weak]] int omp_get_max_threads() noexcept;
[[gnu::weak]] void omp_set_num_threads(int count) noexcept;
}

namespace hearth {

namespace {

constexpr int kOpenBlasPthreads = 1;  // openblas_get_parallel's result for its own threads

std::atomic<int> process_threads{0};  // 0: not set
std::atomic<int> interop_threads{0};
thread_local int serial_depth = 0;
thread_local int thread_number = -1;  // -1: not in a parallel loop

// A larger multiple of the cores is more likely an error than intended.
constexpr int kMaxThreadsPerCore = 16;
constexpr int kMinThreadLimit = 64;

/// The first number in OMP_NUM_THREADS; 0 if it is not set or not a number.
int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (!text) return 0;
  const long count = std::strtol(text, nullptr, 10);
  return static_cast<int>(std::clamp(count, 0L, 1L << 30));
}

int limited_threads(int count) {
  const int limit = std::max(kMinThreadLimit, kMaxThreadsPerCore * usable_cores());
  if (count <= limit) return count;
  warn("set_num_threads or OMP_NUM_THREADS asks for " + std::to_string(count) + " threads; using " +
       std::to_string(limit) + ", because this process may use " + std::to_string(usable_cores()) +
       " cores");
  return limit;
}

int default_num_threads() {
  static const int count = [] {
    const int wanted = threads_from_environment();
    return wanted > 0 ? limited_threads(wanted) : usable_cores();
  }();
  return count;
}

void check_count(int count) {
  HEARTH_CHECK(count > 0, "Expected positive number of threads, but got ", count);
}

/// OpenBLAS's own threads would compete with the pool's for the cores.
void limit_blas_to_one_thread() {
  [[maybe_unused]] static const bool done = [] {
    if (blas_has_own_threads()) openblas_set_num_threads(1);
    return true;
  }();
}

}  // namespace

int usable_cores() {
  static const int count = [] {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return count;
}

int get_num_threads() {
  if (serial_depth > 0 || (omp_in_parallel && omp_in_parallel())) return 1;
  const int count = process_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : default_num_threads();
}

void set_num_threads(int count) {
  check_count(count);
  process_threads.store(limited_threads(count), std::memory_order_relaxed);
}

int get_num_interop_threads() {
  const int count = interop_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : default_num_threads();
}

void set_num_interop_threads(int count) {
  check_count(count);
  interop_threads.store(count, std::memory_order_relaxed);
}

bool in_parallel_region() { return thread_number >= 0; }
int get_thread_num() { return std::max(thread_number, 0); }

ThreadNumberScope::ThreadNumberScope(int number) noexcept
    : former_(std::exchange(thread_number, number)) {}
ThreadNumberScope::~ThreadNumberScope() { thread_number = former_; }

SerialScope::SerialScope() noexcept { ++serial_depth; }
SerialScope::~SerialScope() { --serial_depth; }
void compute_serially_from_now_on() { ++serial_depth; }

bool blas_has_own_threads() {
  return openblas_get_parallel && openblas_get_parallel() == kOpenBlasPthreads;
}

LibraryThreadsGuard::LibraryThreadsGuard() {
  limit_blas_to_one_thread();
  if (!omp_get_max_threads || !omp_set_num_threads) return;
  const int former = omp_get_max_threads();
  if (former == 1) return;
  omp_set_num_threads(1);
  former_ = former;
}

LibraryThreadsGuard::~LibraryThreadsGuard() {
  if (former_ > 0) omp_set_num_threads(former_);
}

}  // namespace hearth
