#pragma once

// The functions of cuDNN that the plugin calls, as lists X(name). If a function for recurrent nets
// or for graphs is missing, only that part of cuDNN is not used.

/// Convolutions: without one of these, cuDNN counts as missing.
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
  X(cudnnConvolutionBackwardFilter)

/// Recurrent nets.
#define HEARTH_CUDNN_NET_FUNCTIONS(X) \
  X(cudnnGetTensorNdDescriptor)       \
  X(cudnnCreateDropoutDescriptor)     \
  X(cudnnDestroyDropoutDescriptor)    \
  X(cudnnSetDropoutDescriptor)        \
  X(cudnnCreateRNNDescriptor)         \
  X(cudnnDestroyRNNDescriptor)        \
  X(cudnnSetRNNDescriptor_v8)         \
  X(cudnnCreateRNNDataDescriptor)     \
  X(cudnnDestroyRNNDataDescriptor)    \
  X(cudnnSetRNNDataDescriptor)        \
  X(cudnnGetRNNTempSpaceSizes)        \
  X(cudnnGetRNNWeightSpaceSize)       \
  X(cudnnGetRNNWeightParams)          \
  X(cudnnRNNForward)                  \
  X(cudnnRNNBackwardData_v8)          \
  X(cudnnRNNBackwardWeights_v8)

/// Graphs of operations.
#define HEARTH_CUDNN_GRAPH_FUNCTIONS(X) \
  X(cudnnBackendCreateDescriptor)       \
  X(cudnnBackendDestroyDescriptor)      \
  X(cudnnBackendFinalize)               \
  X(cudnnBackendSetAttribute)           \
  X(cudnnBackendGetAttribute)           \
  X(cudnnBackendExecute)
