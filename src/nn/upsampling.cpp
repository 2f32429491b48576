#include "hearth/nn/upsampling.h"

#include <cmath>
#include <sstream>

#include "hearth/nn/expanding_array.h"
#include "hearth/operators.h"
#include "hearth/stream.h"

namespace hearth::nn {

using hearth::detail::str;

namespace {

/// Returns e.g. "[2, 0.5]".
std::string listed(const std::vector<double>& factors) {
  std::ostringstream text;
  text << ArrayRef<double>(factors);
  return text.str();
}

}  // namespace

namespace functional {

namespace {

using Mode = InterpolateFuncOptions::mode_t;

template <class Kind>
bool is(const Mode& mode) {
  return std::holds_alternative<Kind>(mode);
}

/// Returns the option align_corners, by default false. Throws or warns as LibTorch does.
bool align_corners_of(const InterpolateFuncOptions& options) {
  const Mode& mode = options.mode();
  if (is<enumtype::kNearest>(mode) || is<enumtype::kArea>(mode)) {
    HEARTH_CHECK(!options.align_corners(),
                 "align_corners option can only be set with the interpolating modes: linear | "
                 "bilinear | bicubic | trilinear");
    return false;
  }
  if (!options.align_corners())
    warn(str("Default upsampling behavior when mode=", enumtype::get_enum_name(mode),
             " is changed to align_corners=False since 0.4.0. Please specify align_corners=True "
             "if the old behavior is desired. See the documentation of nn.Upsample for details."));
  return options.align_corners().value_or(false);
}

void check_rank(const Tensor& input, const Mode& mode, bool mode_allows_rank = true) {
  HEARTH_CHECK(mode_allows_rank && input.dim() >= 3 && input.dim() <= 5,
               "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(),
               "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ",
               enumtype::get_enum_name(mode), ")");
}

/// The interpolation of a signal, of images or of volumes.
class Interpolation {
 public:
  Interpolation(const Tensor& input, const InterpolateFuncOptions& options, bool align_corners)
      : input_(input), options_(options), align_corners_(align_corners) {}

  Tensor run() const {
    const Mode& mode = options_.mode();
    if (is<enumtype::kNearest>(mode)) return nearest();
    if (is<enumtype::kNearestExact>(mode)) return nearest_exact();
    if (is<enumtype::kArea>(mode)) return area();
    if (is<enumtype::kLinear>(mode)) return linear();
    if (is<enumtype::kBilinear>(mode)) return bilinear();
    if (is<enumtype::kTrilinear>(mode)) return trilinear();
    check_rank(input_, mode, /*mode_allows_rank=*/input_.dim() == 4);  // bicubic
    return options_.antialias()
               ? hearth::_upsample_bicubic2d_aa(input_, size(), align_corners_, scale(0), scale(1))
               : hearth::upsample_bicubic2d(input_, size(), align_corners_, scale(0), scale(1));
  }

 private:
  std::vector<int64_t> size() const {
    return _interp_output_size(input_.dim() - 2, {input_, options_.size(), options_.scale_factor(),
                                                  options_.recompute_scale_factor()});
  }
  /// The scale factor of dimension d; nullopt if the op must compute it from the sizes.
  std::optional<double> scale(size_t d) const {
    const auto& factors = options_.scale_factor();
    if (!factors || options_.recompute_scale_factor().value_or(false)) return {};
    return d < factors->size() ? std::optional<double>((*factors)[d]) : std::nullopt;
  }
  void check_dim(int64_t dim, const char* mode) const {
    HEARTH_CHECK(input_.dim() == dim, "Got ", input_.dim(), "D input, but ", mode, " mode needs ",
                 dim, "D input");
  }

  Tensor nearest() const {
    if (input_.dim() == 3) return hearth::upsample_nearest1d(input_, size(), scale(0));
    if (input_.dim() == 4) return hearth::upsample_nearest2d(input_, size(), scale(0), scale(1));
    return hearth::upsample_nearest3d(input_, size(), scale(0), scale(1), scale(2));
  }
  Tensor nearest_exact() const {
    if (input_.dim() == 3) return hearth::_upsample_nearest_exact1d(input_, size(), scale(0));
    if (input_.dim() == 4)
      return hearth::_upsample_nearest_exact2d(input_, size(), scale(0), scale(1));
    return hearth::_upsample_nearest_exact3d(input_, size(), scale(0), scale(1), scale(2));
  }
  Tensor area() const {
    if (input_.dim() == 3) return hearth::adaptive_avg_pool1d(input_, ExpandingArray<1>(size()));
    if (input_.dim() == 4) return hearth::adaptive_avg_pool2d(input_, ExpandingArray<2>(size()));
    return hearth::adaptive_avg_pool3d(input_, ExpandingArray<3>(size()));
  }
  Tensor linear() const {
    check_dim(3, "linear");
    return hearth::upsample_linear1d(input_, size(), align_corners_, scale(0));
  }
  Tensor bilinear() const {
    check_dim(4, "bilinear");
    return options_.antialias()
               ? hearth::_upsample_bilinear2d_aa(input_, size(), align_corners_, scale(0), scale(1))
               : hearth::upsample_bilinear2d(input_, size(), align_corners_, scale(0), scale(1));
  }
  Tensor trilinear() const {
    check_dim(5, "trilinear");
    return hearth::upsample_trilinear3d(input_, size(), align_corners_, scale(0), scale(1),
                                        scale(2));
  }

  const Tensor& input_;
  const InterpolateFuncOptions& options_;
  const bool align_corners_;
};

}  // namespace

std::vector<int64_t> _interp_output_size(
    int64_t dim, std::tuple<Tensor, std::optional<std::vector<int64_t>>,
                            std::optional<std::vector<double>>, std::optional<bool>>
                     closed_over_args) {
  const auto& [input, size, factors, recompute] = closed_over_args;
  HEARTH_CHECK(size || factors, "either size or scale_factor should be defined");
  HEARTH_CHECK(!size || !factors, "only one of size or scale_factor should be defined");
  if (size) return *size;
  HEARTH_CHECK(int64_t(factors->size()) == dim,
               "scale_factor shape must match input shape. Input is ", dim,
               "D, scale_factor size is ", listed(*factors));
  bool all_integers = true;
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < factors->size(); ++d) {
    const double factor = (*factors)[d];
    all_integers = all_integers && std::floor(factor) == factor;
    const double wanted = std::floor(double(input.size(int64_t(d) + 2)) * factor);
    HEARTH_CHECK(wanted > -0x1p63 && wanted < 0x1p63, "scale_factor ", factor,
                 " gives no size for an input of size ", input.sizes());
    sizes.push_back(int64_t(wanted));
  }
  if (!recompute && !all_integers)
    warn(
        "The default behavior for interpolate/upsample with float scale_factor changed in 1.6.0 "
        "to align with other frameworks/libraries, and uses scale_factor directly, instead of "
        "relying on the computed output size. If you wish to keep the old behavior, please set "
        "recompute_scale_factor=True. See the documentation of nn.Upsample for details. ");
  return sizes;
}

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options) {
  const Mode& mode = options.mode();
  const bool align_corners = align_corners_of(options);
  check_rank(input, mode);
  HEARTH_CHECK(!options.antialias() || (input.dim() == 4 && (is<enumtype::kBilinear>(mode) ||
                                                             is<enumtype::kBicubic>(mode))),
               "Anti-alias option is only supported for bilinear and bicubic modes");
  return Interpolation(input, options, align_corners).run();
}

}  // namespace functional

namespace F = functional;

namespace {

F::InterpolateFuncOptions func_options(const UpsamplingOptions& options) {
  return F::InterpolateFuncOptions().size(options.size()).scale_factor(options.scale_factor());
}

/// Prints "Name(scale_factor=[2, 2], mode=kNearest)", or the size instead of the factor.
template <class Options>
void print(std::ostream& stream, const char* name, const Options& options,
           const std::string& mode) {
  stream << name << "(";
  if (options.scale_factor())
    stream << "scale_factor=" << listed(*options.scale_factor()) << ", ";
  else if (options.size())
    stream << str("size=", IntArrayRef(*options.size()), ", ");
  stream << "mode=" << mode << ")";
}

}  // namespace

Tensor UpsampleImpl::forward(const Tensor& input) {
  return run_module(
      *this,
      [this](const Tensor& x) {
        F::InterpolateFuncOptions arguments;
        std::visit([&](const auto& mode) { arguments.mode(mode); }, options.mode());
        return F::interpolate(x, arguments.size(options.size())
                                     .scale_factor(options.scale_factor())
                                     .align_corners(options.align_corners()));
      },
      input);
}
void UpsampleImpl::pretty_print(std::ostream& stream) const {
  print(stream, "Upsample", options, enumtype::get_enum_name(options.mode()));
}

Tensor UpsamplingNearest2dImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return F::interpolate(x, func_options(options)); }, input);
}
void UpsamplingNearest2dImpl::pretty_print(std::ostream& stream) const {
  print(stream, "UpsamplingNearest2d", options, "kNearest");
}

Tensor UpsamplingBilinear2dImpl::forward(const Tensor& input) {
  return run_module(
      *this,
      [this](const Tensor& x) {
        return F::interpolate(x, func_options(options).mode(kBilinear).align_corners(true));
      },
      input);
}
void UpsamplingBilinear2dImpl::pretty_print(std::ostream& stream) const {
  print(stream, "UpsamplingBilinear2d", options, "kBilinear");
}

}  // namespace hearth::nn
