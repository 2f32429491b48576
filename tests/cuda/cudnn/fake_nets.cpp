// The recurrent nets of the fake cuDNN: the CPU's operators, with another layout of the weights.
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "hearth/hearth.h"
#include "tests/cuda/cudnn/fake.h"

namespace hearth::testing {
namespace {

struct FakeTensor {
  cudnnDataType_t type{};
  std::vector<int> sizes, strides;
};
struct FakeSequences {
  cudnnDataType_t type{};
  int steps = 0, batch = 0, width = 0;
  std::vector<int32_t> lengths;
};
struct FakeNet {
  cudnnRNNMode_t mode{};
  cudnnDataType_t type{};
  bool has_biases = false;
  int64_t directions = 1, layers = 1, input = 0, hidden = 0, state = 0;

  int64_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  int64_t features_of(int64_t pseudo_layer) const {
    return pseudo_layer < directions ? input : directions * state;
  }
  int64_t element_bytes() const { return int64_t(element_size(dtype_from_cudnn(type))); }
};

template <class Fake, class Handle>
cudnnStatus_t create(Handle* handle) {
  *handle = reinterpret_cast<Handle>(new Fake);
  return CUDNN_STATUS_SUCCESS;
}
template <class Fake, class Handle>
cudnnStatus_t destroy(Handle handle) {
  delete reinterpret_cast<Fake*>(handle);
  return CUDNN_STATUS_SUCCESS;
}
template <class Fake, class Handle>
Fake& as(Handle handle) {
  return *reinterpret_cast<Fake*>(handle);
}

/// A matrix or bias in the fake's memory of weights.
struct Place {
  int64_t start, rows, columns;
};
/// The places of a net's weights, by pseudo layer (cuDNN's name for a layer in one direction),
/// number and whether it is a bias. Biases come first, the gates of the state before those of the
/// input, and there are gaps around each pseudo layer.
using Places = std::map<std::tuple<int64_t, int64_t, bool>, Place>;
/// Returns a net's places, and sets `end` to the number of elements in the memory.
Places places_of(const FakeNet& net, int64_t& end) {
  Places places;
  end = 5;
  const int64_t gates = net.gates();
  for (int64_t p = net.layers * net.directions - 1; p >= 0; --p) {
    const auto add = [&](int64_t number, bool is_bias, int64_t rows, int64_t columns) {
      places[{p, number, is_bias}] = {end, rows, columns};
      end += rows * columns;
    };
    for (int64_t i = 0; net.has_biases && i < 2 * gates; ++i) add(i, true, net.hidden, 1);
    for (int64_t i = gates; i < 2 * gates; ++i) add(i, false, net.hidden, net.state);
    for (int64_t i = 0; i < gates; ++i) add(i, false, net.hidden, net.features_of(p));
    if (net.state != net.hidden) add(2 * gates, false, net.state, net.hidden);
    end += 3;
  }
  return places;
}

Tensor view_at(const FakeNet& net, const void* memory, const Place& place, bool is_bias) {
  char* const data =
      static_cast<char*>(const_cast<void*>(memory)) + place.start * net.element_bytes();
  const TensorOptions options(dtype_from_cudnn(net.type));
  if (is_bias) return from_blob(data, {place.rows}, options);
  return from_blob(data, {place.rows, place.columns}, options);
}

/// The parameters of the CPU's operator: w_ih, w_hh, b_ih, b_hh, w_hr of each pseudo layer.
std::vector<Tensor> parameters(const FakeNet& net, const void* memory) {
  int64_t end = 0;
  const Places places = places_of(net, end);
  std::vector<Tensor> result;
  for (int64_t p = 0; p < net.layers * net.directions; ++p) {
    const auto gates = [&](int64_t first, bool is_bias) {
      std::vector<Tensor> parts;
      for (int64_t i = first; i < first + net.gates(); ++i)
        parts.push_back(view_at(net, memory, places.at({p, i, is_bias}), is_bias));
      result.push_back(cat(parts));
    };
    for (const bool is_bias : {false, true})
      for (const int64_t first : {int64_t{0}, net.gates()})
        if (!is_bias || net.has_biases) gates(first, is_bias);
    if (net.state != net.hidden)
      result.push_back(view_at(net, memory, places.at({p, 2 * net.gates(), false}), false).clone());
  }
  return result;
}

/// Adds gradients of the parameters to the fake's memory.
void add_gradients(const FakeNet& net, void* memory, const std::vector<Tensor>& gradients) {
  int64_t end = 0;
  const Places places = places_of(net, end);
  size_t next = 0;
  for (int64_t p = 0; p < net.layers * net.directions; ++p) {
    for (const bool is_bias : {false, true})
      for (const int64_t first : {int64_t{0}, net.gates()}) {
        if (is_bias && !net.has_biases) continue;
        const std::vector<Tensor> parts = gradients.at(next++).chunk(net.gates());
        for (int64_t i = 0; i < net.gates(); ++i)
          view_at(net, memory, places.at({p, first + i, is_bias}), is_bias).add_(parts[size_t(i)]);
      }
    if (net.state != net.hidden)
      view_at(net, memory, places.at({p, 2 * net.gates(), false}), false)
          .add_(gradients.at(next++));
  }
}

cudnnStatus_t set_net(cudnnRNNDescriptor_t handle, cudnnRNNAlgo_t, cudnnRNNMode_t mode,
                      cudnnRNNBiasMode_t biases, cudnnDirectionMode_t directions,
                      cudnnRNNInputMode_t, cudnnDataType_t type, cudnnDataType_t computed_in,
                      cudnnMathType_t, int32_t input, int32_t hidden, int32_t state, int32_t layers,
                      cudnnDropoutDescriptor_t, uint32_t) {
  if (fake_cudnn().refuses) return CUDNN_STATUS_NOT_SUPPORTED;
  const bool is_half = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  if (computed_in != (is_half ? CUDNN_DATA_FLOAT : type)) return CUDNN_STATUS_BAD_PARAM;
  as<FakeNet>(handle) = {mode,
                         type,
                         biases == CUDNN_RNN_DOUBLE_BIAS,
                         directions == CUDNN_BIDIRECTIONAL ? 2 : 1,
                         layers,
                         input,
                         hidden,
                         state};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_sequences(cudnnRNNDataDescriptor_t handle, cudnnDataType_t type,
                            cudnnRNNDataLayout_t layout, int steps, int batch, int width,
                            const int* lengths, void*) {
  if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return CUDNN_STATUS_BAD_PARAM;
  as<FakeSequences>(handle) = {type, steps, batch, width, {lengths, lengths + batch}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_tensor(cudnnTensorDescriptor_t handle, cudnnDataType_t type, int dim,
                         const int* sizes, const int* strides) {
  as<FakeTensor>(handle) = {type, {sizes, sizes + dim}, {strides, strides + dim}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t get_tensor(cudnnTensorDescriptor_t handle, int, cudnnDataType_t* type, int* dim,
                         int* sizes, int* strides) {
  const FakeTensor& tensor = as<FakeTensor>(handle);
  *type = tensor.type;
  *dim = int(tensor.sizes.size());
  std::copy(tensor.sizes.begin(), tensor.sizes.end(), sizes);
  std::copy(tensor.strides.begin(), tensor.strides.end(), strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t weight_bytes(cudnnHandle_t, cudnnRNNDescriptor_t handle, size_t* bytes) {
  int64_t end = 0;
  places_of(as<FakeNet>(handle), end);
  *bytes = size_t(end * as<FakeNet>(handle).element_bytes());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t weight_params(cudnnHandle_t, cudnnRNNDescriptor_t handle, int32_t pseudo_layer,
                            size_t, const void* memory, int32_t number,
                            cudnnTensorDescriptor_t matrix, void** matrix_data,
                            cudnnTensorDescriptor_t bias, void** bias_data) {
  const FakeNet& net = as<FakeNet>(handle);
  int64_t end = 0;
  const Places places = places_of(net, end);
  const auto find = [&](bool is_bias, cudnnTensorDescriptor_t descriptor, void** data) {
    *data = nullptr;
    const auto found = places.find({pseudo_layer, number, is_bias});
    if (found == places.end()) return;
    const Place& place = found->second;
    const int rows = int(place.rows), columns = int(place.columns);
    as<FakeTensor>(descriptor) = {net.type, {1, rows, columns}, {rows * columns, columns, 1}};
    *data = static_cast<char*>(const_cast<void*>(memory)) + place.start * net.element_bytes();
  };
  find(false, matrix, matrix_data);
  find(true, bias, bias_data);
  return CUDNN_STATUS_SUCCESS;
}

constexpr size_t kReserveBytes = 96, kWorkspaceBytes = 64;

cudnnStatus_t temp_bytes(cudnnHandle_t, cudnnRNNDescriptor_t, cudnnForwardMode_t mode,
                         cudnnRNNDataDescriptor_t, size_t* workspace, size_t* reserve) {
  *workspace = kWorkspaceBytes;
  *reserve = mode == CUDNN_FWD_MODE_TRAINING ? kReserveBytes : 0;
  return CUDNN_STATUS_SUCCESS;
}

/// The contents of the reserve after the forward call; the first backward call changes `state`, as
/// cuDNN changes its reserve.
struct Reserve {
  enum State : int64_t { kAfterForward = 11, kAfterBackwardData = 22 };
  int64_t run, state;
  char rest[kReserveBytes - 2 * sizeof(int64_t)];
};
static_assert(sizeof(Reserve) == kReserveBytes);
Reserve& checked(void* memory, Reserve::State state) {
  Reserve& reserve = *static_cast<Reserve*>(memory);
  HEARTH_CHECK(reserve.state == state, "the reserve has other contents");
  for (const char byte : reserve.rest) HEARTH_CHECK(byte == 7, "the reserve has other contents");
  return reserve;
}

/// The operands of a forward call, and later the gradients of its parameters.
struct Run {
  Tensor x, h, c;
  std::vector<Tensor> gradients;
};
std::mutex runs_mutex;
std::vector<Run> runs;

/// The operands of a call as CPU tensors.
struct Call {
  const FakeNet& net;
  const FakeSequences& sequences;
  std::vector<Tensor> params;
  Tensor batch_sizes;

  Call(cudnnRNNDescriptor_t net_handle, cudnnRNNDataDescriptor_t input, const int32_t* lengths,
       const void* weights)
      : net(as<FakeNet>(net_handle)),
        sequences(as<FakeSequences>(input)),
        params(parameters(net, weights)),
        batch_sizes(zeros({sequences.steps}, kLong)) {
    HEARTH_CHECK(std::equal(sequences.lengths.begin(), sequences.lengths.end(), lengths),
                 "the device has other lengths than the host");
    for (const int32_t length : sequences.lengths) batch_sizes.narrow(0, 0, length).add_(1);
  }
  int64_t positions() const { return batch_sizes.sum().item<int64_t>(); }
  Tensor tensor(const void* data, std::vector<int64_t> sizes) const {
    return from_blob(const_cast<void*>(data), sizes, TensorOptions(dtype_from_cudnn(net.type)));
  }
  Tensor states(const void* data, int64_t width) const {
    return tensor(data, {net.layers * net.directions, sequences.batch, width});
  }
  Tensor inputs(const void* data) const { return tensor(data, {positions(), net.input}); }
  Tensor outputs(const void* data) const {
    return tensor(data, {positions(), net.directions * net.state});
  }
  /// The outputs, the last h and, for LSTM, the last c.
  std::vector<Tensor> run(const Tensor& x, const Tensor& h, const Tensor& c) const {
    const bool both = net.directions == 2;
    if (net.mode == CUDNN_LSTM) {
      const auto [y, last_h, last_c] =
          lstm(x, batch_sizes, {h, c}, params, net.has_biases, net.layers, 0, true, both);
      return {y, last_h, last_c};
    }
    const auto pair = [&] {
      if (net.mode == CUDNN_GRU)
        return gru(x, batch_sizes, h, params, net.has_biases, net.layers, 0, true, both);
      if (net.mode == CUDNN_RNN_RELU)
        return rnn_relu(x, batch_sizes, h, params, net.has_biases, net.layers, 0, true, both);
      return rnn_tanh(x, batch_sizes, h, params, net.has_biases, net.layers, 0, true, both);
    }();
    return {std::get<0>(pair), std::get<1>(pair)};
  }
};

cudnnStatus_t forward(cudnnHandle_t, cudnnRNNDescriptor_t handle, cudnnForwardMode_t mode,
                      const int32_t* lengths, cudnnRNNDataDescriptor_t x_desc, const void* x,
                      cudnnRNNDataDescriptor_t, void* y, cudnnTensorDescriptor_t, const void* hx,
                      void* hy, cudnnTensorDescriptor_t, const void* cx, void* cy, size_t,
                      const void* weights, size_t, void*, size_t reserve_bytes, void* reserve) {
  const NoGradGuard no_grad;
  const Call call(handle, x_desc, lengths, weights);
  const bool is_lstm = call.net.mode == CUDNN_LSTM;
  const auto results = call.run(call.inputs(x), call.states(hx, call.net.state),
                                is_lstm ? call.states(cx, call.net.hidden) : Tensor());
  call.outputs(y).copy_(results[0]);
  call.states(hy, call.net.state).copy_(results[1]);
  if (is_lstm) call.states(cy, call.net.hidden).copy_(results[2]);
  ++fake_cudnn().net_runs;
  if (mode != CUDNN_FWD_MODE_TRAINING) return CUDNN_STATUS_SUCCESS;
  HEARTH_CHECK(reserve_bytes == kReserveBytes, "the reserve has another size");
  const std::lock_guard lock(runs_mutex);
  auto& saved = *static_cast<Reserve*>(reserve);
  saved.run = int64_t(runs.size());
  saved.state = Reserve::kAfterForward;
  std::memset(saved.rest, 7, sizeof saved.rest);
  runs.push_back({call.inputs(x).clone(),
                  call.states(hx, call.net.state).clone(),
                  is_lstm ? call.states(cx, call.net.hidden).clone() : Tensor(),
                  {}});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t backward_data(cudnnHandle_t, cudnnRNNDescriptor_t handle, const int32_t* lengths,
                            cudnnRNNDataDescriptor_t, const void*, const void* dy,
                            cudnnRNNDataDescriptor_t x_desc, void* dx, cudnnTensorDescriptor_t,
                            const void*, const void* dhy, void* dhx, cudnnTensorDescriptor_t,
                            const void*, const void* dcy, void* dcx, size_t, const void* weights,
                            size_t, void*, size_t, void* memory) {
  Call call(handle, x_desc, lengths, weights);
  Reserve& reserve = checked(memory, Reserve::kAfterForward);
  reserve.state = Reserve::kAfterBackwardData;
  const std::lock_guard lock(runs_mutex);
  Run& run = runs.at(size_t(reserve.run));
  std::vector<Tensor> leaves{run.x.detach().requires_grad_(), run.h.detach().requires_grad_()};
  if (run.c.defined()) leaves.push_back(run.c.detach().requires_grad_());
  for (Tensor& param : call.params) leaves.push_back(param.requires_grad_());
  const auto outputs = call.run(leaves[0], leaves[1], run.c.defined() ? leaves[2] : Tensor());
  std::vector<Tensor> gradients{call.outputs(dy)};
  gradients.push_back(dhy ? call.states(dhy, call.net.state) : zeros_like(outputs[1]));
  if (run.c.defined())
    gradients.push_back(dcy ? call.states(dcy, call.net.hidden) : zeros_like(outputs[2]));
  const auto found = autograd::grad(outputs, leaves, gradients);
  call.inputs(dx).copy_(found[0]);
  if (dhx != nullptr) call.states(dhx, call.net.state).copy_(found[1]);
  if (dcx != nullptr) call.states(dcx, call.net.hidden).copy_(found[2]);
  run.gradients.assign(found.end() - int64_t(call.params.size()), found.end());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t backward_weights(cudnnHandle_t, cudnnRNNDescriptor_t handle, cudnnWgradMode_t mode,
                               const int32_t*, cudnnRNNDataDescriptor_t, const void*,
                               cudnnTensorDescriptor_t, const void*, cudnnRNNDataDescriptor_t,
                               const void*, size_t, void* weights, size_t, void*, size_t,
                               void* memory) {
  if (mode != CUDNN_WGRAD_MODE_ADD) return CUDNN_STATUS_NOT_SUPPORTED;
  const NoGradGuard no_grad;
  const Reserve& reserve = checked(memory, Reserve::kAfterBackwardData);
  const std::lock_guard lock(runs_mutex);
  add_gradients(as<FakeNet>(handle), weights, runs.at(size_t(reserve.run)).gradients);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void add_fake_nets(cuda::Cudnn& f) {
  f.cudnnCreateDropoutDescriptor = create<int, cudnnDropoutDescriptor_t>;
  f.cudnnDestroyDropoutDescriptor = destroy<int, cudnnDropoutDescriptor_t>;
  f.cudnnSetDropoutDescriptor = [](cudnnDropoutDescriptor_t, cudnnHandle_t, float p, void*, size_t,
                                   unsigned long long) {
    return p == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
  };
  f.cudnnCreateTensorDescriptor = create<FakeTensor, cudnnTensorDescriptor_t>;
  f.cudnnDestroyTensorDescriptor = destroy<FakeTensor, cudnnTensorDescriptor_t>;
  f.cudnnSetTensorNdDescriptor = set_tensor;
  f.cudnnGetTensorNdDescriptor = get_tensor;
  f.cudnnCreateRNNDescriptor = create<FakeNet, cudnnRNNDescriptor_t>;
  f.cudnnDestroyRNNDescriptor = destroy<FakeNet, cudnnRNNDescriptor_t>;
  f.cudnnSetRNNDescriptor_v8 = set_net;
  f.cudnnCreateRNNDataDescriptor = create<FakeSequences, cudnnRNNDataDescriptor_t>;
  f.cudnnDestroyRNNDataDescriptor = destroy<FakeSequences, cudnnRNNDataDescriptor_t>;
  f.cudnnSetRNNDataDescriptor = set_sequences;
  f.cudnnGetRNNTempSpaceSizes = temp_bytes;
  f.cudnnGetRNNWeightSpaceSize = weight_bytes;
  f.cudnnGetRNNWeightParams = weight_params;
  f.cudnnRNNForward = forward;
  f.cudnnRNNBackwardData_v8 = backward_data;
  f.cudnnRNNBackwardWeights_v8 = backward_weights;
}

}  // namespace hearth::testing
