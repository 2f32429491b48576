// Replaces conv_cudnn.cpp and library_cudnn.cpp in a plugin built without cuDNN.
#include "hearth/error.h"
#include "kernels/cuda/libraries.h"
#include "seam/conv.h"

namespace hearth::cuda {

std::string cudnn_version() { return {}; }

void run(const ConvParams&, Ctx&) {
  detail::fail<NotImplementedError>(
      "convolutions on CUDA need cuDNN, which was not found when Hearth's CUDA plugin was built");
}

}  // namespace hearth::cuda
