#pragma once

#include <string>

namespace hearth::app {

/// A lock by which readers, also those on other machines, see that the writer of a file exists.
///
/// The kernel (or the file server, if the writer's machine is lost) releases the lock when the
/// writer ends, also by SIGKILL. The lock belongs to an open file description (fcntl): a reader can
/// ask for it without taking it and without the right to write. With flock(), a reader would have
/// to lock the file for a moment, which a starting writer could take for another writer's lock.
/// The lock also reaches the server of a network file system. The locked file is not the written
/// one, which is replaced each time.
class WriterLock {
 public:
  enum class State {
    kHeld,        // by this process
    kTaken,       // by another process
    kUnavailable  // the file system has no locks, or the file cannot be created
  };
  /// Locks the file that belongs to `path` until the object is destroyed.
  explicit WriterLock(const std::string& path);
  /// Removes the file if this process holds the lock.
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  State state() const { return state_; }

  enum class Holder { kExists, kNotFound, kUnknown };
  /// Whether a process holds the lock that belongs to `path`.
  static Holder holder_of(const std::string& path);

 private:
  bool try_to_lock();

  std::string file_path_;
  int file_ = -1;
  State state_ = State::kUnavailable;
};

}  // namespace hearth::app
