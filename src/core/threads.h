#pragma once

#include "hearth/threads.h"

namespace hearth {

/// While one lives, its thread computes alone: get_num_threads() is 1. For threads that are one of
/// many, because GNU's OpenMP would give each of them a pool of its own.
struct SerialScope {
  SerialScope() noexcept;
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;
};

/// Put around calls into oneDNN and BLAS: they compute with get_num_threads() threads, and the
/// caller's OpenMP setting is back afterwards. An OpenBLAS with threads of its own is held to one.
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
