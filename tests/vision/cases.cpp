// Transforms against torchvision's results (tests/oracle/vision_cases.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "hearth/vision.h"
#include "tests/support/fixtures.h"
#include "tests/support/throws.h"

namespace hearth::testing {

namespace {

using namespace hearth::vision::transforms;
namespace F = hearth::vision::transforms::functional;
using vision::utils::GridOptions;
using vision::utils::make_grid;
using Mode = InterpolationMode;
using Call = std::function<Tensor(Tensor)>;

/// The image of tests/oracle/vision_cases.py.
Tensor image() {
  const Tensor i = arange(3 * 7 * 9);
  return i.mul(37).add(i.div(9, "floor").mul(11)).remainder(256).to(kByte).view({3, 7, 9});
}

Corners corners() { return {{{0, 0}, {8, 0}, {8, 6}, {0, 6}}}; }
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

/// The transforms of which only the sums of the results of many calls are compared.
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
  EXPECT_EQ(checked + policies().size(), expected.size());
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
    for (int64_t i = 0; i < expected.numel(); ++i)
      sums.push_back(call(image()).sum().item<double>());
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

/// Two images; the second one is the first one plus 1.
struct Images : data::datasets::Dataset<Images> {
  data::Example<> get(size_t index) override {
    return {image() + int64_t(index), tensor(int64_t(index))};
  }
  std::optional<size_t> size() const override { return 2; }
};

TEST(VisionCases, ATransformMapsADataset) {
  const Compose transform({RandomCrop(4), ConvertImageDtype(kFloat)});
  auto dataset = Images().map(transform).map(data::transforms::Stack<>());
  manual_seed(1);
  const data::Example<> batch = dataset.get_batch({1, 0});
  manual_seed(1);
  Call copy = transform;
  const Tensor first = copy(image() + 1);
  EXPECT_TRUE(batch.data.equal(stack({first, copy(image())})));
  EXPECT_EQ(batch.data.sizes(), IntArrayRef({2, 3, 4, 4}));
  EXPECT_TRUE(batch.target.equal(tensor({1, 0})));
}

TEST(VisionCases, PixelsUseTheRangeOfTheDtype) {
  const Tensor bytes = tensor({0, 100, 127, 128, 255}, kByte).view({1, 1, 5});
  EXPECT_TRUE(F::convert_image_dtype(bytes, kBool).equal(bytes.ge(128)));
  EXPECT_TRUE(F::convert_image_dtype(bytes.ge(128), kByte).equal(bytes.ge(128).to(kByte).mul(128)));
  const int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(F::invert(full({1, 1, 1}, 255, kLong)).item<int64_t>(), largest - 255);
}

TEST(VisionCases, CropsMayLieOutsideAndEmptyImagesThrow) {
  EXPECT_TRUE(F::crop(image(), 100, 2, 2, 3).equal(zeros({3, 2, 3}, kByte)));
  EXPECT_TRUE(F::crop(image(), -2, -3, 2, 3).equal(zeros({3, 2, 3}, kByte)));
  EXPECT_EQ(F::crop(image(), std::numeric_limits<int64_t>::max(), 0, 2, 2).sum().item<int64_t>(),
            0);
  EXPECT_ERROR(F::resize(zeros({3, 4, 0}), {3}), "sizes should be greater than 0");
}

/// As torchvision does, whose functional.py treats an image of two dimensions as one channel, but
/// whose rgb_to_grayscale requires the dimension of the channels.
TEST(VisionCases, ImagesOfTwoDimensionsHaveOneChannel) {
  const Tensor plane = image()[0], one_channel = plane.unsqueeze(0);
  EXPECT_TRUE(F::adjust_saturation(plane, 1.7).equal(plane));
  EXPECT_TRUE(F::adjust_hue(plane, 0.2).equal(plane));
  EXPECT_TRUE(F::adjust_contrast(plane, 0.4).equal(F::adjust_contrast(one_channel, 0.4)[0]));
  EXPECT_FALSE(F::adjust_contrast(plane, 0.4).equal(plane));
  EXPECT_THROW(F::rgb_to_grayscale(plane), TypeError);
  EXPECT_ERROR(F::rgb_to_grayscale(plane),
               "Input image tensor should have at least 3 dimensions, but found 2");
}

/// Expected: the sum of torchvision's transforms.RandAugment(5, 20)(image) after
/// torch.manual_seed(3).
TEST(VisionCases, RandAugmentRoundsAsTorchvision) {
  manual_seed(3);
  EXPECT_EQ(RandAugment(5, 20)(image()).sum().item<int64_t>(), 24933);
}

TEST(VisionCases, BadArgumentsOfPoliciesAndChoicesAreNamed) {
  EXPECT_ERROR(AugMix(AugMixOptions().severity(11)),
               "The severity must be between [1, 10]. Got 11 instead.");
  EXPECT_ERROR(AugMix(AugMixOptions().alpha(0)), "mixture_width and alpha must be positive");
  EXPECT_ERROR(TrivialAugmentWide(1), "num_magnitude_bins must be at least 2");
  EXPECT_ERROR(RandomPerspective(1.5), "Argument distortion_scale value should be between 0 and 1");
  EXPECT_ERROR(RandomOrder({}), "Pass at least one transform");
  EXPECT_ERROR(RandomChoice({F::hflip}, {1, 2}),
               "Length of p doesn't match the number of transforms: 2 != 1");
  EXPECT_ERROR(F::elastic_transform(image(), zeros({1, 7, 8, 2})),
               "Argument displacement shape should be (1, 7, 9, 2), but given [1, 7, 8, 2]");
  EXPECT_ERROR(F::perspective(image(), corners(), corners(), Mode::BICUBIC),
               "Interpolation mode 'bicubic' is unsupported with Tensor input");
  EXPECT_ERROR(ElasticTransform(10, 5)(image()), "Padding size should be less than");
  EXPECT_ERROR(ElasticTransform(10, 1e300)(image()), "Padding size should be less than");
  EXPECT_ERROR(LinearTransformation(ones({2, 3}), ones({2})),
               "transformation_matrix should be square. Got [2, 3]");
  EXPECT_ERROR(LinearTransformation(ones({2, 2}), ones({2}))(image()),
               "incompatible shape. [3, 7, 9] != 2");
  EXPECT_ERROR(F::pad(image(), {-9, 0}, 0, PaddingMode::SYMMETRIC), "Padding size");
  EXPECT_ERROR(F::pad(image(), {-5, 0}, 0, PaddingMode::EDGE), "Calculated output");
  EXPECT_ERROR(make_grid(zeros({0, 3, 4, 4})), "float division by zero");
}

TEST(VisionCases, CropsAreTransformsToo) {
  EXPECT_TRUE(stack(FiveCrop({3, 4})(image())).equal(stack(F::five_crop(image(), {3, 4}))));
  const Compose transform({[](Tensor x) { return stack(TenCrop(3, true)(x)); }});
  EXPECT_TRUE(Call(transform)(image()).equal(stack(F::ten_crop(image(), {3}, true))));
}

TEST(VisionCases, RotatedImagesHaveTorchvisionsSizes) {
  const auto size = [](IntArrayRef image, double angle) {
    return F::rotate(zeros(image), angle, InterpolationMode::NEAREST, true).sizes().vec();
  };
  EXPECT_EQ(size({3, 480, 640}, 90.0001), (std::vector<int64_t>{3, 642, 482}));
  EXPECT_EQ(size({1, 100, 224}, 0.001), (std::vector<int64_t>{1, 102, 226}));
  EXPECT_EQ(size({1, 1, 21}, -90.0305), (std::vector<int64_t>{1, 23, 3}));
}

TEST(VisionCases, DeviationsMayNotBecomeZero) {
  EXPECT_ERROR(F::normalize(ones({1, 1, 2}), {0.5}, {1e-50}), "std evaluated to zero");
  EXPECT_ERROR(F::normalize(ones({1, 1, 2}, kHalf), {0.5}, {1e-9}), "std evaluated to zero");
}

TEST(VisionCases, ProbabilitiesAreChecked) {
  const char* const expected_text =
      "`p` should be a floating point value in the interval [0.0, 1.0].";
  EXPECT_ERROR(RandomHorizontalFlip(1.5), expected_text);
  EXPECT_ERROR(RandomApply({}, -0.5), expected_text);
  EXPECT_ERROR(RandomErasing(2), expected_text);
  EXPECT_ERROR(RandomSolarize(90, std::nan("")), expected_text);
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
