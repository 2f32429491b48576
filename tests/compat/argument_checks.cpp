// Checks of arguments (ATen/TensorUtils.h), and logging. The expected texts are LibTorch's.
#include <ATen/TensorUtils.h>
#include <c10/util/Logging.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;

const char* const kFrom = "fn";

std::string checked(const char* text) {
  return std::string(text) + " (while checking arguments for fn)";
}

TEST(ArgumentChecks, SizesOfOne) {
  const auto a = torch::ones({2, 3});
  const at::TensorArg arg(a, "a", 1);
  EXPECT_EQ(
      text_of_error([&] { at::checkDim(kFrom, arg, 3); }),
      checked("Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'a'"));
  EXPECT_EQ(text_of_error([&] { at::checkDim(kFrom, a, "a", 1, 2); }), "no error");
  EXPECT_EQ(
      text_of_error([&] { at::checkDimRange(kFrom, arg, 3, 5); }),
      checked("Expected 3 to 4 dimensions, but got 2-dimensional tensor for argument #1 'a'"));
  EXPECT_EQ(text_of_error([&] {
              at::checkSize(kFrom, arg, {2, 4});
            }),
            checked("Expected tensor of size [2, 4], but got tensor of size [2, 3] for argument #1 "
                    "'a'"));
  EXPECT_EQ(text_of_error([&] { at::checkSize(kFrom, arg, 1, 4); }),
            checked("Expected tensor to have size 4 at dimension 1, but got size 3 for argument #1 "
                    "'a'"));
  EXPECT_EQ(text_of_error([&] { at::checkNumel(kFrom, arg, 3); }),
            checked("Expected tensor for argument #1 'a' to have 3 elements; but it actually has 6 "
                    "elements"));
  EXPECT_EQ(text_of_error([&] { at::check_dim_size(a, 2, 1, 4); }),
            "Expected a tensor of dimension 2 and tensor.size[1] == 4 but got: dimension 2 and "
            "tensor.size[1] = 3");
}

TEST(ArgumentChecks, TypesAndLayoutOfOne) {
  const auto a = torch::ones({2, 3}), transposed = a.t();
  const at::TensorArg arg(a, "a", 1);
  EXPECT_EQ(text_of_error([&] { at::checkScalarType(kFrom, arg, at::kDouble); }),
            checked("Expected tensor for argument #1 'a' to have scalar type Double; but got "
                    "CPUFloatType instead"));
  EXPECT_EQ(
      text_of_error([&] {
        at::checkScalarTypes(kFrom, arg, {at::kDouble, at::kLong});
      }),
      checked("Expected tensor for argument #1 'a' to have one of the following scalar types: "
              "Double, Long; but got CPUFloatType instead"));
  EXPECT_EQ(text_of_error([&] { at::checkContiguous(kFrom, arg); }), "no error");
  EXPECT_EQ(
      text_of_error([&] { at::checkContiguous(kFrom, at::TensorArg(transposed, "t", 2)); }),
      checked("Expected contiguous tensor, but got non-contiguous tensor for argument #2 't'"));
  EXPECT_EQ(text_of_error([&] { at::checkDeviceType(kFrom, {a}, at::kCUDA); }),
            checked("Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType"));
}

TEST(ArgumentChecks, OfTwo) {
  const auto a = torch::ones({2, 3}), b = torch::ones({3, 3}, torch::kDouble);
  const at::TensorArg first(a, "a", 1), second(b, "b", 2);
  EXPECT_EQ(text_of_error([&] { at::checkSameSize(kFrom, first, second); }),
            checked("Expected tensor for argument #1 'a' to have same size as tensor for argument "
                    "#2 'b'; but [2, 3] does not equal [3, 3]"));
  EXPECT_EQ(text_of_error([&] { at::checkSameNumel(kFrom, first, second); }),
            checked("Expected tensor for argument #1 'a' to have same number of elements as tensor "
                    "for argument #2 'b'; but 6 does not equal 9"));
  EXPECT_EQ(text_of_error([&] {
              at::checkAllSameType(kFrom, {first, second});
            }),
            checked("Expected tensor for argument #1 'a' to have the same type as tensor for "
                    "argument #2 'b'; but type CPUFloatType does not equal CPUDoubleType"));
  EXPECT_EQ(text_of_error([&] { at::checkSameGPU(kFrom, first, second); }),
            checked("Tensor for argument #1 'a' is on CPU, Tensor for argument #2 'b' is on CPU, "
                    "but expected it to be on GPU"));
}

TEST(ArgumentChecks, Geometry) {
  const auto a = torch::ones({2, 3});
  EXPECT_EQ(at::detail::defaultStrides({2, 3}), (std::vector<int64_t>{3, 1}));
  EXPECT_TRUE(at::geometry_is_contiguous({2, 3}, {3, 1}));
  EXPECT_FALSE(at::TensorGeometry(a.t()).is_contiguous());
  EXPECT_EQ(at::maybe_data_ptr(a), a.data_ptr());
}

TEST(Logging, MessagesAndChecks) {
  testing::internal::CaptureStderr();
  LOG(INFO) << "hidden";
  VLOG(1) << "hidden";
  LOG(WARNING) << "seen " << 3;
  LOG_IF(ERROR, false) << "hidden";
  CHECK(1 == 1) << "hidden";
  DCHECK(true) << "hidden";
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.substr(0, 2), "[W");
  EXPECT_NE(text.find("argument_checks.cpp:"), std::string::npos);
  EXPECT_NE(text.find("] seen 3\n"), std::string::npos);
  EXPECT_EQ(text.find("hidden"), std::string::npos);
}

TEST(LoggingDeathTest, FailedChecksEndTheProgram) {
  EXPECT_DEATH(CHECK(1 == 2) << "more", "Check failed: 1 == 2 more");
}

TEST(Logging, EnforcedConditions) {
  const auto ends_with = [](const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  const auto condition = text_of_error([] { CAFFE_ENFORCE(1 == 2, "text", 3); });
  EXPECT_EQ(condition.find("[enforce fail at argument_checks.cpp:"), 0U) << condition;
  EXPECT_TRUE(ends_with(condition, "] 1 == 2. text3")) << condition;
  const auto equal = text_of_error([] { CAFFE_ENFORCE_EQ(1, 2, "text"); });
  EXPECT_TRUE(ends_with(equal, "] 1 == 2. 1 vs 2. text")) << equal;
  EXPECT_TRUE(ends_with(text_of_error([] { CAFFE_THROW("text"); }), "] . text"));
}

}  // namespace
