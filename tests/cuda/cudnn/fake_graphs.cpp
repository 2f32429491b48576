// The graph interface: descriptors are recorded, and a graph's operations are evaluated in order.
#include <cstring>
#include <map>
#include <vector>

#include "hearth/hearth.h"
#include "tests/cuda/cudnn/fake.h"

namespace hearth::testing {
namespace {

struct Descriptor {
  cudnnBackendDescriptorType_t type;
  std::map<int, std::vector<char>> values;
  std::map<int, std::vector<Descriptor*>> links;
  bool is_final = false;

  template <class T>
  std::vector<T> all(int name) const {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    std::vector<T> result(found->second.size() / sizeof(T));
    std::memcpy(result.data(), found->second.data(), found->second.size());
    return result;
  }
  template <class T>
  T value(int name) const {
    T result;
    std::memcpy(&result, values.at(name).data(), sizeof result);
    return result;
  }
  Descriptor& link(int name) const { return *links.at(name).at(0); }
};

Descriptor* as_descriptor(cudnnBackendDescriptor_t handle) {
  return static_cast<Descriptor*>(handle);
}

size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_INT64: return 8;
    case CUDNN_TYPE_BOOLEAN: return 1;
    default: return 4;
  }
}

/// Evaluates the operations of a graph on the tensors of a variant pack, in double precision.
class Evaluation {
 public:
  Evaluation(const Descriptor& graph, const Descriptor& pack) : graph_(graph) {
    const auto ids = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto addresses = pack.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (size_t i = 0; i < ids.size(); ++i) addresses_[ids[i]] = addresses.at(i);
  }

  void run() {
    for (const Descriptor* op : graph_.links.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) run(*op);
  }

 private:
  static std::vector<int64_t> sizes(const Descriptor& t) {
    return t.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  }
  static std::vector<int64_t> strides(const Descriptor& t) {
    return t.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  }
  /// The tensor's memory.
  Tensor memory(const Descriptor& t) {
    void* const data = addresses_.at(t.value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID));
    const auto type = t.value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    return from_blob(data, sizes(t), strides(t), TensorOptions(dtype_from_cudnn(type)));
  }
  Tensor read(const Descriptor& t) {
    const auto found = values_.find(&t);
    if (found != values_.end()) return found->second;
    HEARTH_CHECK(!t.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL), "read before it was written");
    return memory(t).to(kDouble);
  }
  void write(const Descriptor& t, const Tensor& value) {
    HEARTH_CHECK(value.sizes().equals(sizes(t)), "a result has other sizes than its descriptor");
    values_[&t] = value;
    if (!t.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL)) memory(t).copy_(value);
  }

  void run(const Descriptor& op) {
    switch (op.type) {
      case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return matmul(op);
      case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return pointwise(op);
      case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return reduce(op);
      case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: return reshape(op);
      default: throw Error("an operation that the fake lacks");
    }
  }
  void matmul(const Descriptor& op) {
    const Tensor a = read(op.link(CUDNN_ATTR_OPERATION_MATMUL_ADESC)),
                 b = read(op.link(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
    write(op.link(CUDNN_ATTR_OPERATION_MATMUL_CDESC),
          a.matmul(b.repeat_interleave(a.size(1) / b.size(1), 1)));
  }
  Tensor pointwise_value(const Descriptor& op, cudnnPointwiseMode_t mode) {
    const Tensor x = read(op.link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
    const auto b = [&] { return read(op.link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)); };
    switch (mode) {
      case CUDNN_POINTWISE_ADD: return x.add(b());
      case CUDNN_POINTWISE_SUB: return x.sub(b());
      case CUDNN_POINTWISE_MUL: return x.mul(b());
      case CUDNN_POINTWISE_DIV: return x.div(b());
      case CUDNN_POINTWISE_EXP: return x.exp();
      case CUDNN_POINTWISE_LOG: return x.log();
      case CUDNN_POINTWISE_IDENTITY: return x;
      case CUDNN_POINTWISE_CMP_GE: return x.ge(b());
      case CUDNN_POINTWISE_BINARY_SELECT:
        return hearth::where(read(op.link(CUDNN_ATTR_OPERATION_POINTWISE_TDESC)), x, b());
      case CUDNN_POINTWISE_GEN_INDEX: {
        const auto axis = op.link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                              .value<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
        std::vector<int64_t> shape(4, 1);
        shape[size_t(axis)] = x.size(axis);
        return arange(x.size(axis), kDouble).view(shape).expand(x.sizes());
      }
      default: throw Error("a pointwise mode that the fake lacks");
    }
  }
  void pointwise(const Descriptor& op) {
    const auto mode = op.link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                          .value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    write(op.link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC), pointwise_value(op, mode));
  }
  /// Reduces the last dimension, or groups of adjacent heads.
  void reduce(const Descriptor& op) {
    const Tensor x = read(op.link(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
    const Descriptor& y = op.link(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    const auto mode = op.link(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                          .value<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
    const int64_t heads = sizes(y)[1];
    if (heads != x.size(1)) return write(y, x.unflatten(1, {heads, x.size(1) / heads}).sum(2));
    write(y, mode == CUDNN_REDUCE_TENSOR_MAX ? x.amax(-1, true) : x.sum(-1, true));
  }
  void reshape(const Descriptor& op) {
    const Descriptor &x = op.link(CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
                     &y = op.link(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    int64_t extent = 1;
    for (size_t d = 0; d < 4; ++d) extent += (sizes(x)[d] - 1) * strides(x)[d];
    const Tensor elements = zeros({extent}, kDouble);
    elements.as_strided(sizes(x), strides(x)).copy_(read(x));
    write(y, elements.as_strided(sizes(y), strides(y)).contiguous());
  }

  const Descriptor& graph_;
  std::map<int64_t, void*> addresses_;
  std::map<const Descriptor*, Tensor> values_;
};

cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new Descriptor{type, {}, {}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t destroy_descriptor(cudnnBackendDescriptor_t descriptor) {
  delete as_descriptor(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t finalize_descriptor(cudnnBackendDescriptor_t descriptor) {
  as_descriptor(descriptor)->is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  Descriptor& d = *as_descriptor(descriptor);
  if (d.is_final) return CUDNN_STATUS_BAD_PARAM;
  const auto* const bytes = static_cast<const char*>(values);
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    d.values[name].assign(bytes, bytes + size_t(count) * bytes_of(type));
    return CUDNN_STATUS_SUCCESS;
  }
  for (int64_t i = 0; i < count; ++i) {
    Descriptor* const link = as_descriptor(static_cast<const cudnnBackendDescriptor_t*>(values)[i]);
    if (!link->is_final && link->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    d.links[name].push_back(link);
  }
  return CUDNN_STATUS_SUCCESS;
}

constexpr int64_t kGraphWorkspaceBytes = 512;

cudnnStatus_t get_attribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t, int64_t, int64_t* count, void* values) {
  Descriptor& d = *as_descriptor(descriptor);
  *count = 1;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<int64_t*>(values) = kGraphWorkspaceBytes;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS) return CUDNN_STATUS_BAD_PARAM;
  if (fake_cudnn().refuses) return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  ++fake_cudnn().graph_compilations;
  Descriptor& config = *as_descriptor(*static_cast<cudnnBackendDescriptor_t*>(values));
  config.links[0] = {&d.link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t execute_plan(cudnnHandle_t, cudnnBackendDescriptor_t plan,
                           cudnnBackendDescriptor_t pack) {
  const NoGradGuard no_grad;
  const Descriptor& graph =
      as_descriptor(plan)->link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).link(0);
  auto* const workspace = as_descriptor(pack)->value<char*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  std::memset(workspace, 1, kGraphWorkspaceBytes);
  Evaluation(graph, *as_descriptor(pack)).run();
  ++fake_cudnn().graph_runs;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void add_fake_graphs(cuda::Cudnn& functions) {
  functions.cudnnBackendCreateDescriptor = create_descriptor;
  functions.cudnnBackendDestroyDescriptor = destroy_descriptor;
  functions.cudnnBackendFinalize = finalize_descriptor;
  functions.cudnnBackendSetAttribute = set_attribute;
  functions.cudnnBackendGetAttribute = get_attribute;
  functions.cudnnBackendExecute = execute_plan;
}

}  // namespace hearth::testing
