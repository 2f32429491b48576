// Ranges for NVIDIA's profilers, passed to a stand-in for NVTX.
#include "hearth/profiler/nvtx.h"

#include <gtest/gtest.h>

#include "hearth/hearth.h"
#include "hearth/profiler/record_function.h"
#include "profiler/nvtx_observer.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// The calls of the stand-in; a range has its depth as an indent.
std::vector<std::string>& calls() {
  static std::vector<std::string> list;
  return list;
}
int depth = 0;

constexpr RangeMarker kStandIn{
    [](const char* name) {
      calls().push_back(std::string(size_t(depth), ' ') + name);
      return depth++;
    },
    [] { return --depth; },
    [](const char* name) { calls().push_back(name); },
    [](const char*) { return uint64_t{7}; },
    [](uint64_t) {},
};

/// The names of the ranges, without sequence numbers.
std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const std::string& call : calls()) result.push_back(call.substr(0, call.find(", seq")));
  return result;
}

/// Records a function's ranges.
template <class F>
void record(bool record_shapes, const F& function) {
  calls().clear();
  depth = 0;
  profiler::NvtxObserver observer(kStandIn, record_shapes);
  observer.install();
  function();
  observer.remove();
}

TEST(Nvtx, OpsModulesAndRangesAreNested) {
  nn::Sequential net{nn::ReLU()};
  Tensor x = ones({2});
  record(false, [&] {
    const profiler::record_function range("step");
    x.add_(1);
    net->forward(x);
  });
  EXPECT_EQ(depth, 0);
  const std::vector<std::string> expected{"step", " aten::add_", " nn.Module: SequentialImpl",
                                          "  nn.Module: 0", "   aten::relu"};
  const std::vector<std::string> found = names();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)  // the type SequentialImpl has its namespace before it
    EXPECT_TRUE(found[i] == expected[i] || found[i].ends_with("SequentialImpl")) << found[i];
}

TEST(Nvtx, BackwardNodesHaveTheNumberOfTheirForwardOp) {
  const Tensor x = ones({2, 3}).requires_grad_(), w = ones({3, 4}).requires_grad_();
  record(true, [&] { x.mm(w).sum().backward(); });
  EXPECT_EQ(depth, 0);
  std::string forward, backward;
  for (const std::string& call : calls()) {
    if (call.starts_with("aten::mm")) forward = forward.empty() ? call : forward;
    if (call.starts_with("MmBackward0")) backward = call;
  }
  EXPECT_TRUE(forward.ends_with(", sizes = [[2, 3], [3, 4]]")) << forward;
  const size_t start = forward.find(", seq = ");
  EXPECT_EQ(backward, "MmBackward0" + forward.substr(start, forward.find(", sizes") - start));
}

TEST(Nvtx, OpenRangesEndWithTheObserver) {
  calls().clear();
  depth = 0;
  auto range = std::make_unique<profiler::record_function>("before");
  {
    profiler::NvtxObserver observer(kStandIn, false);
    observer.install();
    range.reset();  // began before install()
    EXPECT_EQ(depth, 0);
    range = std::make_unique<profiler::record_function>("inside");
    EXPECT_EQ(depth, 1);
    observer.remove();
  }
  EXPECT_EQ(depth, 0);
}

TEST(Nvtx, WithoutAGpuThereIsAnError) {
  if (cuda::is_available() && cuda::get_device_name().find("imulated") == std::string::npos)
    GTEST_SKIP() << "there is a GPU";
  constexpr const char* kError =
      "NVTX functions not installed. Are you sure you have a CUDA build?";
  EXPECT_ERROR(cuda::nvtx::range_push("a"), kError);
  EXPECT_ERROR(cuda::nvtx::range_pop(), kError);
  EXPECT_ERROR(cuda::nvtx::mark("a"), kError);
  EXPECT_ERROR(cuda::nvtx::range_start("a"), kError);
  EXPECT_ERROR(cuda::nvtx::range_end(1), kError);
  EXPECT_ERROR(cuda::nvtx::range("a"), kError);
  EXPECT_ERROR(profiler::emit_nvtx(), kError);
  EXPECT_NO_THROW(profiler::emit_nvtx(false));
  EXPECT_FALSE(profiler::is_observed());
}

}  // namespace
}  // namespace hearth::testing
