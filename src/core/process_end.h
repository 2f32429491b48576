#pragma once

#include <thread>

namespace hearth {

/// Around each call into a library that has static objects of its own (oneDNN, BLAS). At the end
/// of the process they are destroyed, while other threads may still compute: the exit waits for the
/// calls that have begun. A thread that begins one afterwards rests until the process is gone. A
/// call inside another costs nothing.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  /// For threads that only compute for callers who wait inside a call of their own.
  static void cover_this_thread();

 private:
  static void begin_first();
  void end() const;
  bool is_first_;
};

/// After a call that may have made static objects: the exit waits before it destroys these, too.
/// LibraryCall does so for the first calls, and then ever more rarely.
void protect_new_statics();

/// While one lives, new static objects are protected soon after they are made: for a call that goes
/// on for long after it has made them.
class ProtectedStatics {
 public:
  ProtectedStatics();
  ~ProtectedStatics();
  ProtectedStatics(const ProtectedStatics&) = delete;
  ProtectedStatics& operator=(const ProtectedStatics&) = delete;

 private:
  std::jthread protector_;  // none if the system grants no thread
};

/// Calls `stop`, once, when the process ends, before the libraries' static objects are destroyed.
void stop_at_process_end(void (*stop)());

/// Says that the calling thread ends the process.
void begin_process_end();
/// If another thread ends the process: returns only if that takes long.
void rest_until_process_ends();

}  // namespace hearth
