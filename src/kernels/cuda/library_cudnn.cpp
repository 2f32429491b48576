// cuDNN 9 marks its older API as deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <cstdlib>

#include "kernels/cuda/cudnn_library.h"
#include "kernels/cuda/cudnn_parts.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/libraries.h"

namespace hearth::cuda {

namespace {

const CudnnFile& opened() {
  static const CudnnFile& once = *new CudnnFile("libcudnn.so." HEARTH_TEXT(CUDNN_MAJOR));
  return once;
}

cudnnHandle_t create_handle() {
  cudnnHandle_t handle = nullptr;
  HEARTH_CUDNN(cudnnCreate, &handle);
  return handle;
}

}  // namespace

const Cudnn* Cudnn::find() {
  return opened().file.why_not().empty() ? &opened().functions : nullptr;
}

const Cudnn& Cudnn::get() {
  HEARTH_CHECK_AS(
      NotImplementedError, find(),
      "convolutions on CUDA need cuDNN, which could not be opened: ", opened().file.why_not());
  return *find();
}

void check_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  detail::fail<Error>("cuDNN error: ", Cudnn::get().cudnnGetErrorString(status), " in ", call);
}

cudnnHandle_t cudnn_handle(const NativeStream& stream) {
  const cudnnHandle_t handle = LibraryHandles<cudnnHandle_t, create_handle>::get(stream.device);
  HEARTH_CUDNN(cudnnSetStream, handle, stream.stream);
  return handle;
}

const CudnnParts& cudnn_parts() {
  static const CudnnParts once = [] {
    const char* const text = std::getenv("HEARTH_CUDNN");
    const std::optional<CudnnParts> parts = cudnn_parts_in(text ? text : "");
    HEARTH_CHECK(parts, "HEARTH_CUDNN is '", text,
                 "', but must be empty, 'attention', 'recurrence' or both, with a comma between");
    return *parts;
  }();
  return once;
}

std::string cudnn_version() {
  const Cudnn* const library = Cudnn::find();
  return library ? version_text(library->cudnnGetVersion(), 10000, 100) : std::string();
}

}  // namespace hearth::cuda
