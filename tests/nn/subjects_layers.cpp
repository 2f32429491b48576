// Creates the modules of tests/oracle/nn_cases_layers.py.
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;

/// A new module, called through an AnyModule.
template <class Holder>
Subject called_once(Holder holder) {
  return {holder.ptr(), [module = AnyModule(holder)](const Tensors& in) mutable -> Tensors {
            if (in.size() == 1) return {module.forward(in[0])};
            return {module.forward(in[0], in[1])};
          }};
}

/// A new module, called twice in training mode and once in evaluation mode.
template <class Holder>
Subject called_twice(Holder holder) {
  return {holder.ptr(), [module = AnyModule(holder)](const Tensors& in) mutable -> Tensors {
            const Tensor first = module.forward(in[0]), second = module.forward(in[0] * 2 + 1);
            module.ptr()->eval();
            return {first, second, module.forward(in[0])};
          }};
}

#define ONCE(...) [] { return called_once(__VA_ARGS__); }
#define TWICE(...) [] { return called_twice(__VA_ARGS__); }

Table activations() {
  return {{"relu6", ONCE(ReLU6())},
          {"selu", ONCE(SELU())},
          {"celu", ONCE(CELU(CELUOptions().alpha(0.5)))},
          {"glu", ONCE(GLU())},
          {"glu_channels", ONCE(GLU(1))},
          {"mish", ONCE(Mish())},
          {"log_sigmoid", ONCE(LogSigmoid())},
          {"softmin", ONCE(Softmin(1))},
          {"softmax2d", ONCE(Softmax2d())},
          {"softsign", ONCE(Softsign())},
          {"tanhshrink", ONCE(Tanhshrink())},
          {"threshold", ONCE(Threshold(0.2, 3))},
          {"hardtanh", ONCE(Hardtanh(HardtanhOptions().min_val(-0.3).max_val(0.6)))},
          {"hardshrink", ONCE(Hardshrink(0.4))},
          {"softshrink", ONCE(Softshrink(0.4))},
          {"hardsigmoid", ONCE(Hardsigmoid())},
          {"prelu", ONCE(PReLU())},
          {"prelu_channels", ONCE(PReLU(PReLUOptions().num_parameters(4).init(0.1)))},
          {"rrelu_dropout", TWICE(RReLU(RReLUOptions().lower(0.1).upper(0.6)))}};
}

Table dropouts() {
  return {{"dropout1d", ONCE(Dropout1d(0.4))},
          {"dropout1d_unbatched", ONCE(Dropout1d(0.4))},
          {"dropout3d", ONCE(Dropout3d(0.4))},
          {"dropout3d_unbatched", ONCE(Dropout3d(0.4))},
          {"alpha_dropout", ONCE(AlphaDropout(0.3))},
          {"feature_alpha_dropout", ONCE(FeatureAlphaDropout(0.3))}};
}

Table paddings() {
  using Array2 = ExpandingArray<2>;
  using Array4 = ExpandingArray<4>;
  using Array6 = ExpandingArray<6>;
#define PADS(name, Kind, ...)                                                                \
  {name "_pad1d", ONCE(Kind##Pad1d(Array2({2, 1}) __VA_OPT__(, ) __VA_ARGS__))},             \
      {name "_pad2d", ONCE(Kind##Pad2d(Array4({1, 2, 0, 1}) __VA_OPT__(, ) __VA_ARGS__))}, { \
    name "_pad3d", ONCE(Kind##Pad3d(Array6({1, 0, 1, 1, 0, 1}) __VA_OPT__(, ) __VA_ARGS__))  \
  }
  return {PADS("reflection", Reflection),
          PADS("replication", Replication),
          PADS("circular", Circular),
          PADS("zero", Zero),
          PADS("constant", Constant, 1.5),
          {"zero_pad_negative", ONCE(ZeroPad2d(Array4({1, -1, -2, 0})))}};
#undef PADS
}

Table distances_and_shuffles() {
  return {
      {"cosine_similarity", ONCE(CosineSimilarity())},
      {"cosine_similarity_dim", ONCE(CosineSimilarity(CosineSimilarityOptions().dim(0).eps(1e-3)))},
      {"pairwise_distance", ONCE(PairwiseDistance())},
      {"pairwise_distance_options",
       ONCE(PairwiseDistance(PairwiseDistanceOptions().p(1.5).eps(1e-3).keepdim(true)))},
      {"pixel_shuffle", ONCE(PixelShuffle(2))},
      {"pixel_unshuffle", ONCE(PixelUnshuffle(2))},
      {"channel_shuffle", ONCE(ChannelShuffle(2))}};
}

InstanceNormOptions tracked(int64_t channels) {
  return InstanceNormOptions(channels).affine(true).track_running_stats(true);
}

Subject local_response_norm() {
  return called_once(LocalResponseNorm(LocalResponseNormOptions(2).alpha(0.3).beta(0.6).k(1.2)));
}

Subject cross_map_lrn(int64_t size) {
  return called_once(CrossMapLRN2d(CrossMapLRN2dOptions(size).alpha(0.4).beta(0.6).k(2)));
}

Table norms() {
  return {
      {"batch_norm3d", TWICE(BatchNorm3d(3))},
      {"instance_norm1d", TWICE(InstanceNorm1d(3))},
      {"instance_norm1d_unbatched", ONCE(InstanceNorm1d(3))},
      {"instance_norm2d", TWICE(InstanceNorm2d(tracked(4)))},
      {"instance_norm3d", TWICE(InstanceNorm3d(tracked(3).eps(1e-3).momentum(0.3)))},
      {"rms_norm", ONCE(RMSNorm(RMSNormOptions({4, 5})))},
      {"rms_norm_plain", ONCE(RMSNorm(RMSNormOptions({5}).eps(1e-2).elementwise_affine(false)))},
      {"local_response_norm_signal", local_response_norm},
      {"local_response_norm_image", local_response_norm},
      {"local_response_norm_volume", local_response_norm},
      {"local_response_norm_wide", ONCE(LocalResponseNorm(LocalResponseNormOptions(9).alpha(0.5)))},
      {"cross_map_lrn2d_3", [] { return cross_map_lrn(3); }},
      {"cross_map_lrn2d_4", [] { return cross_map_lrn(4); }},
      {"cross_map_lrn2d_9", [] { return cross_map_lrn(9); }}};
}

/// A lazy module, called once with zeros.
template <class Holder>
Holder materialized(Holder holder, IntArrayRef sizes) {
  holder(zeros(sizes));
  return holder;
}

Table lazies() {
  return {
      {"lazy_linear", ONCE(materialized(LazyLinear(3), {1, 6}))},
      {"lazy_conv1d", ONCE(materialized(LazyConv1d(Conv1dOptions(0, 2, 3).bias(false)), {3, 5}))},
      {"lazy_conv2d",
       ONCE(materialized(LazyConv2d(Conv2dOptions(0, 2, 3).padding(1).groups(2)), {1, 4, 4, 4}))},
      {"lazy_conv_transpose2d",
       ONCE(materialized(LazyConvTranspose2d(ConvTranspose2dOptions(0, 2, 3).stride(2)),
                         {1, 4, 4, 4}))},
      {"lazy_batch_norm2d", TWICE(materialized(LazyBatchNorm2d(), {1, 4, 4, 5}))},
      {"lazy_instance_norm1d", TWICE(materialized(LazyInstanceNorm1d(tracked(0)), {1, 3, 5}))}};
}

/// A module, called after one step of gradient descent.
template <class Holder>
Subject stepped(Holder holder) {
  return {holder.ptr(), [holder](const Tensors& in) mutable -> Tensors {
            holder(in[0].detach()).square().sum().backward();
            for (const Tensor& parameter : holder->parameters()) {
              const NoGradGuard no_grad;
              parameter.sub_(parameter.grad(), 0.3);
            }
            holder->zero_grad();
            return {holder(in[0])};
          }};
}

Table parametrized() {
  using namespace nn::utils::parametrizations;
#define STEPPED(...) [] { return stepped(__VA_ARGS__); }
  return {{"weight_norm", STEPPED(weight_norm(Linear(6, 3)))},
          {"weight_norm_dim1", STEPPED(weight_norm(Conv2d(4, 3, 2), "weight", 1))},
          {"weight_norm_all", STEPPED(weight_norm(Linear(6, 3), "weight", std::nullopt))},
          {"spectral_norm", TWICE(spectral_norm(Linear(6, 3)))},
          {"spectral_norm_transposed", TWICE(spectral_norm(ConvTranspose2d(4, 2, 3), "weight", 2))},
          {"spectral_norm_vector", STEPPED(spectral_norm(PReLU(PReLUOptions().num_parameters(4))))},
          {"spectral_norm_of_weight_norm", TWICE(spectral_norm(weight_norm(Linear(6, 3))))},
          {"orthogonal", STEPPED(orthogonal(Linear(6, 3)))},
          {"orthogonal_tall", STEPPED(orthogonal(Linear(LinearOptions(6, 8).bias(false))))},
          {"orthogonal_square", STEPPED(orthogonal(Linear(6, 6)))},
          {"orthogonal_cayley", STEPPED(orthogonal(Linear(6, 6), "weight", "cayley"))},
          {"orthogonal_batch", STEPPED(orthogonal(Conv2d(4, 2, ExpandingArray<2>({3, 2}))))}};
}

}  // namespace

Table layer_subjects() {
  Table table = activations();
  for (Table part :
       {dropouts(), paddings(), distances_and_shuffles(), norms(), lazies(), parametrized()})
    table.merge(part);
  return table;
}

}  // namespace hearth::testing
