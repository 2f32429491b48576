#pragma once

#include "c10/cuda/CUDAStream.h"
#include "hearth/cuda_graph.h"

namespace hearth::cuda {
using CUDAGraph = Graph;
using MempoolId_t = MempoolId;
}  // namespace hearth::cuda

namespace c10 {
using MempoolId_t = hearth::cuda::MempoolId;
}
namespace at {
using c10::MempoolId_t;
}
