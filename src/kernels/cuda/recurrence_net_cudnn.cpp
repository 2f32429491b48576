// Recurrent nets by cuDNN, all layers and directions in one call: cudnnRNNForward, and backward
// cudnnRNNBackwardData_v8 and cudnnRNNBackwardWeights_v8. Before the calls, the weights are copied
// to the places where cuDNN expects them, and the lengths of sequences to the device.
#include <limits>

#include "kernels/cuda/cudnn_library.h"
#include "kernels/cuda/cudnn_parts.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/recurrence_layout.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

using NetDescription = Owned<cudnnRNNDescriptor_t, &Cudnn::cudnnCreateRNNDescriptor,
                             &Cudnn::cudnnDestroyRNNDescriptor>;
using SequenceDescription = Owned<cudnnRNNDataDescriptor_t, &Cudnn::cudnnCreateRNNDataDescriptor,
                                  &Cudnn::cudnnDestroyRNNDataDescriptor>;
using DropoutDescription = Owned<cudnnDropoutDescriptor_t, &Cudnn::cudnnCreateDropoutDescriptor,
                                 &Cudnn::cudnnDestroyDropoutDescriptor>;
using StateDescription = Owned<cudnnTensorDescriptor_t, &Cudnn::cudnnCreateTensorDescriptor,
                               &Cudnn::cudnnDestroyTensorDescriptor>;

cudnnRNNMode_t net_mode(RecurrenceMode mode) {
  switch (mode) {
    case RecurrenceMode::kLstm: return CUDNN_LSTM;
    case RecurrenceMode::kGru: return CUDNN_GRU;
    case RecurrenceMode::kRnnRelu: return CUDNN_RNN_RELU;
    default: return CUDNN_RNN_TANH;
  }
}

/// A net with cuDNN's descriptors. After a refusal, ok() is false, and no further function of
/// cuDNN is called.
class CudnnNet {
 public:
  CudnnNet(const RecurrenceNetShape& shape, Ctx& ctx)
      : shape_(shape),
        ctx_(ctx),
        stream_(stream_of(ctx)),
        handle_(cudnn_handle(stream_)),
        lengths_(sequence_lengths(shape.batch_sizes)) {
    describe();
  }

  /// Whether cuDNN has accepted all calls; if not, it refused one. Other errors are thrown.
  bool ok() const { return is_ok_; }
  size_t reserve_bytes() const { return reserve_bytes_; }

  void forward(const RecurrenceNetParams& p) {
    const RecurrenceNetOperands& ops = p.operands;
    check_reserve(ops);
    void* const weights = weight_memory();
    copy_weights(ops.weights.data, weights, true);
    call(&Cudnn::cudnnRNNForward, handle_, net_, mode(), lengths_on_device(), input_,
         ops.input.data, output_, ops.output.data, h_, ops.h0.data, p.last_h.data, c_, ops.c0.data,
         p.last_c.data, weight_bytes_, weights, workspace_bytes_, ctx_.scratch(workspace_bytes_),
         reserve_bytes_, ops.reserve.data);
  }

  void backward(const RecurrenceNetBackwardParams& p) {
    const RecurrenceNetOperands& ops = p.operands;
    check_reserve(ops);
    void* const weights = weight_memory();
    copy_weights(ops.weights.data, weights, true);
    const int32_t* const lengths = lengths_on_device();
    void* const workspace = ctx_.scratch(workspace_bytes_);
    // The first call changes this memory for the second; a later backward pass needs it unchanged.
    void* const reserve = ctx_.scratch(reserve_bytes_);
    copy(reserve, ops.reserve.data, reserve_bytes_);
    call(&Cudnn::cudnnRNNBackwardData_v8, handle_, net_, lengths, output_, ops.output.data,
         or_zeros(p.grad_output, ops.output), input_, or_scratch(p.grad_input, ops.input), h_,
         ops.h0.data, p.grad_last_h.data, p.grad_h0.data, c_, ops.c0.data, p.grad_last_c.data,
         p.grad_c0.data, weight_bytes_, weights, workspace_bytes_, workspace, reserve_bytes_,
         reserve);
    if (!ok() || !p.grad_weights.defined()) return;
    HEARTH_CUDA(cudaMemsetAsync(weights, 0, weight_bytes_, stream_.stream));
    call(&Cudnn::cudnnRNNBackwardWeights_v8, handle_, net_, CUDNN_WGRAD_MODE_ADD, lengths, input_,
         ops.input.data, h_, ops.h0.data, output_, ops.output.data, weight_bytes_, weights,
         workspace_bytes_, workspace, reserve_bytes_, reserve);
    if (ok()) copy_weights(p.grad_weights.data, weights, false);
  }

 private:
  /// Calls a function of cuDNN unless an earlier call was refused.
  template <class... Params, class... Args>
  void call(cudnnStatus_t (*Cudnn::*function)(Params...), Args&&... args) {
    if (!is_ok_) return;
    const cudnnStatus_t status = (Cudnn::get().*function)(std::forward<Args>(args)...);
    is_ok_ = status == CUDNN_STATUS_SUCCESS;
    if (!is_refusal(status)) check_cudnn(status, "a recurrent net");
  }

  /// Throws if the reserve memory does not have the size that is needed now: cuDNN's settings may
  /// have changed since plan_recurrence_net().
  void check_reserve(const RecurrenceNetOperands& ops) const {
    const size_t bytes =
        ops.reserve.defined() ? size_t(ops.reserve.numel) * element_size(ops.reserve.dtype) : 0;
    HEARTH_CHECK(!is_ok_ || bytes == reserve_bytes_,
                 "cuDNN's settings changed between the calls of a recurrent net: it needs ",
                 reserve_bytes_, " bytes of reserve memory, but has ", bytes);
  }

  cudnnForwardMode_t mode() const {
    return shape_.saves ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
  }
  size_t element_bytes() const { return element_size(shape_.dtype); }

  void describe() {
    const cudnnDataType_t type = data_type(shape_.dtype);
    const bool is_half = is_reduced_float(shape_.dtype);
    const bool is_exact = shape_.dtype == kFloat && !ctx_.is_set(kAllowTF32CuDNN);
    call(&Cudnn::cudnnSetDropoutDescriptor, dropout_, handle_, 0.0F, nullptr, size_t{0}, 0ULL);
    call(&Cudnn::cudnnSetRNNDescriptor_v8, net_, CUDNN_RNN_ALGO_STANDARD, net_mode(shape_.mode),
         shape_.has_biases ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
         shape_.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
         type, is_half ? CUDNN_DATA_FLOAT : type,
         is_half    ? CUDNN_TENSOR_OP_MATH
         : is_exact ? CUDNN_FMA_MATH
                    : CUDNN_DEFAULT_MATH,
         int32_t(shape_.input), int32_t(shape_.hidden), int32_t(shape_.state),
         int32_t(shape_.layers), dropout_, uint32_t{CUDNN_RNN_PADDED_IO_DISABLED});
    describe_sequences(input_, shape_.input);
    describe_sequences(output_, shape_.directions() * shape_.state);
    describe_states(h_, shape_.state);
    describe_states(c_, shape_.hidden);
    call(&Cudnn::cudnnGetRNNWeightSpaceSize, handle_, net_, &weight_bytes_);
    call(&Cudnn::cudnnGetRNNTempSpaceSizes, handle_, net_, mode(), input_, &workspace_bytes_,
         &reserve_bytes_);
  }
  /// Sequences of one length are packed, too.
  void describe_sequences(const SequenceDescription& description, int64_t width) {
    call(&Cudnn::cudnnSetRNNDataDescriptor, description, data_type(shape_.dtype),
         CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, int(shape_.steps()), int(shape_.batch()),
         int(width), lengths_.data(), nullptr);
  }
  void describe_states(const StateDescription& description, int64_t width) {
    const int sizes[] = {int(shape_.layers * shape_.directions()), int(shape_.batch()), int(width)};
    const int strides[] = {sizes[1] * sizes[2], sizes[2], 1};
    call(&Cudnn::cudnnSetTensorNdDescriptor, description, data_type(shape_.dtype), 3, sizes,
         strides);
  }

  const int32_t* lengths_on_device() {
    const size_t bytes = lengths_.size() * sizeof(int32_t);
    void* const on_device = ctx_.scratch(bytes);
    HEARTH_CUDA(
        cudaMemcpyAsync(on_device, lengths_.data(), bytes, cudaMemcpyHostToDevice, stream_.stream));
    return static_cast<const int32_t*>(on_device);
  }
  void copy(void* to, const void* from, size_t bytes) const {
    if (bytes > 0)
      HEARTH_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_.stream));
  }
  void* weight_memory() { return ctx_.scratch(weight_bytes_); }
  void* or_scratch(const View& view, const View& like) {
    return view.defined() ? view.data : ctx_.scratch(size_t(like.numel) * element_bytes());
  }
  void* or_zeros(const View& view, const View& like) {
    void* const memory = or_scratch(view, like);
    if (!view.defined())
      HEARTH_CUDA(cudaMemsetAsync(memory, 0, size_t(like.numel) * element_bytes(), stream_.stream));
    return memory;
  }

  /// Copies the net's vector of weights to cuDNN's memory, or back.
  void copy_weights(void* vector, void* library, bool to_library) {
    std::vector<WeightRange> ranges;
    for (const NetWeight& weight : weights_of(shape_))
      ranges.push_back({weight.start, position_of(weight, library), weight.count()});
    if (!ok()) return;
    const auto at = [&](void* memory, int64_t position) {
      return static_cast<char*>(memory) + size_t(position) * element_bytes();
    };
    for (const WeightRange& range : joined(ranges)) {
      char *const a = at(vector, range.vector), *const b = at(library, range.library);
      copy(to_library ? b : a, to_library ? a : b, size_t(range.count) * element_bytes());
    }
  }
  /// The position of a weight in cuDNN's memory. An unexpected layout is an error, because results
  /// would be wrong.
  int64_t position_of(const NetWeight& weight, void* library) {
    const StateDescription matrix, bias;
    void *matrix_data = nullptr, *bias_data = nullptr;
    call(&Cudnn::cudnnGetRNNWeightParams, handle_, net_, weight.pseudo_layer, weight_bytes_,
         library, weight.number, matrix, &matrix_data, bias, &bias_data);
    cudnnDataType_t type{};
    int dim = 0, sizes[3] = {}, strides[3] = {};
    call(&Cudnn::cudnnGetTensorNdDescriptor, weight.is_bias ? bias : matrix, 3, &type, &dim, sizes,
         strides);
    if (!ok()) return 0;
    const auto* const data = static_cast<const char*>(weight.is_bias ? bias_data : matrix_data);
    const ptrdiff_t bytes = data - static_cast<const char*>(library);
    const bool is_expected =
        data != nullptr && dim == 3 && type == data_type(shape_.dtype) && sizes[0] == 1 &&
        sizes[1] == weight.rows && sizes[2] == weight.columns &&
        (sizes[1] == 1 || strides[1] == sizes[2]) && (sizes[2] == 1 || strides[2] == 1) &&
        bytes >= 0 && size_t(bytes) + size_t(weight.count()) * element_bytes() <= weight_bytes_;
    HEARTH_CHECK(is_expected,
                 "cuDNN has an unexpected layout of the weights of recurrent nets; "
                 "unset HEARTH_CUDNN");
    return bytes / ptrdiff_t(element_bytes());
  }

  const RecurrenceNetShape& shape_;
  Ctx& ctx_;
  const NativeStream& stream_;
  const cudnnHandle_t handle_;
  const std::vector<int32_t> lengths_;
  NetDescription net_;
  DropoutDescription dropout_;
  SequenceDescription input_, output_;
  StateDescription h_, c_;
  size_t weight_bytes_ = 0, workspace_bytes_ = 0, reserve_bytes_ = 0;
  bool is_ok_ = true;
};

/// Throws if cuDNN refused a net that it had accepted in plan_recurrence_net.
void check_not_refused(const CudnnNet& net) {
  HEARTH_CHECK(net.ok(),
               "cuDNN refused a recurrent net; unset HEARTH_CUDNN or call "
               "globalContext().setUserEnabledCuDNN(false)");
}

}  // namespace

std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) {
  if (!cudnn_parts().recurrence || !ctx.is_set(kUseCuDNN)) return {};
  const Cudnn* const library = Cudnn::find();
  if (library == nullptr || !library->has_nets || !suits_cudnn(shape)) return {};
  const CurrentDevice device(stream_of(ctx).device);
  const CudnnNet net(shape, ctx);
  if (!net.ok()) return {};
  return int64_t(net.reserve_bytes());
}

void run(const RecurrenceNetParams& params, Ctx& ctx) {
  CudnnNet net(params.operands.shape, ctx);
  net.forward(params);
  check_not_refused(net);
  ++cudnn_calls().nets;
}

void run(const RecurrenceNetBackwardParams& params, Ctx& ctx) {
  CudnnNet net(params.operands.shape, ctx);
  net.backward(params);
  check_not_refused(net);
  ++cudnn_calls().nets_backward;
}

}  // namespace hearth::cuda
