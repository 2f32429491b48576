// The definitions of detail::Choice, instantiated for each type of option and for the values from
// which it is constructed.
#include <type_traits>

#include "hearth/nn/conv.h"
#include "hearth/nn/embedding_bag.h"
#include "hearth/nn/loss.h"
#include "hearth/nn/padding.h"
#include "hearth/nn/pooling.h"
#include "hearth/nn/rnn.h"
#include "hearth/nn/rnn_cell.h"
#include "hearth/nn/upsampling.h"
#include "hearth/nn/vision.h"

namespace hearth::detail {

template <class Variant, size_t kBytes>
template <class Alternative>
Choice<Variant, kBytes>::Choice(const Alternative& value) {
  static_assert(sizeof(Variant) <= kBytes && alignof(Variant) <= alignof(Choice));
  static_assert(std::is_trivially_copyable_v<Variant>);  // a copy of a Choice copies the bytes
  new (bytes_) Variant(value);
}

template <class Variant, size_t kBytes>
void Choice<Variant, kBytes>::set(const Variant& value) {
  get() = value;
}

template class Choice<nn::detail::conv_padding_t<1>, 16>;
template class Choice<nn::detail::conv_padding_t<2>, 24>;
template class Choice<nn::detail::conv_padding_t<3>, 32>;
template HEARTH_API Choice<nn::detail::conv_padding_t<1>, 16>::Choice(const ExpandingArray<1>&);
template HEARTH_API Choice<nn::detail::conv_padding_t<2>, 24>::Choice(const ExpandingArray<2>&);
template HEARTH_API Choice<nn::detail::conv_padding_t<3>, 32>::Choice(const ExpandingArray<3>&);

template class Choice<std::optional<ExpandingArray<2>>, 24>;
template class Choice<std::optional<ExpandingArray<3>>, 32>;
template class Choice<std::optional<ExpandingArray<2, double>>, 24>;
template class Choice<std::optional<ExpandingArray<3, double>>, 32>;
template HEARTH_API Choice<std::optional<ExpandingArray<2>>, 24>::Choice(const std::nullopt_t&);
template HEARTH_API Choice<std::optional<ExpandingArray<3>>, 32>::Choice(const std::nullopt_t&);
template HEARTH_API Choice<std::optional<ExpandingArray<2, double>>, 24>::Choice(
    const std::nullopt_t&);
template HEARTH_API Choice<std::optional<ExpandingArray<3, double>>, 32>::Choice(
    const std::nullopt_t&);

#define HEARTH_CHOICE_OF(Variant, Default) \
  template class Choice<Variant>;          \
  template HEARTH_API Choice<Variant>::Choice(const Default&)
HEARTH_CHOICE_OF(nn::detail::conv_padding_mode_t, enumtype::kZeros);
HEARTH_CHOICE_OF(nn::EmbeddingBagMode, enumtype::kMean);
HEARTH_CHOICE_OF(nn::RNNOptions::nonlinearity_t, enumtype::kTanh);
HEARTH_CHOICE_OF(nn::UpsampleOptions::mode_t, enumtype::kNearest);
HEARTH_CHOICE_OF(nn::functional::InterpolateFuncOptions::mode_t, enumtype::kNearest);
HEARTH_CHOICE_OF(nn::functional::PadFuncOptions::mode_t, enumtype::kConstant);
HEARTH_CHOICE_OF(nn::functional::GridSampleFuncOptions::mode_t, enumtype::kBilinear);
HEARTH_CHOICE_OF(nn::functional::GridSampleFuncOptions::padding_mode_t, enumtype::kZeros);

using Mode = nn::detail::RNNOptionsBase::rnn_options_base_mode_t;
HEARTH_CHOICE_OF(Mode, Mode);

using LossReduction = nn::detail::reduction_t;
HEARTH_CHOICE_OF(LossReduction, enumtype::kMean);
template HEARTH_API Choice<LossReduction>::Choice(const enumtype::kNone&);
template HEARTH_API Choice<LossReduction>::Choice(const enumtype::kSum&);
using KLDivReduction = nn::KLDivLossOptions::reduction_t;
HEARTH_CHOICE_OF(KLDivReduction, enumtype::kMean);
template HEARTH_API Choice<KLDivReduction>::Choice(const enumtype::kNone&);
template HEARTH_API Choice<KLDivReduction>::Choice(const enumtype::kSum&);
template HEARTH_API Choice<KLDivReduction>::Choice(const enumtype::kBatchMean&);
#undef HEARTH_CHOICE_OF

}  // namespace hearth::detail
