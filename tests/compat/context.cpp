// at::globalContext()'s determinism and other settings, repeated warnings, and the graph's nodes
// and edges.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

namespace {

/// Collects this thread's warnings.
struct Collected : c10::WarningHandler {
  std::vector<std::string> texts;
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
};

TEST(Context, ControlsDeterminism) {
  at::Context& context = at::globalContext();
  EXPECT_FALSE(context.deterministicAlgorithms());
  context.setDeterministicAlgorithms(true, false);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(torch::globalContext().deterministicAlgorithmsWarnOnly());
  EXPECT_TRUE(torch::empty({3}).isnan().all().item<bool>());
  EXPECT_THROW(at::globalContext().alertNotDeterministic("my_op"), c10::Error);
  context.setDeterministicAlgorithms(true, true);
  Collected collected;
  {
    const c10::WarningUtils::WarningHandlerGuard guard(&collected);
    context.alertNotDeterministic("my_op");
  }
  ASSERT_EQ(collected.texts.size(), 1U);
  EXPECT_NE(collected.texts[0].find("my_op does not have a deterministic implementation"),
            std::string::npos);
  context.setDeterministicFillUninitializedMemory(false);
  EXPECT_FALSE(context.deterministicFillUninitializedMemory());
  context.setDeterministicFillUninitializedMemory(true);
  context.setDeterministicAlgorithms(false, false);
}

TEST(Context, WarnAlwaysRepeatsWarnings) {
  Collected collected;
  const c10::WarningUtils::WarningHandlerGuard guard(&collected);
  const c10::WarningUtils::WarnAlways always;
  const auto x = torch::ones({2}, torch::requires_grad());
  for (int i = 0; i < 2; ++i) (x * x).sum().backward({}, std::nullopt, true);
  ASSERT_EQ(collected.texts.size(), 2U);
  EXPECT_NE(collected.texts[1].find("Using backward() with create_graph=True"), std::string::npos);
  x.mutable_grad().reset();  // x and the graph of its gradient own each other
}

TEST(Graphs, CanBePrintedAndCopied) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto y = x * x;
  std::ostringstream text;
  text << y.grad_fn() << " " << x.grad_fn();
  EXPECT_EQ(text.str().substr(0, 2), "0x");
  EXPECT_EQ(text.str().substr(text.str().find(' ')), " 0");
  torch::autograd::edge_list edges = y.grad_fn()->next_edges();
  const auto copy = edges;
  edges.push_back(copy[0]);
  EXPECT_EQ(edges.size(), 3U);
  EXPECT_EQ(edges[2], copy[1]);
}

TEST(Context, KeepsTheSettingsOfOtherLibraries) {
  auto& context = at::globalContext();
  EXPECT_FALSE(context.allowTF32CuBLAS());
  context.setAllowTF32CuBLAS(true);
  EXPECT_TRUE(torch::globalContext().allowTF32CuBLAS());
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGH);
  context.setFloat32MatmulPrecision("medium");
  EXPECT_TRUE(context.allowTF32CuBLAS());
  Collected collected;
  {
    const c10::WarningUtils::WarningHandlerGuard guard(&collected);
    context.setFloat32MatmulPrecision("low");
  }
  ASSERT_EQ(collected.texts.size(), 1U);
  EXPECT_NE(collected.texts[0].find("low is not one of 'highest', 'high', or 'medium'"),
            std::string::npos);
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::MEDIUM);
  context.setFloat32MatmulPrecision("highest");
  EXPECT_FALSE(context.allowTF32CuBLAS());
  EXPECT_TRUE(context.userEnabledFlashSDP() && context.userEnabledMathSDP());
  context.setSDPUseFlash(false);
  EXPECT_FALSE(context.userEnabledFlashSDP());
  context.setSDPUseFlash(true);
  context.setAllowFP16ReductionCuBLAS(true);
  context.setAllowBF16ReductionCuBLAS(true);
  EXPECT_TRUE(at::hasLAPACK() && at::Context::hasLAPACK());
  EXPECT_FALSE(at::hasXPU() || at::hasMPS() || at::hasHIP());
  context.lazyInitDevice(torch::kCPU);
  EXPECT_THROW(context.lazyInitDevice(torch::kXPU), c10::Error);
}

TEST(Context, FlushesDenormals) {
  volatile float tiny = 1e-38F;
  ASSERT_TRUE(at::globalContext().setFlushDenormal(true));
  volatile float product = tiny * 1e-3F;
  EXPECT_EQ(product, 0);
  ASSERT_TRUE(at::globalContext().setFlushDenormal(false));
  product = tiny * 1e-3F;
  EXPECT_GT(product, 0);
}

TEST(Context, DescribesTheBuild) {
  const std::string capability = at::get_cpu_capability();
  EXPECT_NE(at::show_config().find(capability), std::string::npos);
  EXPECT_NE(torch::show_config().find("built with"), std::string::npos);
}

}  // namespace
