#include "writer_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace hearth::app {

namespace {

std::string lock_of(const std::string& path) { return path + ".lock"; }

/// A lock of this kind on a whole file.
struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

WriterLock::WriterLock(const std::string& path) : file_path_(lock_of(path)) {
  file_ = open(file_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return;
  struct flock lock = whole_file(F_WRLCK);
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0)
    state_ = State::kHeld;
  else if (errno == EAGAIN || errno == EACCES)
    state_ = State::kTaken;
}

WriterLock::~WriterLock() {
  // Before the lock is released: afterwards the file may be another process's.
  if (state_ == State::kHeld) unlink(file_path_.c_str());
  if (file_ >= 0) close(file_);
}

WriterLock::Holder WriterLock::holder_of(const std::string& path) {
  const int file = open(lock_of(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? Holder::kNone : Holder::kUnknown;
  struct flock lock = whole_file(F_RDLCK);
  const bool has_answer = fcntl(file, F_OFD_GETLK, &lock) == 0;
  close(file);
  if (!has_answer) return Holder::kUnknown;
  return lock.l_type == F_UNLCK ? Holder::kNone : Holder::kExists;
}

}  // namespace hearth::app
