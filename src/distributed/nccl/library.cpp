#include "distributed/nccl/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "hearth/error.h"

namespace hearth::distributed {

namespace {

template <class F>
void find_function(void* library, const char* name, F& function, std::string& missing) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function && missing.empty()) missing = name;
}

NcclLibrary open_nccl() {
  const char* const wanted = std::getenv("HEARTH_NCCL_LIBRARY");
  const std::string file = wanted && *wanted ? wanted : "libnccl.so.2";
  NcclLibrary result;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const message = dlerror();
    result.problem =
        detail::str("NCCL was not found (", message ? message : file.c_str(),
                    "); install it, or set HEARTH_NCCL_LIBRARY to the path of libnccl.so.2");
    return result;
  }
  std::string missing;
#define HEARTH_NCCL_FIND(name) find_function(library, #name, result.name, missing);
  HEARTH_NCCL_FUNCTIONS(HEARTH_NCCL_FIND)
#undef HEARTH_NCCL_FIND
  if (!missing.empty())
    result.problem = detail::str("the library ", file, " has no function ", missing,
                                 "; it is not NCCL, or older than NCCL 2.14");
  return result;
}

}  // namespace

const NcclLibrary& find_nccl() {
  static const NcclLibrary library = open_nccl();
  return library;
}

const NcclLibrary& nccl() {
  const NcclLibrary& library = find_nccl();
  HEARTH_CHECK_AS(DistBackendError, library.problem.empty(), library.problem);
  return library;
}

void check_nccl(ncclResult_t result, const char* call, ncclComm_t comm) {
  if (is_accepted(result)) return;
  const char* const last = nccl().ncclGetLastError(comm);
  detail::fail<DistBackendError>("NCCL: ", call, ": ", nccl().ncclGetErrorString(result),
                                 last && *last ? detail::str(" (", last, ")") : std::string());
}

}  // namespace hearth::distributed
