#pragma once

// Graphs of operations, which cuDNN compiles to one kernel or a few.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda/cudnn_library.h"

namespace hearth::cuda {

/// The exception of a call that cuDNN refuses: another computation has to replace the graph.
struct GraphRefusal {
  cudnnStatus_t status;
  const char* call;
};

/// Throws a GraphRefusal if cuDNN refuses a call, and an Error if the call fails otherwise.
void check_graph(cudnnStatus_t status, const char* call);

/// Owns a descriptor of the graph interface.
class GraphDescriptor {
 public:
  explicit GraphDescriptor(cudnnBackendDescriptorType_t type);
  ~GraphDescriptor();
  GraphDescriptor(const GraphDescriptor&) = delete;
  GraphDescriptor& operator=(const GraphDescriptor&) = delete;

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
           const void* values);
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set(name, type, 1, &value);
  }
  /// Sets an attribute that is another descriptor.
  void set(cudnnBackendAttributeName_t name, const GraphDescriptor& other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.handle_);
  }
  void finalize();
  cudnnBackendDescriptor_t handle() const { return handle_; }

 private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

/// Four sizes or strides, in elements.
using GraphDims = std::array<int64_t, 4>;
GraphDims contiguous_strides(const GraphDims& sizes);

struct GraphTensor {
  GraphDims sizes, strides;
  cudnnDataType_t dtype;
  GraphDescriptor* descriptor;
};

/// The device for which graphs are compiled: that of a handle or, without a GPU, the one that a
/// descriptor of type CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR describes.
struct GraphDevice {
  cudnnHandle_t handle = nullptr;
  const GraphDescriptor* properties = nullptr;
};

/// A compiled graph. It keeps the descriptors from which it was made.
struct GraphPlan {
  std::vector<std::unique_ptr<GraphDescriptor>> parts;
  GraphDescriptor descriptor{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
  int64_t workspace_bytes = 0;
};

/// The tensors and operations of a graph. Intermediate results have no address; they are float
/// unless an argument says otherwise.
class CudnnGraph {
 public:
  /// A tensor in memory, which execute() finds by its id.
  GraphTensor in_memory(int64_t id, const GraphDims& sizes, const GraphDims& strides,
                        cudnnDataType_t dtype);
  /// A float of the host's memory.
  GraphTensor number(int64_t id);
  GraphTensor intermediate(const GraphDims& sizes, cudnnDataType_t dtype = CUDNN_DATA_FLOAT);
  GraphTensor intermediate(const GraphDims& sizes, const GraphDims& strides, cudnnDataType_t dtype);

  /// c = a @ b; the heads of b may be fewer than those of a, and divide them.
  void matmul(const GraphTensor& a, const GraphTensor& b, const GraphTensor& c);
  void pointwise(cudnnPointwiseMode_t mode, const GraphTensor& x, const GraphTensor& y);
  void pointwise(cudnnPointwiseMode_t mode, const GraphTensor& a, const GraphTensor& b,
                 const GraphTensor& y, cudnnDataType_t computed_in = CUDNN_DATA_FLOAT);
  /// The positions of elements along a dimension, in the sizes of `like`.
  GraphTensor positions(const GraphTensor& like, int64_t dim);
  /// y = condition ? a : b.
  void select(const GraphTensor& condition, const GraphTensor& a, const GraphTensor& b,
              const GraphTensor& y);
  void reduce(cudnnReduceTensorOp_t op, const GraphTensor& x, const GraphTensor& y);
  /// Gives the elements of x the sizes and strides of y.
  void reshape(const GraphTensor& x, const GraphTensor& y);

  /// Compiles the graph with the first engine of cuDNN's heuristic that accepts it; the graph is
  /// empty afterwards.
  std::unique_ptr<GraphPlan> compile(const GraphDevice& device);

 private:
  GraphDescriptor& add(cudnnBackendDescriptorType_t type);
  GraphTensor tensor(int64_t id, const GraphDims& sizes, const GraphDims& strides,
                     cudnnDataType_t dtype, bool is_virtual, bool is_number);
  GraphDescriptor& pointwise_mode(cudnnPointwiseMode_t mode, cudnnDataType_t computed_in,
                                  const int64_t* axis = nullptr);
  void finish(GraphDescriptor& operation);

  static constexpr int64_t kFirstIntermediate = 1000;
  std::vector<std::unique_ptr<GraphDescriptor>> descriptors_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  int64_t next_intermediate_ = kFirstIntermediate;
};

/// The addresses of a graph's tensors in memory, by their ids.
struct GraphAddresses {
  std::vector<int64_t> ids;
  std::vector<void*> addresses;
  void add(int64_t id, const void* address) {
    ids.push_back(id);
    addresses.push_back(const_cast<void*>(address));
  }
};
/// Runs a compiled graph in the handle's stream.
void execute(const GraphPlan& plan, cudnnHandle_t handle, const GraphAddresses& addresses,
             void* workspace);

}  // namespace hearth::cuda
