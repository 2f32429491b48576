#pragma once

#include <cudnn.h>

#include "hearth/dtype.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

/// The functions of cuDNN that the plugin calls.
#define HEARTH_CUDNN_FUNCTIONS(X)                  \
  X(cudnnGetVersion)                               \
  X(cudnnGetErrorString)                           \
  X(cudnnCreate)                                   \
  X(cudnnSetStream)                                \
  X(cudnnCreateTensorDescriptor)                   \
  X(cudnnDestroyTensorDescriptor)                  \
  X(cudnnSetTensorNdDescriptor)                    \
  X(cudnnCreateFilterDescriptor)                   \
  X(cudnnDestroyFilterDescriptor)                  \
  X(cudnnSetFilterNdDescriptor)                    \
  X(cudnnCreateConvolutionDescriptor)              \
  X(cudnnDestroyConvolutionDescriptor)             \
  X(cudnnSetConvolutionNdDescriptor)               \
  X(cudnnSetConvolutionGroupCount)                 \
  X(cudnnSetConvolutionMathType)                   \
  X(cudnnGetConvolutionForwardAlgorithm_v7)        \
  X(cudnnFindConvolutionForwardAlgorithmEx)        \
  X(cudnnConvolutionForward)                       \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7)   \
  X(cudnnFindConvolutionBackwardDataAlgorithmEx)   \
  X(cudnnConvolutionBackwardData)                  \
  X(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
  X(cudnnFindConvolutionBackwardFilterAlgorithmEx) \
  X(cudnnConvolutionBackwardFilter)                \
  X(cudnnGetTensorNdDescriptor)                    \
  X(cudnnCreateDropoutDescriptor)                  \
  X(cudnnDestroyDropoutDescriptor)                 \
  X(cudnnSetDropoutDescriptor)                     \
  X(cudnnCreateRNNDescriptor)                      \
  X(cudnnDestroyRNNDescriptor)                     \
  X(cudnnSetRNNDescriptor_v8)                      \
  X(cudnnCreateRNNDataDescriptor)                  \
  X(cudnnDestroyRNNDataDescriptor)                 \
  X(cudnnSetRNNDataDescriptor)                     \
  X(cudnnGetRNNTempSpaceSizes)                     \
  X(cudnnGetRNNWeightSpaceSize)                    \
  X(cudnnGetRNNWeightParams)                       \
  X(cudnnRNNForward)                               \
  X(cudnnRNNBackwardData_v8)                       \
  X(cudnnRNNBackwardWeights_v8)                    \
  X(cudnnBackendCreateDescriptor)                  \
  X(cudnnBackendDestroyDescriptor)                 \
  X(cudnnBackendFinalize)                          \
  X(cudnnBackendSetAttribute)                      \
  X(cudnnBackendGetAttribute)                      \
  X(cudnnBackendExecute)

/// cuDNN, opened at its first use; without it, only convolutions fail.
struct Cudnn {
#define HEARTH_MEMBER(name) decltype(&::name) name = nullptr;
  HEARTH_CUDNN_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER

  /// Returns the library; null if it could not be opened.
  static const Cudnn* find();
  /// Returns the library; throws an Error with the reason if it could not be opened.
  static const Cudnn& get();
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
