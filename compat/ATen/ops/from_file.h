#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "c10/namespaces.h"
#include "hearth/error.h"
#include "hearth/operators.h"

namespace hearth::detail {

/// An open file, closed by the destructor.
struct MappedFile {
  MappedFile(const std::string& path, bool shared)
      : name(path), number(::open(path.c_str(), shared ? O_RDWR | O_CREAT : O_RDONLY, 0600)) {
    HEARTH_CHECK(number >= 0, "unable to open file <", path, "> in ",
                 shared ? "read-write" : "read-only", " mode: ", std::strerror(errno), " (", errno,
                 ")");
  }
  ~MappedFile() { ::close(number); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// The file's first `bytes` in memory. A shared file that is shorter grows.
  void* map(size_t bytes, bool shared) const {
    struct stat status;
    HEARTH_CHECK(::fstat(number, &status) == 0, "unable to stat the file <", name,
                 ">: ", std::strerror(errno), " (", errno, ")");
    const auto size = static_cast<size_t>(status.st_size);
    HEARTH_CHECK(size >= bytes || shared, "file <", name, "> size <", size,
                 "> is smaller than the required mapping size <", bytes, ">");
    if (size < bytes)
      HEARTH_CHECK(::ftruncate(number, static_cast<off_t>(bytes)) == 0, "unable to resize file <",
                   name, "> to the right size: ", std::strerror(errno), " (", errno, ")");
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                shared ? MAP_SHARED : MAP_PRIVATE, number, 0);
    HEARTH_CHECK(memory != MAP_FAILED, "unable to mmap ", bytes, " bytes from file <", name,
                 ">: ", std::strerror(errno), " (", errno, ")");
    return memory;
  }

  std::string name;
  int number;
};

}  // namespace hearth::detail

namespace at {

/// A vector of `size` elements in the memory of a file. Changes are written to the file only if
/// `shared`; then the file is created, or grows, if needed.
inline Tensor from_file(std::string_view filename, std::optional<bool> shared = {},
                        std::optional<int64_t> size = 0, TensorOptions options = {}) {
  const int64_t count = size.value_or(0);
  const size_t bytes =
      static_cast<size_t>(count) * hearth::element_size(options.dtype_or_default());
  if (bytes == 0) return hearth::empty({0}, options);
  const hearth::detail::MappedFile file(std::string(filename), shared.value_or(false));
  void* const memory = file.map(bytes, shared.value_or(false));
  return hearth::from_blob(
      memory, {count}, [bytes](void* at) { ::munmap(at, bytes); }, options);
}

}  // namespace at

namespace torch {
using at::from_file;
}  // namespace torch
