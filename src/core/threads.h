#pragma once

#include "hearth/threads.h"

namespace hearth {

/// The cores that this process may use.
int usable_cores();

/// While one lives, its thread computes alone: get_num_threads() is 1. For the threads of a
/// parallel loop, and for threads that are one of many.
struct SerialScope {
  SerialScope() noexcept;
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;
};

/// The same for the rest of the calling thread's life.
void compute_serially_from_now_on();

/// Put around calls into oneDNN and BLAS: they compute on the calling thread alone, because
/// OpenMP's barriers wait for threads that may not be running. The caller's OpenMP setting is
/// restored. An OpenBLAS with threads of its own is held to one.
struct LibraryThreadsGuard {
  LibraryThreadsGuard();
  ~LibraryThreadsGuard();
  LibraryThreadsGuard(const LibraryThreadsGuard&) = delete;
  LibraryThreadsGuard& operator=(const LibraryThreadsGuard&) = delete;

 private:
  int former_ = 0;  // 0: nothing to restore
};

/// Whether the BLAS that was loaded is OpenBLAS with its own threads instead of OpenMP's.
bool blas_has_own_threads();

}  // namespace hearth
