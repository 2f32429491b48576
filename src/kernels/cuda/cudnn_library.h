#pragma once

#include <cudnn.h>

#include "hearth/dtype.h"
#include "kernels/cuda/cudnn_library_functions.h"
#include "kernels/cuda/library_file.h"

namespace hearth::cuda {

/// cuDNN, opened at its first use; without it, only convolutions fail.
struct Cudnn {
#define HEARTH_MEMBER(name) decltype(&::name) name = nullptr;
  HEARTH_CUDNN_FUNCTIONS(HEARTH_MEMBER)
  HEARTH_CUDNN_NET_FUNCTIONS(HEARTH_MEMBER)
  HEARTH_CUDNN_GRAPH_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER
  /// Whether the library has all functions for recurrent nets, or for graphs; older releases lack
  /// some.
  bool has_nets = false, has_graphs = false;

  /// Returns the library; null if it could not be opened.
  static const Cudnn* find();
  /// Returns the library; throws an Error with the reason if it could not be opened.
  static const Cudnn& get();
};

/// An opened file of cuDNN and its functions.
struct CudnnFile {
  explicit CudnnFile(const char* name);
  LibraryFile file;
  Cudnn functions;
};

/// Throws unless the call succeeded.
void check_cudnn(cudnnStatus_t status, const char* call);
/// Calls a function of cuDNN and throws unless it succeeds.
#define HEARTH_CUDNN(function, ...) \
  ::hearth::cuda::check_cudnn(::hearth::cuda::Cudnn::get().function(__VA_ARGS__), #function)

/// Whether an error leaves the device intact, so that another algorithm or layout may be tried.
inline bool is_refusal(cudnnStatus_t status) {
  return status >= CUDNN_STATUS_BAD_PARAM && status < CUDNN_STATUS_EXECUTION_FAILED;
}

/// This thread's handle for the stream's device.
cudnnHandle_t cudnn_handle(const NativeStream& stream);

/// Owns a cuDNN descriptor, which two members of Cudnn create and destroy.
template <class Handle, auto create, auto destroy>
class Owned {
 public:
  Owned() { check_cudnn((Cudnn::get().*create)(&handle_), "the creation of a descriptor"); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { (Cudnn::get().*destroy)(handle_); }
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

/// cuDNN's number of a floating dtype.
inline cudnnDataType_t data_type(ScalarType dtype) {
  switch (dtype) {
    case kHalf: return CUDNN_DATA_HALF;
    case kBFloat16: return CUDNN_DATA_BFLOAT16;
    case kDouble: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

}  // namespace hearth::cuda
