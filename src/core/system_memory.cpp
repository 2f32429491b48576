#include "core/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hearth {

namespace {

constexpr size_t kUnlimited = SIZE_MAX;

/// The null-terminated text of a small file in /proc or /sys; empty if it cannot be read.
struct ProcFile {
  char text[4096] = {};
  explicit ProcFile(const char* path) {
    std::FILE* file = std::fopen(path, "re");
    if (!file) return;
    text[std::fread(text, 1, sizeof(text) - 1, file)] = '\0';
    std::fclose(file);
  }

  /// The number after `key` at the start of a line, or `fallback`.
  size_t number_after(const char* key, size_t fallback) const {
    const size_t length = std::strlen(key);
    for (const char* line = text; line; line = std::strchr(line, '\n')) {
      if (*line == '\n') ++line;
      if (std::strncmp(line, key, length) == 0) return parse(line + length, fallback);
    }
    return fallback;
  }

 private:
  static size_t parse(const char* digits, size_t fallback) {
    char* end = nullptr;
    const unsigned long long number = std::strtoull(digits, &end, 10);
    return end == digits ? fallback : static_cast<size_t>(number);
  }
};

/// The size of _SC_PHYS_PAGES or _SC_AVPHYS_PAGES.
size_t size_of_pages(int name) {
  const long pages = sysconf(name), page_size = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_size > 0 ? size_t(pages) * size_t(page_size) : kUnlimited;
}

/// A size in /proc/meminfo or, without /proc, that of the pages.
size_t meminfo(const char* key, int pages) {
  const size_t kilobytes = ProcFile("/proc/meminfo").number_after(key, kUnlimited);
  return kilobytes == kUnlimited ? size_of_pages(pages) : kilobytes * 1024;
}

/// The memory limit of the control group; unlimited if the file contains "max" or is missing.
size_t group_limit() { return ProcFile("/sys/fs/cgroup/memory.max").number_after("", kUnlimited); }

size_t group_available() {
  const size_t limit = group_limit();
  if (limit == kUnlimited) return kUnlimited;
  const size_t used = ProcFile("/sys/fs/cgroup/memory.current").number_after("", 0);
  // Inactive file pages count as used, but the kernel can drop them at once.
  const size_t droppable = ProcFile("/sys/fs/cgroup/memory.stat").number_after("inactive_file ", 0);
  const size_t held = used - std::min(used, droppable);
  return limit - std::min(limit, held);
}

}  // namespace

size_t system_memory_total() {
  return std::min(meminfo("MemTotal:", _SC_PHYS_PAGES), group_limit());
}

size_t system_memory_available() {
  return std::min(meminfo("MemAvailable:", _SC_AVPHYS_PAGES), group_available());
}

}  // namespace hearth
