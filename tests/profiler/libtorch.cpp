// The names of LibTorch's profiler.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/torch.h>

#include "tests/support/files.h"

namespace hearth::testing {
namespace {

torch::Tensor doubled(const torch::Tensor& x) {
  RECORD_FUNCTION("doubled", std::vector<c10::IValue>());
  return x * 2;
}

TEST(LibTorchProfiler, WritesATrace) {
  const TempFolder folder;
  {
    const torch::autograd::profiler::RecordProfile guard(folder.path("trace.json"));
    doubled(torch::ones({2}));
  }
  EXPECT_NE(bytes_of(folder.path("trace.json")).find("\"name\": \"doubled\""), std::string::npos);
}

}  // namespace
}  // namespace hearth::testing
