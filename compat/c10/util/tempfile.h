#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "c10/util/Exception.h"

namespace c10 {

namespace detail {
/// The pattern for mkstemp and mkdtemp: a path in the system's folder for temporary files.
inline std::string make_filename(const std::string& prefix) {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* folder = std::getenv(name))
      return std::string(folder) + "/" + prefix + "XXXXXX";
  return "/tmp/" + prefix + "XXXXXX";
}
}  // namespace detail

/// An open temporary file, deleted with the object.
struct TempFile {
  TempFile() = default;
  TempFile(std::string path, int descriptor) : fd(descriptor), name(std::move(path)) {}
  TempFile(TempFile&& other) noexcept
      : fd(std::exchange(other.fd, -1)), name(std::exchange(other.name, {})) {}
  TempFile& operator=(TempFile&& other) noexcept {
    std::swap(fd, other.fd);
    std::swap(name, other.name);
    return *this;
  }
  ~TempFile() {
    if (fd < 0) return;
    ::unlink(name.c_str());
    ::close(fd);
  }

  int fd = -1;
  std::string name;
};

/// A temporary folder, deleted with its contents when the object is destroyed.
struct TempDir {
  TempDir() = default;
  explicit TempDir(std::string path) : name(std::move(path)) {}
  TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, {})) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(name, other.name);
    return *this;
  }
  ~TempDir() {
    std::error_code ignored;
    if (!name.empty()) std::filesystem::remove_all(name, ignored);
  }

  std::string name;
};

inline std::optional<TempFile> try_make_tempfile(const std::string& prefix = "torch-file-") {
  std::string name = detail::make_filename(prefix);
  const int file = ::mkstemp(name.data());
  if (file < 0) return std::nullopt;
  return TempFile(std::move(name), file);
}
inline TempFile make_tempfile(const std::string& prefix = "torch-file-") {
  auto file = try_make_tempfile(prefix);
  TORCH_CHECK(file, "Error generating temporary file: ", std::strerror(errno));
  return std::move(*file);
}
inline std::optional<TempDir> try_make_tempdir(const std::string& prefix = "torch-dir-") {
  std::string name = detail::make_filename(prefix);
  if (!::mkdtemp(name.data())) return std::nullopt;
  return TempDir(std::move(name));
}
inline TempDir make_tempdir(const std::string& prefix = "torch-dir-") {
  auto folder = try_make_tempdir(prefix);
  TORCH_CHECK(folder, "Error generating temporary directory: ", std::strerror(errno));
  return std::move(*folder);
}

}  // namespace c10
