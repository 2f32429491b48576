// Graphs of operations for cuDNN's backend interface. A graph is compiled for the first of up to 16
// proposed engines that accepts it, and run by cudnnBackendExecute.

// cuDNN 9 marks the attributes that take a handle as deprecated, but releases before 9.8 have no
// others.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include "kernels/cuda/cudnn_graph.h"

#include <algorithm>

namespace hearth::cuda {

namespace {

constexpr int64_t kAlignment = 16;  // bytes, of tensors in memory
constexpr int64_t kMaxEngines = 16;

using Descriptors = std::vector<std::unique_ptr<GraphDescriptor>>;

/// The configurations of engines that cuDNN's heuristic proposes for a graph, best first.
Descriptors proposals(const GraphDescriptor& graph, const GraphDevice& device) {
  GraphDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  if (device.properties != nullptr)
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device.properties);
  heuristic.finalize();
  Descriptors configs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; i < kMaxEngines; ++i) {
    configs.push_back(std::make_unique<GraphDescriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    handles.push_back(configs.back()->handle());
  }
  int64_t count = 0;
  check_graph(Cudnn::get().cudnnBackendGetAttribute(
                  heuristic.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                  kMaxEngines, &count, handles.data()),
              "the choice of an engine");
  configs.resize(static_cast<size_t>(std::min(count, kMaxEngines)));
  return configs;
}

std::unique_ptr<GraphPlan> plan_of(const GraphDescriptor& config, const GraphDevice& device) {
  auto plan = std::make_unique<GraphPlan>();
  GraphDescriptor& descriptor = plan->descriptor;
  if (device.properties != nullptr)
    descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *device.properties);
  else
    descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, device.handle);
  descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  descriptor.finalize();
  int64_t count = 0;
  check_graph(Cudnn::get().cudnnBackendGetAttribute(
                  descriptor.handle(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                  1, &count, &plan->workspace_bytes),
              "the workspace of a plan");
  return plan;
}

}  // namespace

void check_graph(cudnnStatus_t status, const char* call) {
  if (is_refusal(status)) throw GraphRefusal{status, call};
  check_cudnn(status, call);
}

GraphDescriptor::GraphDescriptor(cudnnBackendDescriptorType_t type) {
  check_graph(Cudnn::get().cudnnBackendCreateDescriptor(type, &handle_),
              "cudnnBackendCreateDescriptor");
}

GraphDescriptor::~GraphDescriptor() { Cudnn::get().cudnnBackendDestroyDescriptor(handle_); }

void GraphDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          int64_t count, const void* values) {
  check_graph(Cudnn::get().cudnnBackendSetAttribute(handle_, name, type, count, values),
              "cudnnBackendSetAttribute");
}

void GraphDescriptor::finalize() {
  check_graph(Cudnn::get().cudnnBackendFinalize(handle_), "cudnnBackendFinalize");
}

GraphDims contiguous_strides(const GraphDims& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

GraphDescriptor& CudnnGraph::add(cudnnBackendDescriptorType_t type) {
  descriptors_.push_back(std::make_unique<GraphDescriptor>(type));
  return *descriptors_.back();
}

GraphTensor CudnnGraph::tensor(int64_t id, const GraphDims& sizes, const GraphDims& strides,
                               cudnnDataType_t dtype, bool is_virtual, bool is_number) {
  GraphDescriptor& descriptor = add(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, dtype);
  descriptor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment);
  descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes.data());
  descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
  descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual);
  descriptor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, is_number);
  descriptor.finalize();
  return {sizes, strides, dtype, &descriptor};
}

GraphTensor CudnnGraph::in_memory(int64_t id, const GraphDims& sizes, const GraphDims& strides,
                                  cudnnDataType_t dtype) {
  return tensor(id, sizes, strides, dtype, false, false);
}

GraphTensor CudnnGraph::number(int64_t id) {
  return tensor(id, {1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, false, true);
}

GraphTensor CudnnGraph::intermediate(const GraphDims& sizes, const GraphDims& strides,
                                     cudnnDataType_t dtype) {
  return tensor(next_intermediate_++, sizes, strides, dtype, true, false);
}

GraphTensor CudnnGraph::intermediate(const GraphDims& sizes, cudnnDataType_t dtype) {
  return intermediate(sizes, contiguous_strides(sizes), dtype);
}

void CudnnGraph::finish(GraphDescriptor& operation) {
  operation.finalize();
  operations_.push_back(operation.handle());
}

void CudnnGraph::matmul(const GraphTensor& a, const GraphTensor& b, const GraphTensor& c) {
  GraphDescriptor& product = add(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  product.finalize();
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *c.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
  finish(operation);
}

GraphDescriptor& CudnnGraph::pointwise_mode(cudnnPointwiseMode_t mode, cudnnDataType_t computed_in,
                                            const int64_t* axis) {
  GraphDescriptor& descriptor = add(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  descriptor.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, computed_in);
  if (axis != nullptr) descriptor.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, *axis);
  descriptor.finalize();
  return descriptor;
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, const GraphTensor& x, const GraphTensor& y) {
  GraphDescriptor& descriptor = pointwise_mode(mode, CUDNN_DATA_FLOAT);
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *x.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.descriptor);
  finish(operation);
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, const GraphTensor& a, const GraphTensor& b,
                           const GraphTensor& y, cudnnDataType_t computed_in) {
  GraphDescriptor& descriptor = pointwise_mode(mode, computed_in);
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.descriptor);
  finish(operation);
}

GraphTensor CudnnGraph::positions(const GraphTensor& like, int64_t dim) {
  const GraphTensor y = intermediate(like.sizes, CUDNN_DATA_INT32);
  GraphDescriptor& descriptor = pointwise_mode(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, &dim);
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *like.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.descriptor);
  finish(operation);
  return y;
}

void CudnnGraph::select(const GraphTensor& condition, const GraphTensor& a, const GraphTensor& b,
                        const GraphTensor& y) {
  GraphDescriptor& descriptor = pointwise_mode(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT);
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *condition.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.descriptor);
  finish(operation);
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t op, const GraphTensor& x, const GraphTensor& y) {
  GraphDescriptor& reduction = add(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op);
  reduction.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  reduction.finalize();
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *x.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *y.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
  finish(operation);
}

void CudnnGraph::reshape(const GraphTensor& x, const GraphTensor& y) {
  GraphDescriptor& operation = add(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *x.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *y.descriptor);
  finish(operation);
}

std::unique_ptr<GraphPlan> CudnnGraph::compile(const GraphDevice& device) {
  GraphDescriptor& graph = add(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (device.handle != nullptr)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, device.handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            static_cast<int64_t>(operations_.size()), operations_.data());
  graph.finalize();
  GraphRefusal refusal{CUDNN_STATUS_NOT_SUPPORTED, "the choice of an engine"};
  for (auto& config : proposals(graph, device)) try {
      auto plan = plan_of(*config, device);
      plan->parts = std::move(descriptors_);
      plan->parts.push_back(std::move(config));
      return plan;
    } catch (const GraphRefusal& error) {
      refusal = error;
    }
  throw refusal;
}

void execute(const GraphPlan& plan, cudnnHandle_t handle, const GraphAddresses& addresses,
             void* workspace) {
  GraphDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  const auto count = static_cast<int64_t>(addresses.ids.size());
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, addresses.ids.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count,
           addresses.addresses.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  pack.finalize();
  check_graph(Cudnn::get().cudnnBackendExecute(handle, plan.descriptor.handle(), pack.handle()),
              "cudnnBackendExecute");
}

}  // namespace hearth::cuda
