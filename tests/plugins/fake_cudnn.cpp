// A library with the names of cuDNN's functions. With HEARTH_OLD_CUDNN, it lacks one of the
// functions for recurrent nets and all functions for graphs.
#include "kernels/cuda/cudnn_library_functions.h"

#ifdef HEARTH_OLD_CUDNN
#define cudnnRNNForward name_that_cudnn_lacks
#endif

#define HEARTH_STUB(name) \
  extern "C" int name() { return 0; }
HEARTH_CUDNN_FUNCTIONS(HEARTH_STUB)
HEARTH_CUDNN_NET_FUNCTIONS(HEARTH_STUB)
#ifndef HEARTH_OLD_CUDNN
HEARTH_CUDNN_GRAPH_FUNCTIONS(HEARTH_STUB)
#endif
