#include "kernels/cuda/library_file.h"

#include <dlfcn.h>

namespace hearth::cuda {

LibraryFile::LibraryFile(const char* file)
    : file_(file), library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ != nullptr) return;
  const char* const message = dlerror();
  why_not_ = message ? message : file;
}

void* LibraryFile::address_of(const char* name) const {
  return library_ == nullptr ? nullptr : dlsym(library_, name);
}

std::string LibraryFile::missing(const char* name) const {
  return std::string(file_) + " has no " + name;
}

}  // namespace hearth::cuda
