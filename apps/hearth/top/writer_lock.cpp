#include "writer_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
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

/// Whether the path leads to the open file: a writer that ends removes its file.
bool is_at(int file, const std::string& path) {
  struct stat opened {
  }, present{};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &present) == 0 &&
         opened.st_dev == present.st_dev && opened.st_ino == present.st_ino;
}

}  // namespace

WriterLock::WriterLock(const std::string& path) : file_path_(lock_of(path)) {
  constexpr int kTries = 100;  // another try follows only if another writer has ended
  for (int i = 0; i < kTries && !try_to_lock(); ++i) {
  }
}

/// Returns false if the file was removed in the meantime.
bool WriterLock::try_to_lock() {
  file_ = open(file_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return true;
  struct flock lock = whole_file(F_WRLCK);
  const bool is_locked = fcntl(file_, F_OFD_SETLK, &lock) == 0;
  const bool is_taken = !is_locked && (errno == EAGAIN || errno == EACCES);
  if ((is_locked || is_taken) && !is_at(file_, file_path_)) {
    close(file_);
    file_ = -1;
    return false;
  }
  if (is_locked) state_ = State::kHeld;
  if (is_taken) state_ = State::kTaken;
  return true;
}

WriterLock::~WriterLock() {
  // Before the lock is released: afterwards the file may be another process's.
  if (state_ == State::kHeld) unlink(file_path_.c_str());
  if (file_ >= 0) close(file_);
}

WriterLock::Holder WriterLock::holder_of(const std::string& path) {
  const int file = open(lock_of(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? Holder::kNotFound : Holder::kUnknown;
  struct flock lock = whole_file(F_RDLCK);
  const bool has_answer = fcntl(file, F_OFD_GETLK, &lock) == 0;
  close(file);
  if (!has_answer) return Holder::kUnknown;
  return lock.l_type == F_UNLCK ? Holder::kNotFound : Holder::kExists;
}

}  // namespace hearth::app
