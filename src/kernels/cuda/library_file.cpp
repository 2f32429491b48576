#include "kernels/cuda/library_file.h"

#include <dlfcn.h>

namespace hearth::cuda {

LibraryFile::LibraryFile(const char* file)
    : file_(file), library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ != nullptr) return;
  const char* const message = dlerror();
  why_not_ = message ? message : file;
}

void* LibraryFile::address_of(const char* name) {
  if (library_ == nullptr) return nullptr;
  void* const address = dlsym(library_, name);
  if (address == nullptr) why_not_ = std::string(file_) + " has no " + name;
  return address;
}

}  // namespace hearth::cuda
