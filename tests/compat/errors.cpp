#include <gtest/gtest.h>
#include <torch/torch.h>

// Macros that throw and warn, types and texts of errors, and handlers of warnings.

namespace {

/// The message of the E that `run` throws, or "no error".
template <class E, class F>
std::string message_of(F run) {
  try {
    run();
  } catch (const E& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

/// Collects warnings.
struct Collector : c10::WarningHandler {
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;
};

void warn_once() { TORCH_WARN_ONCE("once ", 1); }

}  // namespace

TEST(Errors, ChecksFormatTheirMessage) {
  const std::vector<int64_t> sizes = {2, 3};
  const auto message = message_of<c10::Error>([&] {
    TORCH_CHECK(sizes.empty(), "sizes: ", sizes, " or ", torch::IntArrayRef({2, 2}), " at ", 1e-5,
                ' ', true, " on ", torch::Device("cuda:1"), " as ", torch::kFloat);
  });
  EXPECT_EQ(message, "sizes: 2 3 or [2, 2] at 1e-05 1 on cuda:1 as Float");
  EXPECT_NO_THROW(TORCH_CHECK(!sizes.empty()));
}

TEST(Errors, ChecksWithoutMessageNameTheCondition) {
  const auto message = message_of<c10::Error>([] { TORCH_CHECK(1 == 2); });
  EXPECT_TRUE(starts_with(message,
                          "Expected 1 == 2 to be true, but got false.  (Could this error message"));
}

TEST(Errors, AssertsNameTheCondition) {
  const auto message = message_of<c10::Error>([] { TORCH_INTERNAL_ASSERT(1 == 2, "more ", 3); });
  EXPECT_TRUE(starts_with(message, "1 == 2 INTERNAL ASSERT FAILED at \"")) << message;
  EXPECT_NE(message.find("more 3"), std::string::npos);
  EXPECT_THROW(AT_ASSERT(false), c10::Error);
  EXPECT_EQ(message_of<c10::Error>([] { AT_ERROR("a", 2); }), "a2");
}

TEST(Errors, ChecksThrowTheirErrorType) {
  EXPECT_EQ(message_of<c10::IndexError>([] { TORCH_CHECK_INDEX(false, "i", 1); }), "i1");
  EXPECT_EQ(message_of<c10::ValueError>([] { TORCH_CHECK_VALUE(false, "v"); }), "v");
  EXPECT_EQ(message_of<c10::TypeError>([] { TORCH_CHECK_TYPE(false, "t"); }), "t");
  EXPECT_EQ(message_of<c10::NotImplementedError>([] { TORCH_CHECK_NOT_IMPLEMENTED(false, "n"); }),
            "n");
  EXPECT_THROW(torch::ones({2, 3}) + torch::ones({4}), std::exception);
}

TEST(Errors, TensorOpsHaveLibTorchTexts) {
  const auto sizes = message_of<c10::Error>([] { torch::ones({2, 3}) + torch::ones({4}); });
  EXPECT_TRUE(starts_with(sizes, "The size of tensor a (3) must match the size of tensor b (4)"))
      << sizes;
  const auto mm = message_of<c10::Error>([] {
    torch::mm(torch::ones({2, 3}), torch::ones({2, 3}));
  });
  EXPECT_NE(mm.find("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"), std::string::npos);
  const auto grad =
      message_of<c10::Error>([] { torch::ones({2}, torch::requires_grad()).mul(2).backward(); });
  EXPECT_TRUE(starts_with(grad, "grad can be implicitly created only for scalar outputs")) << grad;
  const auto item = message_of<c10::Error>([] { torch::ones({2}).item<float>(); });
  EXPECT_TRUE(starts_with(item, "a Tensor with 2 elements cannot be converted to Scalar")) << item;
  const auto leaf =
      message_of<c10::Error>([] { torch::ones({2}, torch::requires_grad()).add_(1); });
  EXPECT_TRUE(starts_with(
      leaf, "a leaf Variable that requires grad is being used in an in-place operation"))
      << leaf;
}

TEST(Errors, WarningsReachTheThreadsHandler) {
  Collector collector;
  {
    c10::WarningUtils::WarningHandlerGuard guard(&collector);
    TORCH_WARN("number ", 3);
    for (int i = 0; i < 3; ++i) warn_once();
    {
      c10::WarningUtils::WarnAlways always(true);
      warn_once();
      warn_once();
    }
    warn_once();
  }
  EXPECT_EQ(collector.texts, (std::vector<std::string>{"number 3", "once 1", "once 1", "once 1"}));
}

TEST(Errors, LibraryWarningsReachTheHandler) {
  Collector collector;
  const c10::WarningUtils::WarningHandlerGuard guard(&collector);
  const auto y = torch::ones({2}, torch::requires_grad()) * 2;
  EXPECT_FALSE(y.grad().defined());
  ASSERT_EQ(collector.texts.size(), 1U);
  EXPECT_NE(collector.texts[0].find("is not a leaf"), std::string::npos);
}
