#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/support/files.h"

namespace hearth::testing {

/// A file system with little space, which only this process and its children see.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& size) {
    const bool is_private = unshare(CLONE_NEWNS) == 0 &&
                            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    is_mounted_ = is_private &&
                  mount("tmpfs", folder_.str().c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    if (!is_mounted_) problem_ = std::string("mounting is not allowed: ") + std::strerror(errno);
  }
  ~SmallDisk() {
    if (is_mounted_) umount2(folder_.str().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::string& problem() const { return problem_; }  ///< empty if there is a disk
  std::string path(const std::string& name) const { return folder_.path(name); }

  void fill() const { fill(path("filler")); }
  /// Writes to a file until there is no space left.
  static void fill(const std::string& filler) {
    std::ofstream file(filler, std::ios::binary);
    const std::string block(4096, 'x');
    while (file << block << std::flush) {
    }
  }
  void make_space() const { std::filesystem::remove(path("filler")); }

 private:
  TempFolder folder_;
  bool is_mounted_ = false;
  std::string problem_;
};

}  // namespace hearth::testing
