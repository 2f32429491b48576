// Tags of memory: their assignment, the allocators' counts, tables and out-of-memory errors.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/cpu_allocator.h"
#include "core/device_allocator.h"
#include "core/memory_report.h"
#include "hearth/hearth.h"
#include "hearth/meta_memory.h"
#include "hearth/utils/checkpoint.h"
#include "kernels/sim/sim_backend.h"
#include "tests/core/mebibytes.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth {
namespace {

/// The CPU and, if there is one, a GPU.
std::vector<Device> devices() {
  std::vector<Device> list{kCPU};
  if (cuda::is_available()) list.push_back(testing::last_gpu());
  return list;
}

constexpr int64_t kSide = 256;  // a square float matrix has 256 KiB
constexpr int64_t kMatrix = kSide * kSide * 4;

/// Waits for all GPUs: the scratch memory of simulated ones counts as workspace on the CPU.
void wait_for_gpus() {
  for (int i = 0; i < cuda::device_count(); ++i) cuda::synchronize(i);
}

MemoryStats stats_at_rest(Device device) {
  wait_for_gpus();
  return memory_stats(device);
}

/// The growth of each tag since construction, in bytes.
class Growth {
 public:
  explicit Growth(Device device) : device_(device), before_(stats_at_rest(device)) {}
  int64_t of(MemoryTag tag) const {
    return stats_at_rest(device_).of(tag).current - before_.of(tag).current;
  }
  /// The growth of all tags minus the growth of the total; must be 0.
  int64_t uncounted() const {
    const MemoryStats now = stats_at_rest(device_);
    int64_t difference = before_.allocated_bytes.current - now.allocated_bytes.current;
    for (size_t i = 0; i < kNumMemoryTags; ++i)
      difference += now.tags[i].current - before_.tags[i].current;
    return difference;
  }

 private:
  Device device_;
  MemoryStats before_;
};

/// Two square layers without biases.
struct Pair : nn::Module {
  Pair() {
    register_module("first", first);
    register_module("second", second);
  }
  Tensor forward(const Tensor& x) { return second(first(x).relu()); }
  nn::Linear first{nn::LinearOptions(kSide, kSide).bias(false)};
  nn::Linear second{nn::LinearOptions(kSide, kSide).bias(false)};
};

TEST(MemoryTags, FollowATrainingStep) {
  for (const Device device : devices()) {
    const Growth growth(device);
    const auto model = std::make_shared<Pair>();
    model->to(device);
    EXPECT_EQ(growth.of(MemoryTag::Parameter), 2 * kMatrix) << device;
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    const Tensor x = ones({kSide, kSide}, device);
    EXPECT_EQ(growth.of(MemoryTag::Other), kMatrix) << device;
    Tensor y = model->forward(x);
    // The results of `relu` and `second`; backward does not need the result of `first`.
    EXPECT_EQ(growth.of(MemoryTag::Activation), 2 * kMatrix) << device;
    y.sum().backward();
    EXPECT_EQ(growth.of(MemoryTag::Gradient), 2 * kMatrix) << device;
    y.reset();
    EXPECT_EQ(growth.of(MemoryTag::Activation), 0) << device;
    optimizer.step();
    EXPECT_EQ(growth.of(MemoryTag::OptimizerState), 2 * kMatrix) << device;
    optimizer.zero_grad();
    EXPECT_EQ(growth.of(MemoryTag::Gradient), 0) << device;
    EXPECT_EQ(growth.uncounted(), 0) << device;
  }
}

TEST(MemoryTags, OfTensors) {
  const Tensor t = ones({4});
  EXPECT_EQ(memory_tag(t), MemoryTag::Other);
  set_memory_tag(t, MemoryTag::Workspace);
  EXPECT_EQ(memory_tag(t[1]), MemoryTag::Workspace) << "views share the tag of their memory";
  set_memory_tag(Tensor(), MemoryTag::Workspace);
  EXPECT_ERROR(memory_tag(Tensor()), "memory_tag(): the tensor is undefined");
  EXPECT_ERROR(set_memory_tag(t, MemoryTag(6)), "MemoryTag 6 does not exist");
  EXPECT_ERROR(MemoryTagGuard(MemoryTag(200)), "MemoryTag 200 does not exist");
  const Tensor w = ones({4}, requires_grad());
  EXPECT_EQ(memory_tag(w * 2), MemoryTag::Activation) << "a result with history";
  EXPECT_EQ(memory_tag(t * 2), MemoryTag::Other);
  const MemoryTagGuard guard(MemoryTag::Parameter);
  EXPECT_EQ(memory_tag(t * 2), MemoryTag::Parameter);
  EXPECT_EQ(memory_tag(w * 2), MemoryTag::Parameter);
}

TEST(MemoryTags, SurviveTheReplacementOfAParametersValues) {
  nn::Linear layer(3, 2);
  EXPECT_EQ(memory_tag(layer->weight), MemoryTag::Parameter);
  layer->to(kDouble);
  EXPECT_EQ(memory_tag(layer->weight), MemoryTag::Parameter);
  nn::BatchNorm1d norm(3);
  EXPECT_EQ(memory_tag(norm->running_mean), MemoryTag::Parameter);
}

TEST(MemoryTags, RecomputedResultsAreActivations) {
  nn::Linear layer(3, 3);
  std::vector<MemoryTag> tags;
  const auto f = [&](const Tensor& x) {
    const Tensor y = layer(x);
    tags.push_back(memory_tag(y));
    return y.exp();
  };
  utils::checkpoint(f, ones({2, 3})).sum().backward();
  EXPECT_EQ(tags, (std::vector<MemoryTag>(2, MemoryTag::Activation)));
  EXPECT_EQ(memory_tag(layer->weight.grad()), MemoryTag::Gradient);
}

TEST(MemoryTags, CountRetaggedBlocksOnce) {
  for (const Device device : devices())
    for (const int64_t bytes : {int64_t{100}, int64_t{kMiB}}) {
      const Growth growth(device);
      {
        const Tensor t = empty({bytes}, TensorOptions(kByte).device(device));
        const int64_t held = growth.of(MemoryTag::Other);
        EXPECT_GE(held, bytes);
        set_memory_tag(t, MemoryTag::Gradient);
        EXPECT_EQ(growth.of(MemoryTag::Other), 0);
        EXPECT_EQ(growth.of(MemoryTag::Gradient), held);
      }
      EXPECT_EQ(growth.of(MemoryTag::Gradient), 0) << device << ' ' << bytes;
    }
}

TEST(MemoryTags, PeakHasItsTags) {
  wait_for_gpus();
  reset_peak_memory_stats(kCPU);
  const MemoryStats before = memory_stats(kCPU);
  {
    const MemoryTagGuard guard(MemoryTag::Workspace);
    const Tensor t = empty({int64_t{8 * kMiB}}, kByte);
  }
  const Tensor small = empty({int64_t{2 * kMiB}}, kByte);
  const MemoryStats stats = memory_stats(kCPU);
  const auto number = static_cast<size_t>(MemoryTag::Workspace);
  EXPECT_EQ(stats.at_peak[number] - before.of(MemoryTag::Workspace).current, int64_t{8 * kMiB});
  EXPECT_EQ(stats.of(MemoryTag::Workspace).current, before.of(MemoryTag::Workspace).current);
}

TEST(MemoryTags, PeakHasTheTagsOfLaterRetags) {
  for (const Device device : devices()) {
    wait_for_gpus();
    reset_peak_memory_stats(device);
    const MemoryStats before = memory_stats(device);
    const Tensor t = empty({int64_t{8 * kMiB}}, TensorOptions(kByte).device(device));
    (void)memory_stats(device);
    set_memory_tag(t, MemoryTag::Gradient);
    const auto number = static_cast<size_t>(MemoryTag::Gradient);
    EXPECT_EQ(memory_stats(device).at_peak[number] - before.at_peak[number], int64_t{8 * kMiB})
        << device;
  }
  const MetaMemory memory(kCPU);
  const Tensor t = empty({1000}, kMeta);
  set_memory_tag(t, MemoryTag::Gradient);
  EXPECT_EQ(memory.stats().at_peak[static_cast<size_t>(MemoryTag::Gradient)],
            static_cast<int64_t>(cpu_block_bytes(4000)));
}

TEST(MemorySummary, ListsTagsAndModules) {
  for (const Device device : devices()) {
    const auto model = std::make_shared<Pair>();
    model->to(device);
    const Tensor y = model->forward(ones({kSide, kSide}, device));
    const std::string text = memory_summary(device);
    const char* const reserved = device.is_cpu() ? "Reserved memory" : "GPU reserved memory";
    for (const char* const part : {"Allocated memory", "      parameter", "      optimizer state",
                                   "Activations by module", "| first ", reserved})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
      EXPECT_EQ(text.find('\n', begin) - begin, 77u) << text.substr(begin, 80);
    EXPECT_EQ(memory_summary(device, true).find("Activations by module"), std::string::npos);
  }
  EXPECT_ERROR(memory_summary(Device("meta")), "expected a CPU or CUDA device, but got meta");
}

TEST(MemorySummary, UnitsChangeAtTheNumbersOfPyTorch) {
  MemoryReport report;
  for (const auto& [count, shown] : {std::pair{749'999, " 749999   "}, {750'000, "    750 K "}}) {
    report.stats.allocation.current = count;
    const std::string text = summary_text(report, false), row = "| Allocations           | ";
    const size_t begin = text.find(row);
    ASSERT_NE(begin, std::string::npos) << text;
    EXPECT_EQ(text.substr(begin + row.size(), 10), shown);
  }
  report.stats.reserved_bytes.current = 768 * 1024;
  EXPECT_NE(summary_text(report, false).find("|    768 KiB |"), std::string::npos);
  report.stats.reserved_bytes.current = 768 * 1024 - 1;
  EXPECT_NE(summary_text(report, false).find("| 786431 B   |"), std::string::npos);
}

/// Fills the memory that is left with activations until it fails and returns the error's text.
std::string fill(nn::Linear& layer, Device device) {
  std::vector<Tensor> kept;
  const Tensor x = ones({kSide, kSide}, device);
  return testing::error_of([&] {
    for (int i = 0; i < 10000; ++i) kept.push_back(layer(x).exp());
  });
}

/// Fills memory, fails, reads the error, frees and trains on.
void expect_recovery(Device device) {
  nn::Linear layer(kSide, kSide);
  layer->to(device);
  optim::SGD optimizer(layer->parameters(), 0.1);
  const int64_t before = stats_at_rest(device).allocated_bytes.current;
  const std::string text = fill(layer, device);
  for (const char* const part : {"memory by tag", "  activation", "  parameter", "What would help:",
                                 "utils::checkpoint()", "\n  1. ", "\n  2. ", "\n  3. "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_EQ(text.find("\n  4. "), std::string::npos) << text;
  EXPECT_EQ(stats_at_rest(device).allocated_bytes.current, before) << "the error holds no memory";
  layer(ones({kSide, kSide}, device)).sum().backward();
  optimizer.step();
  EXPECT_TRUE(layer->weight.isfinite().all().item<bool>());
}

TEST(OutOfMemory, OnTheCpuTrainingGoesOn) {
  const auto reserved = static_cast<size_t>(memory_stats(kCPU).reserved_bytes.current);
  set_cpu_memory_limit(reserved + 64 * kMiB);
  expect_recovery(kCPU);
  set_cpu_memory_limit(2 * kMiB);
  const Tensor held = empty({10});
  EXPECT_ERROR((void)empty({int64_t{4 * kMiB}}, kByte),
               "1. raise the limit of 2.00 MiB, which HEARTH_CPU_MEMORY sets");
  set_cpu_memory_limit(kNoMemoryLimit);
}

TEST(OutOfMemory, OnAGpuTrainingGoesOn) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  cuda::empty_cache();
  const size_t limit = cuda::memory_reserved(0) + 64 * kMiB;
  cuda::set_per_process_memory_fraction(double(limit) / double(cuda::mem_get_info(0).second), 0);
  expect_recovery(Device("cuda:0"));
  cuda::set_per_process_memory_fraction(1, 0);
  cuda::empty_cache();
}

TEST(OutOfMemory, FractionOfAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  EXPECT_ERROR(cuda::set_per_process_memory_fraction(2),
               "Invalid fraction value: 2. Allowed range: 0~1");
  EXPECT_ERROR(cuda::set_per_process_memory_fraction(-0.5), "Allowed range: 0~1");
  cuda::empty_cache();
  const size_t total = cuda::mem_get_info().second;
  cuda::set_per_process_memory_fraction(0.5);
  EXPECT_DOUBLE_EQ(cuda::get_per_process_memory_fraction(), 0.5);
  const auto bytes_on_gpu = TensorOptions(kByte).device(kCUDA);
  EXPECT_ERROR((void)empty({int64_t(total / 2 + kMiB)}, bytes_on_gpu),
               " allowed; Of the allocated memory");
  EXPECT_ERROR((void)empty({int64_t(total / 2 + kMiB)}, bytes_on_gpu),
               "cuda::set_per_process_memory_fraction()");
  {
    const Tensor held = empty({int64_t(total / 4)}, bytes_on_gpu);
    const testing::Warnings warnings;
    cuda::set_per_process_memory_fraction(0.125);
    EXPECT_TRUE(testing::Warnings::contains("more than the new limit of "));
    EXPECT_ERROR((void)empty({int64_t(4 * kMiB)}, bytes_on_gpu),
                 " more than the limit: release some");
  }
  cuda::set_per_process_memory_fraction(1);
  (void)empty({int64_t(total / 2 + kMiB)}, bytes_on_gpu);
  cuda::empty_cache();
}

TEST(OutOfMemory, AdviceFollowsTheLargestTag) {
  MemoryReport report;
  report.limit = SIZE_MAX;
  const auto text_for = [&](MemoryTag tag) {
    report.stats = {};
    report.stats.allocated_bytes.increase(kMiB);
    report.stats.tags[static_cast<size_t>(tag)].increase(kMiB);
    return cpu_out_of_memory_text(report);
  };
  report.modules = {{"layers.3", {int64_t{kMiB}, int64_t{kMiB}}}};
  const std::string text = text_for(MemoryTag::Activation);
  EXPECT_NE(text.find("1. reduce the batch size"), std::string::npos) << text;
  EXPECT_NE(text.find("utils::checkpoint(), for example in layers.3"), std::string::npos) << text;
  EXPECT_NE(text.find("    in layers.3"), std::string::npos) << text;
  EXPECT_NE(text_for(MemoryTag::OptimizerState).find("1. use an optimizer with less state"),
            std::string::npos);
  EXPECT_NE(text_for(MemoryTag::Gradient).find("1. drop the gradients"), std::string::npos);
  EXPECT_NE(text_for(MemoryTag::Parameter).find("1. keep the model in bfloat16"),
            std::string::npos);
}

TEST(OutOfMemory, RequestLargerThanAnyDevice) {
  EXPECT_ERROR((void)empty({int64_t{1} << 48}, kByte), "1. check the sizes: this request alone is");
  if (cuda::is_available()) {
    EXPECT_ERROR((void)empty({int64_t{1} << 48}, TensorOptions(kByte).device(kCUDA)),
                 "1. check the sizes: this request alone is");
  }
}

TEST(CpuMemoryVariable, LimitsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [](const char* value) {
    setenv("HEARTH_CPU_MEMORY", value, 1);
    EXPECT_EXIT(
        {
          const std::string text =
              testing::error_of([] { (void)empty({int64_t{64 * kMiB}}, kByte); });
          std::fputs(text.c_str(), stderr);
          std::_Exit(0);
        },
        ::testing::ExitedWithCode(0),
        std::string(value) == "32MiB" ? "the limit is 32 MiB"
                                      : "HEARTH_CPU_MEMORY must be a size such as 8GiB");
    unsetenv("HEARTH_CPU_MEMORY");
  };
  run("32MiB");
  run("much");
}

}  // namespace
}  // namespace hearth
