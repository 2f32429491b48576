// Transforms of datasets, errors, and single results of torchvision.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "hearth/vision.h"
#include "tests/support/throws.h"
#include "tests/vision/images.h"

namespace hearth::testing {

namespace {

using namespace hearth::vision::transforms;
namespace F = hearth::vision::transforms::functional;
using vision::utils::make_grid;
using Mode = InterpolationMode;
using Call = std::function<Tensor(Tensor)>;

/// Two images; the second one is the first one plus 1.
struct Images : data::datasets::Dataset<Images> {
  data::Example<> get(size_t index) override {
    return {image() + int64_t(index), tensor(int64_t(index))};
  }
  std::optional<size_t> size() const override { return 2; }
};

TEST(Transforms, ATransformMapsADataset) {
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

TEST(Transforms, PixelsUseTheRangeOfTheDtype) {
  const Tensor bytes = tensor({0, 100, 127, 128, 255}, kByte).view({1, 1, 5});
  EXPECT_TRUE(F::convert_image_dtype(bytes, kBool).equal(bytes.ge(128)));
  EXPECT_TRUE(F::convert_image_dtype(bytes.ge(128), kByte).equal(bytes.ge(128).to(kByte).mul(128)));
  const int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(F::invert(full({1, 1, 1}, 255, kLong)).item<int64_t>(), largest - 255);
}

TEST(Transforms, CropsMayLieOutsideAndEmptyImagesThrow) {
  EXPECT_TRUE(F::crop(image(), 100, 2, 2, 3).equal(zeros({3, 2, 3}, kByte)));
  EXPECT_TRUE(F::crop(image(), -2, -3, 2, 3).equal(zeros({3, 2, 3}, kByte)));
  EXPECT_EQ(F::crop(image(), std::numeric_limits<int64_t>::max(), 0, 2, 2).sum().item<int64_t>(),
            0);
  EXPECT_ERROR(F::resize(zeros({3, 4, 0}), {3}), "sizes should be greater than 0");
}

/// As torchvision does, whose functional.py treats an image of two dimensions as one channel, but
/// whose rgb_to_grayscale requires the dimension of the channels.
TEST(Transforms, ImagesOfTwoDimensionsHaveOneChannel) {
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
TEST(Transforms, RandAugmentRoundsAsTorchvision) {
  manual_seed(3);
  EXPECT_EQ(RandAugment(5, 20)(image()).sum().item<int64_t>(), 24933);
}

TEST(Transforms, BadArgumentsOfPoliciesAndChoicesAreNamed) {
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

TEST(Transforms, RotatedImagesHaveTorchvisionsSizes) {
  const auto size = [](IntArrayRef image, double angle) {
    return F::rotate(zeros(image), angle, InterpolationMode::NEAREST, true).sizes().vec();
  };
  EXPECT_EQ(size({3, 480, 640}, 90.0001), (std::vector<int64_t>{3, 642, 482}));
  EXPECT_EQ(size({1, 100, 224}, 0.001), (std::vector<int64_t>{1, 102, 226}));
  EXPECT_EQ(size({1, 1, 21}, -90.0305), (std::vector<int64_t>{1, 23, 3}));
}

TEST(Transforms, DeviationsMayNotBecomeZero) {
  EXPECT_ERROR(F::normalize(ones({1, 1, 2}), {0.5}, {1e-50}), "std evaluated to zero");
  EXPECT_ERROR(F::normalize(ones({1, 1, 2}, kHalf), {0.5}, {1e-9}), "std evaluated to zero");
}

TEST(Transforms, ProbabilitiesAreChecked) {
  const char* const expected_text =
      "`p` should be a floating point value in the interval [0.0, 1.0].";
  EXPECT_ERROR(RandomHorizontalFlip(1.5), expected_text);
  EXPECT_ERROR(RandomApply({}, -0.5), expected_text);
  EXPECT_ERROR(RandomErasing(2), expected_text);
  EXPECT_ERROR(RandomSolarize(90, std::nan("")), expected_text);
}

}  // namespace

}  // namespace hearth::testing
