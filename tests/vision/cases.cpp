// Transforms against torchvision's results (tests/oracle/vision_cases.py).
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "hearth/vision.h"
#include "tests/support/fixtures.h"
#include "tests/vision/images.h"

namespace hearth::testing {

namespace {

using namespace hearth::vision::transforms;
namespace F = hearth::vision::transforms::functional;
using vision::utils::GridOptions;
using vision::utils::make_grid;
using Mode = InterpolationMode;
using Call = std::function<Tensor(Tensor)>;

Tensor displacement() {
  return arange(126).mul(29).remainder(64).to(kFloat).div(160).sub(0.2).view({1, 7, 9, 2});
}

const std::map<std::string, Call>& functions() {
  static const std::map<std::string, Call> calls{
      {"resize_short", [](Tensor x) { return F::resize(x, {4}); }},
      {"resize_max", [](Tensor x) { return F::resize(x, {6}, Mode::BILINEAR, 7); }},
      {"resize_up",
       [](Tensor x) {
         return F::resize(x, {10, 12});
       }},
      {"resize_plain",
       [](Tensor x) {
         return F::resize(x, {4, 5}, Mode::BILINEAR, {}, false);
       }},
      {"resize_nearest",
       [](Tensor x) {
         return F::resize(x, {4, 5}, Mode::NEAREST);
       }},
      {"resize_exact",
       [](Tensor x) {
         return F::resize(x, {4, 5}, Mode::NEAREST_EXACT);
       }},
      {"resize_cubic",
       [](Tensor x) {
         return F::resize(x, {5, 6}, Mode::BICUBIC);
       }},
      {"center_crop",
       [](Tensor x) {
         return F::center_crop(x, {4, 4});
       }},
      {"center_crop_large",
       [](Tensor x) {
         return F::center_crop(x, {10, 6});
       }},
      {"crop_outside", [](Tensor x) { return F::crop(x, -1, 5, 4, 6); }},
      {"pad_constant",
       [](Tensor x) {
         return F::pad(x, {1, 2}, 7);
       }},
      {"pad_edge",
       [](Tensor x) {
         return F::pad(x, {1, 0, 2, 1}, 0, PaddingMode::EDGE);
       }},
      {"pad_reflect", [](Tensor x) { return F::pad(x, {2}, 0, PaddingMode::REFLECT); }},
      {"pad_symmetric",
       [](Tensor x) {
         return F::pad(x, {2, 1}, 0, PaddingMode::SYMMETRIC);
       }},
      {"ten_crop",
       [](Tensor x) {
         return stack(F::ten_crop(x, {3, 4}));
       }},
      {"five_crop",
       [](Tensor x) {
         return stack(FiveCrop({3, 4})(x));
       }},
      {"ten_crop_vertical", [](Tensor x) { return stack(TenCrop(3, true)(x)); }},
      {"hflip", F::hflip},
      {"vflip", F::vflip},
      {"rotate", [](Tensor x) { return F::rotate(x, 30); }},
      {"rotate_fill",
       [](Tensor x) {
         return F::rotate(x, -70, Mode::BILINEAR, false, {}, {9., 8., 7.});
       }},
      {"rotate_expand", [](Tensor x) { return F::rotate(x, 45, Mode::NEAREST, true, {}, {5.}); }},
      {"rotate_center",
       [](Tensor x) {
         return F::rotate(x, 20, Mode::BILINEAR, false, {{2, 3}});
       }},
      {"affine",
       [](Tensor x) {
         return F::affine(x, 15, {1, -2}, 1.2, {10, -5}, Mode::BILINEAR);
       }},
      {"affine_nearest",
       [](Tensor x) {
         return F::affine(x, -40, {0, 1}, 0.7, {0, 0}, Mode::NEAREST, {100.});
       }},
      {"gray", [](Tensor x) { return F::rgb_to_grayscale(x, 3); }},
      {"brightness", [](Tensor x) { return F::adjust_brightness(x, 1.3); }},
      {"contrast", [](Tensor x) { return F::adjust_contrast(x, 0.4); }},
      {"saturation", [](Tensor x) { return F::adjust_saturation(x, 1.7); }},
      {"hue", [](Tensor x) { return F::adjust_hue(x, 0.2); }},
      {"gamma", [](Tensor x) { return F::adjust_gamma(x, 0.6, 1.1); }},
      {"sharpness", [](Tensor x) { return F::adjust_sharpness(x, 1.8); }},
      {"blurred", [](Tensor x) { return F::adjust_sharpness(x, 0); }},
      {"invert", F::invert},
      {"posterize", [](Tensor x) { return F::posterize(x, 3); }},
      {"solarize", [](Tensor x) { return F::solarize(x, 100); }},
      {"autocontrast", [](Tensor x) { return F::autocontrast(x.div(2, "floor").add(30)); }},
      {"equalize", [](Tensor x) { return F::equalize(x.div(4, "floor")); }},
      {"gaussian_blur",
       [](Tensor x) {
         return F::gaussian_blur(x, {3, 5}, {0.8, 1.5});
       }},
      {"to_float", [](Tensor x) { return F::convert_image_dtype(x, kFloat); }},
      {"to_short", [](Tensor x) { return F::convert_image_dtype(x, kShort); }},
      {"pad_edge_negative",
       [](Tensor x) {
         return F::pad(x, {-1, 2, 1, -1}, 0, PaddingMode::EDGE);
       }},
      {"pad_reflect_negative",
       [](Tensor x) {
         return F::pad(x, {-2, 0, 4, -1}, 0, PaddingMode::REFLECT);
       }},
      {"pad_symmetric_negative",
       [](Tensor x) {
         return F::pad(x, {-1, -2, 7, 3}, 0, PaddingMode::SYMMETRIC);
       }},
      {"resize_mask",
       [](Tensor x) {
         return F::resize(x.gt(128), {10, 4}, Mode::BILINEAR, {}, false);
       }},
      {"resize_mask_cubic",
       [](Tensor x) {
         return F::resize(x.gt(128), {14, 18}, Mode::BICUBIC);
       }},
      {"rotate_mask", [](Tensor x) { return F::rotate(x.gt(200), 20, Mode::BILINEAR); }},
      {"perspective",
       [](Tensor x) {
         return F::perspective(x, corners(), {{{1, 1}, {7, 0}, {8, 6}, {0, 5}}});
       }},
      {"perspective_fill",
       [](Tensor x) {
         return F::perspective(x, corners(), {{{2, 1}, {6, 1}, {8, 4}, {1, 5}}}, Mode::NEAREST,
                               {9., 8., 7.});
       }},
      {"elastic",
       [](Tensor x) { return F::elastic_transform(x, displacement(), Mode::BILINEAR, {3.}); }},
      {"elastic_nearest",
       [](Tensor x) { return F::elastic_transform(x, displacement().neg(), Mode::NEAREST); }},
      {"linear",
       [](Tensor x) {
         const Tensor matrix =
             arange(189 * 189).mul(13).remainder(31).to(kFloat).view({189, 189}).div(1e5);
         return LinearTransformation(matrix.to(x.device()), matrix[0].to(x.device()))(x);
       }},
      {"erase", [](Tensor x) { return F::erase(x, 1, 2, 3, 4, tensor(9)); }},
      {"grid",
       [](Tensor x) {
         return make_grid({x, x.div(2, "floor"), x.div(3, "floor")},
                          GridOptions().nrow(2).padding(1).pad_value(3));
       }},
      {"grid_gray",
       [](Tensor x) {
         return make_grid(x.unsqueeze(1) / 255,
                          GridOptions().nrow(5).normalize(true).scale_each(true));
       }},
  };
  return calls;
}

/// The transforms with random arguments, each called three times after manual_seed(1234).
const std::map<std::string, Call>& random_transforms() {
  static const std::map<std::string, Call> transforms{
      {"RandomCrop", RandomCrop(5, 1)},
      {"RandomCropIfNeeded", RandomCrop({12, 4}, {}, true, 3)},
      {"RandomResizedCrop", RandomResizedCrop(5)},
      {"RandomResizedCropNarrow", RandomResizedCrop({4, 6}, {1.5, 2}, {0.2, 0.4})},
      {"RandomHorizontalFlip", RandomHorizontalFlip()},
      {"RandomVerticalFlip", RandomVerticalFlip(0.3)},
      {"RandomRotation", RandomRotation(40)},
      {"RandomAffine", RandomAffine(RandomAffineOptions(20)
                                        .translate(Range{0.2, 0.3})
                                        .scale(Range{0.8, 1.4})
                                        .shear({-5, 5, -3, 8})
                                        .interpolation(Mode::BILINEAR)
                                        .fill(6))},
      {"ColorJitter", ColorJitter(0.4, 0.3, 0.2, 0.1)},
      {"RandomGrayscale", RandomGrayscale(0.5)},
      {"RandomInvert", RandomInvert()},
      {"RandomPosterize", RandomPosterize(4)},
      {"RandomSolarize", RandomSolarize(90)},
      {"RandomAdjustSharpness", RandomAdjustSharpness(2)},
      {"RandomAutocontrast", RandomAutocontrast()},
      {"RandomEqualize", RandomEqualize()},
      {"GaussianBlur", GaussianBlur(3)},
      {"RandomApply", RandomApply({RandomHorizontalFlip(0.9), RandomCrop(4)}, 0.7)},
      {"RandomErasing", RandomErasing(0.9)},
      {"RandomErasingColors", RandomErasing(0.9, {0.1, 0.2}, {0.5, 2}, {1, 2, 3})},
      {"RandAugment", RandAugment(3, 15)},
      {"RandomPerspective", RandomPerspective(0.6, 0.8)},
      {"RandomPerspectiveFill", RandomPerspective(1, 1, Mode::NEAREST, {7, 8, 9})},
      {"ElasticTransform", ElasticTransform(20, 0.4)},
      {"ElasticTransformFill", ElasticTransform({9, 30}, {0.3, 0.6}, Mode::NEAREST, {5})},
      {"RandomChoice",
       RandomChoice({RandomCrop(5), RandomHorizontalFlip(), F::invert}, {0.2, 0.5, 0.9})},
      {"RandomChoiceEqual", RandomChoice({F::hflip, F::vflip, F::invert})},
      {"RandomOrder",
       RandomOrder(
           {RandomCrop(5), [](Tensor x) { return F::adjust_brightness(x, 0.7); }, F::invert})},
      {"Compose", Compose({RandomCrop(6), RandomHorizontalFlip(), ConvertImageDtype(kFloat),
                           vision::transforms::Normalize({0.4, 0.5, 0.6}, {0.2, 0.3, 0.4})})},
  };
  return transforms;
}

/// The transforms of which the sums of the results of many calls and their mean are compared.
const std::map<std::string, Call>& policies() {
  static const std::map<std::string, Call> transforms{
      {"AutoAugmentImagenet", AutoAugment()},
      {"AutoAugmentCifar10", AutoAugment(AutoAugmentPolicy::CIFAR10, Mode::NEAREST, {9, 8, 7})},
      {"AutoAugmentSvhn", AutoAugment(AutoAugmentPolicy::SVHN, Mode::BILINEAR)},
      {"TrivialAugmentWide", TrivialAugmentWide()},
      {"AugMix", AugMix()},
      {"AugMixColorless", AugMix(AugMixOptions()
                                     .severity(8)
                                     .mixture_width(2)
                                     .chain_depth(4)
                                     .alpha(0.4)
                                     .all_ops(false)
                                     .interpolation(Mode::NEAREST)
                                     .fill({5}))},
      {"AugMixBatch",
       [](Tensor x) {
         return AugMix()(stack({x, x.flip(0)}));
       }},
      {"RandAugmentMany", RandAugment(5, 20)},
  };
  return transforms;
}

struct Expected {
  std::string dtype;
  Tensor values;
};

std::map<std::string, Expected> read_expected() {
  std::ifstream file(fixture_path("vision_cases.txt"));
  EXPECT_TRUE(file);
  std::map<std::string, Expected> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, dtype, sizes_text;
    words >> name >> dtype >> sizes_text;
    std::vector<int64_t> sizes;
    std::istringstream parts(sizes_text);
    for (std::string part; std::getline(parts, part, 'x');) sizes.push_back(std::stoll(part));
    std::vector<double> values;
    for (double value; words >> value;) values.push_back(value);
    result[name] = {dtype, tensor(values, kDouble).view(sizes)};
  }
  return result;
}

/// Bytes may differ by one: float32 sums differ in their last bits before they are rounded.
void expect_equal(const std::string& name, const Tensor& actual, const Expected& expected) {
  SCOPED_TRACE(name);
  ASSERT_EQ(actual.sizes(), expected.values.sizes());
  static const std::map<std::string, ScalarType> dtypes{
      {"bool", kBool}, {"uint8", kByte}, {"int16", kShort}, {"float32", kFloat}};
  EXPECT_EQ(actual.scalar_type(), dtypes.at(expected.dtype));
  const Tensor difference = actual.to(kDouble).sub(expected.values).abs();
  const bool is_float = actual.is_floating_point();
  EXPECT_LE(difference.max().item<double>(), is_float ? 2e-5 : 1);
  if (!is_float) {
    EXPECT_LE(difference.sum().item<double>(), 0.03 * double(actual.numel()));
  }
}

TEST(VisionCases, FunctionsMatchTorchvision) {
  const auto expected = read_expected();
  size_t checked = 0;
  for (const auto& [name, call] : functions()) {
    expect_equal(name, call(image()), expected.at(name));
    if (const auto floats = expected.find("float." + name); ++checked && floats != expected.end()) {
      expect_equal(floats->first, call(image() / 255), floats->second);
      ++checked;
    }
  }
  for (const auto& [name, transform] : random_transforms()) {
    manual_seed(1234);
    Call call = transform;
    for (int i = 0; i < 3; ++i, ++checked)
      expect_equal(name + "." + std::to_string(i), call(image()),
                   expected.at(name + "." + std::to_string(i)));
  }
  EXPECT_EQ(checked + 2 * policies().size(), expected.size());
}

/// Mixtures may differ by one in a few pixels, because float32 sums are truncated.
TEST(VisionCases, PoliciesMatchTorchvision) {
  const auto all_expected = read_expected();
  for (const auto& [name, transform] : policies()) {
    SCOPED_TRACE(name);
    const Tensor& expected = all_expected.at("sums." + name).values;
    manual_seed(1234);
    Call call = transform;
    std::vector<double> sums;
    std::vector<Tensor> results;
    for (int64_t i = 0; i < expected.numel(); ++i) {
      results.push_back(call(image()));
      sums.push_back(results.back().sum().item<double>());
    }
    const Tensor mean = stack(results).to(kDouble).mean(0);
    EXPECT_LE(mean.sub(all_expected.at("mean." + name).values).abs().max().item<double>(), 0.05);
    const Tensor difference = tensor(sums, kDouble).sub(expected).abs();
    EXPECT_EQ(difference.gt(10).sum().item<int64_t>(), 0) << difference;
  }
}

TEST(VisionCases, BatchesAreTransformedLikeImages) {
  const Tensor x = image(), batch = stack({x, x.flip(0)}).unsqueeze(0);
  for (const char* name : {"resize_cubic", "pad_reflect", "rotate_fill", "hue", "equalize",
                           "autocontrast", "gaussian_blur", "sharpness", "center_crop_large"}) {
    SCOPED_TRACE(name);
    const Call& call = functions().at(name);
    const Tensor result = call(batch);
    EXPECT_TRUE(result[0][0].equal(call(x)));
    EXPECT_TRUE(result[0][1].equal(call(x.flip(0))));
  }
}

TEST(VisionCases, GpusComputeTheSame) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const auto& [name, call] : functions()) {
    SCOPED_TRACE(name);
    const Tensor result = call(image().to(kCUDA)), expected = call(image());
    ASSERT_TRUE(result.is_cuda());
    EXPECT_LE(result.cpu().to(kDouble).sub(expected.to(kDouble)).abs().max().item<double>(),
              expected.is_floating_point() ? 2e-5 : 1);
  }
}

}  // namespace

}  // namespace hearth::testing
