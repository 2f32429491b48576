// Creates the modules of tests/oracle/nn_cases_pooling.py.
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;
using Sizes = std::vector<int64_t>;

template <class Holder>
Make with_indices(Holder make()) {
  return called(make, [](Holder& m, const Tensors& in) -> Tensors {
    const auto [values, indices] = m->forward_with_indices(in[0]);
    return {values, indices};
  });
}

/// A transposed convolution or an unpooling, called with the output's size.
template <class Holder>
Make with_output_size(Holder make(), Sizes size) {
  return called(make, [size](Holder& m, const Tensors& in) -> Tensors {
    if constexpr (requires { m->forward(in[0]); })
      return {m(in[0], std::optional<IntArrayRef>(size))};
    else
      return {m(in[0], in[1], std::optional(size))};
  });
}

Conv1d padded_conv1d(nn::detail::conv_padding_mode_t mode) {
  return Conv1d(Conv1dOptions(4, 2, 3).padding(2).padding_mode(mode));
}
Conv3d padded_conv3d(nn::detail::conv_padding_mode_t mode) {
  return Conv3d(Conv3dOptions(4, 2, 2).padding({1, 2, 0}).padding_mode(mode));
}

Tensor samples(int64_t dims) {
  return tensor({0.3, 0.55, 0.7, 0.05}).unsqueeze(1).expand({2, 4, dims});
}

Table convolutions() {
  return {
      {"conv3d", plain(+[] {
         return Conv3d(Conv3dOptions(4, 2, {3, 1, 2})
                           .stride({2, 1, 1})
                           .padding({1, 0, 1})
                           .dilation({1, 1, 2})
                           .groups(2));
       })},
      {"conv3d_same", plain(+[] {
         return Conv3d(Conv3dOptions(4, 2, {2, 3, 2}).padding(kSame));
       })},
      {"conv1d_same_circular", plain(+[] {
         return Conv1d(Conv1dOptions(4, 2, 4).padding(kSame).padding_mode(kCircular));
       })},
      {"conv1d_reflect", plain(+[] { return padded_conv1d(kReflect); })},
      {"conv1d_replicate", plain(+[] { return padded_conv1d(kReplicate); })},
      {"conv1d_circular", plain(+[] { return padded_conv1d(kCircular); })},
      {"conv3d_reflect", plain(+[] { return padded_conv3d(kReflect); })},
      {"conv3d_replicate", plain(+[] { return padded_conv3d(kReplicate); })},
      {"conv3d_circular", plain(+[] { return padded_conv3d(kCircular); })},
      {"conv_transpose1d", plain(+[] {
         return ConvTranspose1d(
             ConvTranspose1dOptions(4, 6, 3).stride(2).padding(1).groups(2).output_padding(1));
       })},
      {"conv_transpose1d_size",
       with_output_size(
           +[] { return ConvTranspose1d(ConvTranspose1dOptions(4, 2, 3).stride(3).dilation(2)); },
           {24})},
      {"conv_transpose3d", plain(+[] {
         return ConvTranspose3d(
             ConvTranspose3dOptions(4, 2, 2).stride({1, 2, 1}).padding({0, 1, 0}).dilation(
                 {2, 1, 1}));
       })},
      {"conv_transpose3d_size",
       with_output_size(+[] { return ConvTranspose3d(ConvTranspose3dOptions(4, 2, 2).stride(2)); },
                        {9, 6, 11})},
      {"unfold", plain(+[] {
         return Unfold(UnfoldOptions({2, 3}).dilation({2, 1}).padding(1).stride({1, 2}));
       })},
      {"fold", plain(+[] {
         return Fold(FoldOptions({4, 5}, {2, 2}).padding({1, 0}).stride({2, 1}));
       })},
  };
}

Table pools() {
  return {
      {"max_pool1d", plain(+[] { return MaxPool1d(MaxPool1dOptions(3).stride(2).padding(1)); })},
      {"max_pool1d_indices",
       with_indices(+[] { return MaxPool1d(MaxPool1dOptions(3).dilation(2)); })},
      {"max_pool3d", plain(+[] {
         return MaxPool3d(MaxPool3dOptions({2, 3, 2}).padding(1).ceil_mode(true));
       })},
      {"max_pool3d_indices",
       with_indices(+[] { return MaxPool3d(MaxPool3dOptions(2).stride(1)); })},
      {"avg_pool1d",
       plain(+[] { return AvgPool1d(AvgPool1dOptions(3).padding(1).count_include_pad(false)); })},
      {"avg_pool3d", plain(+[] {
         return AvgPool3d(
             AvgPool3dOptions({2, 3, 2}).stride(2).padding({1, 1, 0}).divisor_override(5));
       })},
      {"adaptive_avg_pool1d", plain(+[] { return AdaptiveAvgPool1d(3); })},
      {"adaptive_avg_pool3d", plain(+[] {
         return AdaptiveAvgPool3d(AdaptiveAvgPool3dOptions({std::nullopt, 2, 3}));
       })},
      {"adaptive_max_pool1d", with_indices(+[] { return AdaptiveMaxPool1d(3); })},
      {"adaptive_max_pool2d", with_indices(+[] {
         return AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({3, std::nullopt}));
       })},
      {"adaptive_max_pool3d", with_indices(+[] {
         return AdaptiveMaxPool3d(AdaptiveMaxPool3dOptions({2, std::nullopt, 3}));
       })},
      {"lp_pool1d", plain(+[] { return LPPool1d(3, 2); })},
      {"lp_pool2d", plain(+[] {
         return LPPool2d(LPPool2dOptions(2, {2, 3}).stride(1));
       })},
      {"lp_pool3d", plain(+[] { return LPPool3d(LPPool3dOptions(1.5, 2).ceil_mode(true)); })},
      {"fractional_max_pool2d", with_indices(+[] {
         return FractionalMaxPool2d(FractionalMaxPool2dOptions(2)
                                        .output_size(ExpandingArray<2>({3, 2}))
                                        ._random_samples(samples(2)));
       })},
      {"fractional_max_pool3d", with_indices(+[] {
         return FractionalMaxPool3d(FractionalMaxPool3dOptions({2, 1, 2})
                                        .output_ratio(ExpandingArray<3, double>({0.5, 0.7, 0.6}))
                                        ._random_samples(samples(3)));
       })},
      {"fractional_max_pool2d_drawn",
       plain(+[] { return FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_size(3)); })},
      {"max_unpool1d", plain(+[] { return MaxUnpool1d(2); })},
      {"max_unpool2d",
       with_output_size(+[] { return MaxUnpool2d(MaxUnpool2dOptions(3).stride(2).padding(1)); },
                        {8, 9})},
      {"max_unpool3d", with_output_size(
                           +[] {
                             return MaxUnpool3d(MaxUnpool3dOptions({2, 3, 2}).stride(2));
                           },
                           {2, 4, 8, 7, 11})},
  };
}

}  // namespace

Table pooling_subjects() {
  auto table = convolutions();
  table.merge(pools());
  return table;
}

}  // namespace hearth::testing
