#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "hearth/io/file.h"

namespace hearth::io {

namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;

/// The file that a path means, so that a symbolic link stays one.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return detail::str(folder_of(path), "/.hearth-", ::getpid(), "-", count++, ".tmp");
}

/// 0, or why the folder's new entry could not be written to the disk.
int sync_folder(const std::string& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return 0;  // a folder that may be written to but not read
  const int result = ::fsync(handle) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
  ::close(handle);
  return result;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(behind_links(path)) {
  struct stat existing;
  if (::stat(path_.c_str(), &existing) != 0) {
    create_temporary();
    return;
  }
  if (S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (::access(path_.c_str(), W_OK) != 0) fail(errno);
  if (!S_ISREG(existing.st_mode)) {  // a device or pipe cannot be replaced
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail(errno);
    return;
  }
  create_temporary();
  ::fchmod(file_, existing.st_mode & 07777);
}

void AtomicFile::create_temporary() {
  HEARTH_CHECK(!path_.empty() && path_.back() != '/', "cannot write '", path_,
               "': it names no file");
  do {
    temporary_ = temporary_name(path_);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ >= 0) return;
  temporary_.clear();
  fail(errno);
}

AtomicFile::~AtomicFile() { remove_temporary(); }

void AtomicFile::remove_temporary() noexcept {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail(int reason) const {
  detail::fail<Error>("cannot write '", path_, "': ", std::strerror(reason));
}

void AtomicFile::write(const void* data, size_t bytes) {
  HEARTH_CHECK(file_ >= 0, "cannot write '", path_, "': it was committed already");
  auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(file_, next, std::min(bytes, kMostAtOnce));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    next += done;
    bytes -= static_cast<size_t>(done);
  }
}

void AtomicFile::commit() {
  HEARTH_CHECK(file_ >= 0, "cannot write '", path_, "': it was committed already");
  if (temporary_.empty()) return remove_temporary();
  if (::fsync(file_) != 0) fail(errno);
  const int handle = file_;
  file_ = -1;
  if (::close(handle) != 0) fail(errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
  if (const int reason = sync_folder(folder_of(path_))) fail(reason);
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace hearth::io
