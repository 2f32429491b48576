#include "hearth/io/from_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "hearth/operators.h"

namespace hearth::io {

namespace {

/// A file whose part becomes the memory of a tensor.
class FileOfTensor {
 public:
  FileOfTensor(const std::string& path, bool shared)
      : name_(path),
        shared_(shared),
        file_(::open(path.c_str(), (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600)) {
    check(file_ >= 0, "unable to open file <", path, "> in ", shared ? "read-write" : "read-only",
          " mode");
  }
  ~FileOfTensor() { ::close(file_); }
  FileOfTensor(const FileOfTensor&) = delete;
  FileOfTensor& operator=(const FileOfTensor&) = delete;

  /// The file's first `bytes` in memory. A shared file that is shorter grows.
  std::shared_ptr<void> map(size_t bytes) const {
    struct stat status;
    check(::fstat(file_, &status) == 0, "unable to stat the file <", name_, ">");
    const auto size = static_cast<size_t>(status.st_size);
    HEARTH_CHECK(size >= bytes || shared_, "file <", name_, "> size <", size,
                 "> is smaller than the required mapping size <", bytes, ">");
    if (size < bytes)
      check(::ftruncate(file_, static_cast<off_t>(bytes)) == 0, "unable to resize file <", name_,
            "> to the right size");
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                shared_ ? MAP_SHARED : MAP_PRIVATE, file_, 0);
    check(memory != MAP_FAILED, "unable to mmap ", bytes, " bytes from file <", name_, ">");
    return {memory, [bytes](void* at) { ::munmap(at, bytes); }};
  }

 private:
  template <class... Parts>
  static void check(bool holds, const Parts&... parts) {
    const int reason = errno;
    HEARTH_CHECK(holds, parts..., ": ", std::strerror(reason), " (", reason, ")");
  }

  const std::string& name_;
  bool shared_;
  int file_;
};

}  // namespace

Tensor from_file(std::string_view filename, std::optional<bool> shared, std::optional<int64_t> size,
                 TensorOptions options) {
  const int64_t count = size.value_or(0);
  HEARTH_CHECK(count >= 0, "from_file: size must not be negative, got ", count);
  if (count == 0) return empty({0}, options);
  const auto element = static_cast<int64_t>(element_size(options.dtype_or_default()));
  int64_t bytes = 0;
  HEARTH_CHECK(!__builtin_mul_overflow(count, element, &bytes), "from_file: size ", count,
               " is too large");
  const std::string name(filename);
  const FileOfTensor file(name, shared.value_or(false));
  const std::shared_ptr<void> memory = file.map(static_cast<size_t>(bytes));
  return from_blob(
      memory.get(), {count}, [memory](void*) {}, options);
}

}  // namespace hearth::io
