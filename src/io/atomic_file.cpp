#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "hearth/io/file.h"

namespace hearth::io {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWrite = size_t{1} << 30;  // Linux writes at most 2 GiB at once
constexpr int kMaxLinks = 40;                  // Linux's limit
constexpr const char* kPrefix = ".hearth-";
constexpr const char* kSuffix = ".tmp";

/// The target of symbolic links, even if it does not exist, so that the links are kept.
std::string resolve_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real) return real.get();
  fs::path file = path;
  std::error_code ignored;
  for (int i = 0; i < kMaxLinks && !fs::exists(file, ignored) && fs::is_symlink(file, ignored); ++i)
    file = file.parent_path() / fs::read_symlink(file, ignored);
  return file.string();
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return detail::str(folder_of(path), "/", kPrefix, ::getpid(), "-", count++, kSuffix);
}

/// Locks a temporary file; false while its writer runs, because a lock ends with its process.
bool lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

/// Locks a new file; false if remove_abandoned of another writer has locked or deleted it.
bool lock_new(int file) {
  if (!lock(file) && errno == EWOULDBLOCK) return false;
  struct stat status;
  return ::fstat(file, &status) != 0 || status.st_nlink > 0;
}

/// Deletes temporary files of killed writers.
void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string(), name = entry->path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (lock(file)) ::unlink(path.c_str());
    ::close(file);
  }
}

/// Writes the folder's new entry to the disk; returns 0 or the error number.
int sync_folder(const std::string& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return 0;  // the folder is writable but not readable
  const int result = ::fsync(handle) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
  ::close(handle);
  return result;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(resolve_links(path)) {
  struct stat existing;
  if (::stat(path_.c_str(), &existing) != 0) {
    if (errno != ENOENT) fail(errno);
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
  remove_abandoned(folder_of(path_));
  for (;;) {
    temporary_ = temporary_name(path_);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0 && lock_new(file_)) return;
    if (file_ >= 0) {
      ::close(file_);
    } else if (errno != EEXIST) {
      temporary_.clear();
      fail(errno);
    }
  }
}

AtomicFile::~AtomicFile() { remove_temporary(); }

void AtomicFile::remove_temporary() noexcept {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void AtomicFile::fail(int reason) const {
  detail::fail<Error>("cannot write '", path_, "': ", std::strerror(reason));
}

void AtomicFile::write(const void* data, size_t bytes) {
  HEARTH_CHECK(file_ >= 0, "cannot write '", path_, "': it was committed already");
  auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file_, next, std::min(bytes, kMaxWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::sync() {
  HEARTH_CHECK(file_ >= 0, "cannot write '", path_, "': it was committed already");
  if (!temporary_.empty() && ::fsync(file_) != 0) fail(errno);
}

void AtomicFile::commit() {
  sync();
  if (temporary_.empty()) return remove_temporary();
  // The file stays open, and so locked, until it has its final name.
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
  remove_temporary();
  if (const int reason = sync_folder(folder_of(path_))) fail(reason);
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace hearth::io
