#include "kernels/cuda/cudnn_library.h"

namespace hearth::cuda {

CudnnFile::CudnnFile(const char* name) : file(name) {
#define HEARTH_FIND(name) file.find(#name, functions.name);
#define HEARTH_FIND_PART(name) &&file.find_optional(#name, functions.name)
  HEARTH_CUDNN_FUNCTIONS(HEARTH_FIND)
  functions.has_nets = true HEARTH_CUDNN_NET_FUNCTIONS(HEARTH_FIND_PART);
  functions.has_graphs = true HEARTH_CUDNN_GRAPH_FUNCTIONS(HEARTH_FIND_PART);
#undef HEARTH_FIND_PART
#undef HEARTH_FIND
}

}  // namespace hearth::cuda
