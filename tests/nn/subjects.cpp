// Creates the modules that tests/oracle/nn_cases.py itself lists, except for attention, and joins
// them with those of the other subjects_*.cpp.
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;

/// A module called twice in training mode and once in evaluation mode.
template <class Holder>
Make twice(Holder (*make)()) {
  return called(make, [](Holder& module, const Tensors& in) -> Tensors {
    const Tensor first = module(in[0]), second = module(in[0] * 2 + 1);
    module->eval();
    return {first, second, module(in[0])};
  });
}

template <class Holder>
Make recurrent(Holder (*make)()) {
  return called(make, [](Holder& module, const Tensors& in) -> Tensors {
    if (in.size() == 1) return flattened(module(in[0]));
    if constexpr (std::is_same_v<Holder, LSTM>)
      return flattened(module(in[0], std::optional(std::tuple(in[1], in[2]))));
    else
      return flattened(module(in[0], in[1]));
  });
}

struct SmallNetImpl : Module {
  SmallNetImpl() {
    register_module("conv1", conv1);
    register_module("norm", norm);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) {
    x = relu(norm(conv1(x)));
    x = max_pool2d(relu(conv2(x)), 2);
    return log_softmax(fc(drop(x.flatten(1))), 1);
  }
  Conv2d conv1{Conv2dOptions(1, 3, 3)};
  BatchNorm2d norm{3};
  Conv2d conv2{Conv2dOptions(3, 4, 3).padding(1)};
  Dropout drop{0.25};
  Linear fc{36, 5};
};
HEARTH_MODULE(SmallNet);

/// The losses of 20 steps of gradient descent.
Subject training() {
  SmallNet net;
  return {net.ptr(), [net](const Tensors& in) mutable -> Tensors {
            Tensors losses;
            for (int i = 0; i < 20; ++i) {
              net->zero_grad();
              const Tensor loss = nll_loss(net(in[0].detach()), in[1]);
              loss.backward();
              losses.push_back(loss.detach());
              const NoGradGuard no_grad;
              for (const Tensor& parameter : net->parameters())
                parameter.sub_(parameter.grad(), 0.1);
            }
            return {stack(losses)};
          }};
}

Subject transposed_with_size() {
  ConvTranspose2d module(ConvTranspose2dOptions(4, 2, 3).stride(2).padding(1));
  return {module.ptr(), [module](const Tensors& in) mutable -> Tensors {
            const std::vector<int64_t> size{8, 9};
            return {module(in[0], std::optional<IntArrayRef>(size))};
          }};
}

Tensor class_weights() { return tensor({0.5, 2.0, 1.0}); }

Conv2d padded_conv(nn::detail::conv_padding_mode_t mode) {
  return Conv2d(Conv2dOptions(4, 2, 3).padding(1).padding_mode(mode));
}

void add_basic_layers(Table& table) {
  table.insert({
      {"linear", plain(+[] { return Linear(6, 3); })},
      {"linear_no_bias", plain(+[] { return Linear(LinearOptions(6, 3).bias(false)); })},
      {"bilinear", plain(+[] { return Bilinear(6, 2, 3); })},
      {"flatten", plain(+[] { return Flatten(FlattenOptions().start_dim(1).end_dim(2)); })},
      {"unflatten", plain(+[] {
         return Unflatten(UnflattenOptions(1, {2, 3}));
       })},
      {"conv1d",
       plain(+[] { return Conv1d(Conv1dOptions(4, 6, 3).stride(2).padding(1).groups(2)); })},
      {"conv2d", plain(+[] {
         return Conv2d(Conv2dOptions(4, 3, {3, 2}).padding({1, 0}).dilation({2, 1}));
       })},
      {"conv2d_same", plain(+[] {
         return Conv2d(Conv2dOptions(4, 2, {3, 2}).padding(kSame));
       })},
      {"conv2d_reflect", plain(+[] { return padded_conv(kReflect); })},
      {"conv2d_replicate", plain(+[] { return padded_conv(kReplicate); })},
      {"conv2d_circular", plain(+[] { return padded_conv(kCircular); })},
      {"conv2d_same_reflect", plain(+[] {
         return Conv2d(Conv2dOptions(4, 2, {4, 2}).padding(kSame).padding_mode(kReflect));
       })},
      {"conv_transpose2d", plain(+[] {
         return ConvTranspose2d(
             ConvTranspose2dOptions(4, 2, 3).stride(2).padding(1).output_padding(1));
       })},
      {"conv_transpose2d_size", transposed_with_size},
      {"max_pool2d", plain(+[] {
         return MaxPool2d(MaxPool2dOptions(2).stride({2, 1}).padding(1));
       })},
      {"avg_pool2d", plain(+[] {
         return AvgPool2d(AvgPool2dOptions({3, 2}).stride(2).padding(1).count_include_pad(false));
       })},
      {"adaptive_avg_pool2d", plain(+[] {
         return AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({std::nullopt, 4}));
       })},
      {"batch_norm1d", twice(+[] { return BatchNorm1d(6); })},
      {"batch_norm2d_cumulative",
       twice(+[] { return BatchNorm2d(BatchNorm2dOptions(4).momentum(std::nullopt)); })},
      {"batch_norm2d_plain", twice(+[] {
         return BatchNorm2d(BatchNorm2dOptions(4).affine(false).track_running_stats(false));
       })},
      {"layer_norm", plain(+[] {
         return LayerNorm(LayerNormOptions({4, 5}).eps(1e-3));
       })},
      {"group_norm", plain(+[] { return GroupNorm(2, 4); })},
      {"embedding", plain(+[] { return Embedding(EmbeddingOptions(7, 3).padding_idx(1)); })},
      {"embedding_max_norm",
       plain(+[] { return Embedding(EmbeddingOptions(5, 4).max_norm(1.0)); })},
      {"dropout", plain(+[] { return Dropout(0.3); })},
      {"dropout2d", plain(+[] { return Dropout2d(0.4); })},
      {"training", training},
  });
}

void add_basic_activations(Table& table) {
  table.insert({
      {"relu", plain(+[] { return ReLU(); })},
      {"leaky_relu", plain(+[] { return LeakyReLU(LeakyReLUOptions().negative_slope(0.2)); })},
      {"elu", plain(+[] { return ELU(ELUOptions().alpha(0.7)); })},
      {"gelu", plain(+[] { return GELU(); })},
      {"gelu_tanh", plain(+[] { return GELU(GELUOptions().approximate("tanh")); })},
      {"silu", plain(+[] { return SiLU(); })},
      {"sigmoid", plain(+[] { return Sigmoid(); })},
      {"tanh", plain(+[] { return Tanh(); })},
      {"softplus", plain(+[] { return Softplus(SoftplusOptions().beta(2).threshold(1)); })},
      {"hardswish", plain(+[] { return Hardswish(); })},
      {"softmax", plain(+[] { return Softmax(1); })},
      {"log_softmax", plain(+[] { return LogSoftmax(0); })},
  });
}

void add_basic_losses(Table& table) {
  table.insert({
      {"cross_entropy", plain(+[] { return CrossEntropyLoss(); })},
      {"cross_entropy_options", plain(+[] {
         return CrossEntropyLoss(CrossEntropyLossOptions()
                                     .weight(class_weights())
                                     .ignore_index(0)
                                     .label_smoothing(0.1));
       })},
      {"nll",
       plain(+[] { return NLLLoss(NLLLossOptions().weight(class_weights()).reduction(kSum)); })},
      {"mse", plain(+[] { return MSELoss(); })},
      {"l1", plain(+[] { return L1Loss(kNone); })},
      {"smooth_l1", plain(+[] { return SmoothL1Loss(SmoothL1LossOptions().beta(0.4)); })},
      {"bce", plain(+[] { return BCELoss(); })},
      {"bce_with_logits", plain(+[] {
         return BCEWithLogitsLoss(
             BCEWithLogitsLossOptions().weight(values_of(6) + 2).pos_weight(values_of(6) + 1.5));
       })},
  });
}

void add_basic_recurrent(Table& table) {
  table.insert({
      {"rnn", recurrent(+[] { return RNN(RNNOptions(4, 3).nonlinearity(kReLU)); })},
      {"rnn_layers",
       recurrent(+[] { return RNN(RNNOptions(4, 3).num_layers(2).bidirectional(true)); })},
      {"lstm", recurrent(+[] { return LSTM(LSTMOptions(4, 3).num_layers(2).batch_first(true)); })},
      {"lstm_state", recurrent(+[] { return LSTM(LSTMOptions(4, 3).bidirectional(true)); })},
      {"gru", recurrent(+[] { return GRU(GRUOptions(4, 3).num_layers(2).bias(false)); })},
      {"gru_state", recurrent(+[] { return GRU(GRUOptions(4, 3).bidirectional(true)); })},
  });
}

}  // namespace

Tensor values_of(IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return ((arange(count) * 37 % 101).to(kFloat) / 50.5 - 0.993).reshape(sizes);
}

const Table& subjects() {
  static const Table table = [] {
    Table made;
    add_basic_layers(made);
    add_basic_activations(made);
    add_basic_losses(made);
    add_basic_recurrent(made);
    made.merge(attention_subjects());
    made.merge(layer_subjects());
    made.merge(upsampling_subjects());
    made.merge(recurrent_subjects());
    made.merge(loss_subjects());
    made.merge(pooling_subjects());
    return made;
  }();
  return table;
}

}  // namespace hearth::testing
