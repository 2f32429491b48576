#pragma once

#include <thread>

namespace hearth {

/// Put around each call into a library that has static objects (oneDNN, BLAS). These are destroyed
/// at the end of the process, while other threads may still compute. So the exit waits for the
/// calls that have begun, and a thread that begins a call afterwards blocks until the process has
/// ended (or throws an Error after some seconds). A nested call costs nothing.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  /// Makes all calls of this thread count as nested, for threads that compute only for callers
  /// which wait inside a call.
  static void cover_this_thread();

 private:
  static void begin_creating();
  void end() const;
  bool may_create_statics_;
};

/// Makes the exit wait for calls before it destroys the static objects that exist now. LibraryCall
/// does this after the first calls, and then ever more rarely.
void protect_new_statics();

/// Until it is destroyed, calls protect_new_statics repeatedly, for a long call that creates static
/// objects.
class ProtectedStatics {
 public:
  ProtectedStatics();
  ~ProtectedStatics();
  ProtectedStatics(const ProtectedStatics&) = delete;
  ProtectedStatics& operator=(const ProtectedStatics&) = delete;

 private:
  std::jthread protector_;  // empty if the system refuses to start a thread
};

/// Registers a function that is called once when the process ends, before the static objects of
/// libraries are destroyed. The functions are called in reverse order of registration.
void stop_at_process_end(void (*stop)());

/// Declares that the calling thread ends the process.
void begin_process_end();
/// If another thread is ending the process, waits for the end, at most for some seconds.
void wait_while_process_ends();

}  // namespace hearth
