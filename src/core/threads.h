#pragma once

#include "hearth/threads.h"

namespace hearth {

/// The number of cores that this process may use.
int usable_cores();

/// Makes get_num_threads() 1 on this thread until the scope is destroyed, for the threads of a
/// parallel loop and other worker threads.
struct SerialScope {
  SerialScope() noexcept;
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;
};

/// Makes `number` the result of get_thread_num() on this thread until the scope is destroyed.
struct ThreadNumberScope {
  explicit ThreadNumberScope(int number) noexcept;
  ~ThreadNumberScope();
  ThreadNumberScope(const ThreadNumberScope&) = delete;
  ThreadNumberScope& operator=(const ThreadNumberScope&) = delete;

 private:
  int former_;
};

/// Makes get_num_threads() 1 on this thread until the thread ends.
void compute_serially_from_now_on();

/// Put around calls of oneDNN and BLAS, so that they compute on the calling thread only, because
/// OpenMP's barriers wait for threads that may not be running. The destructor restores the caller's
/// OpenMP setting. An OpenBLAS with its own threads is limited to one for good.
struct LibraryThreadsGuard {
  LibraryThreadsGuard();
  ~LibraryThreadsGuard();
  LibraryThreadsGuard(const LibraryThreadsGuard&) = delete;
  LibraryThreadsGuard& operator=(const LibraryThreadsGuard&) = delete;

 private:
  int former_ = 0;  // 0: nothing to restore
};

/// Whether the loaded BLAS is an OpenBLAS that uses its own threads instead of OpenMP's.
bool blas_has_own_threads();

}  // namespace hearth
