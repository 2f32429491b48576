// Memory over time, and the memory that meta tensors would need.
#include "core/memory_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/cpu_allocator.h"
#include "hearth/hearth.h"
#include "hearth/meta_memory.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

/// Statistics of these bytes of parameters and nothing else.
MemoryStats stats_of_bytes(int64_t bytes) {
  MemoryStats stats;
  stats.tags[static_cast<size_t>(MemoryTag::Parameter)].current = bytes;
  return stats;
}

TEST(MemoryHistory, KeepsThePeakWhenItIsFull) {
  MemoryHistory history(MemoryHistory::Clock::now(), 8);
  for (int i = 0; i < 1000; ++i) history.add(stats_of_bytes(i == 577 ? 4321 : i % 10));
  const std::string json = history.json("cpu");
  EXPECT_NE(json.find(", 0, 4321, 0, 0, 0, 0]"), std::string::npos) << json;
  EXPECT_LE(std::count(json.begin(), json.end(), '['), 1 + 9)
      << "a list of up to 8 points and the unfinished one: " << json;
}

TEST(MemoryHistory, KeepsThePeakWithAnOddLimit) {
  for (const size_t max_points : {3, 5, 7})
    for (size_t peak = 0; peak < 40; ++peak) {
      MemoryHistory history(MemoryHistory::Clock::now(), max_points);
      for (size_t i = 0; i < 40; ++i) history.add(stats_of_bytes(i == peak ? 4321 : 1));
      EXPECT_NE(history.json("cpu").find(", 0, 4321, 0, 0, 0, 0]"), std::string::npos)
          << max_points << ' ' << peak;
    }
}

TEST(MemoryHistory, KeepsEveryPointWithoutALimit) {
  MemoryHistory history(MemoryHistory::Clock::now(), SIZE_MAX);
  for (int i = 0; i < 50000; ++i) history.add(stats_of_bytes(i));
  const std::string json = history.json("cpu");
  EXPECT_EQ(std::count(json.begin(), json.end(), '['), 1 + 50000);
  record_memory_history(true, SIZE_MAX);
  record_memory_history(false);
}

TEST(MemoryHistory, HasEachChangeInOrder) {
  MemoryHistory history(MemoryHistory::Clock::now(), 8);
  for (const int64_t bytes : {11, 22, 33}) history.add(stats_of_bytes(bytes));
  const std::string json = history.json("cpu");
  EXPECT_TRUE(json.starts_with("{\"device\": \"cpu\", \"points\": [[")) << json;
  EXPECT_LT(json.find(", 11, "), json.find(", 22, "));
  EXPECT_LT(json.find(", 22, "), json.find(", 33, "));
}

TEST(MemorySnapshot, HasDevicesOnlyWhileRecording) {
  EXPECT_NE(memory_snapshot().find("\"devices\": []"), std::string::npos);
  record_memory_history();
  const Tensor held = empty({1 << 20});
  const std::string json = memory_snapshot();
  record_memory_history(false);
  EXPECT_NE(json.find("\"tags\": [\"other\", \"parameter\", "), std::string::npos) << json;
  EXPECT_NE(json.find("{\"device\": \"cpu\", "), std::string::npos) << json;
  EXPECT_NE(memory_snapshot().find("\"devices\": []"), std::string::npos);
}

int64_t held(const MetaMemory& memory) { return memory.stats().allocated_bytes.current; }

TEST(MetaMemory, CountsItsOwnTensorsOnly) {
  Tensor earlier = empty({1000}, kMeta);
  const auto block = static_cast<int64_t>(cpu_block_bytes(4000));
  const MetaMemory memory(kCPU);
  EXPECT_EQ(held(memory), 0);
  Tensor mine = empty({1000}, kMeta);
  const Tensor real = empty({1000});
  EXPECT_EQ(held(memory), block);
  earlier.reset();
  EXPECT_EQ(held(memory), block);
  Tensor inner_result;
  {
    const MetaMemory inner(kCPU);
    inner_result = empty({1000}, kMeta);
    EXPECT_EQ(held(inner), block);
  }
  inner_result.reset();
  EXPECT_EQ(held(memory), block);
  set_memory_tag(mine, MemoryTag::Gradient);
  EXPECT_EQ(memory.stats().of(MemoryTag::Gradient).current, block);
  mine.reset();
  EXPECT_EQ(held(memory), 0);
  EXPECT_EQ(memory.stats().of(MemoryTag::Gradient).peak, block);
  EXPECT_EQ(memory.stats().allocated_bytes.peak, block);
  EXPECT_NE(memory.summary().find("gradient"), std::string::npos);
}

TEST(MetaMemory, CountsResizedTensors) {
  Tensor plain = empty({0}, kMeta);
  plain.resize_({1000});
  EXPECT_EQ(plain.storage().nbytes(), 4000u);
  const auto block = static_cast<int64_t>(cpu_block_bytes(4000));
  const auto larger = static_cast<int64_t>(cpu_block_bytes(40000));
  const MetaMemory memory(kCPU);
  Tensor t = empty({0}, kMeta);
  set_memory_tag(t, MemoryTag::Gradient);
  t.resize_({1000});
  EXPECT_EQ(held(memory), block);
  t.resize_({10000});
  EXPECT_EQ(held(memory), larger);
  EXPECT_EQ(memory.stats().of(MemoryTag::Gradient).current, larger);
  EXPECT_EQ(memory.stats().allocated_bytes.peak, block + larger) << "both exist during the copy";
  t.resize_({10});
  EXPECT_EQ(held(memory), larger);
  plain.resize_({2000});
  EXPECT_EQ(plain.storage().nbytes(), 8000u);
  t.reset();
  plain.reset();
  EXPECT_EQ(held(memory), 0);
}

TEST(MetaMemory, AutocastFollowsTheDevice) {
  const Tensor a = ones({2, 2}, kMeta);
  const AutocastMode autocast(kCPU, kBFloat16);
  EXPECT_EQ(matmul(a, a).scalar_type(), kFloat);
  {
    const MetaMemory memory(kCPU);
    EXPECT_EQ(matmul(a, a).scalar_type(), kBFloat16);
  }
  const MetaMemory memory(Device("cuda"));
  EXPECT_EQ(matmul(a, a).scalar_type(), kFloat);
}

TEST(MetaMemory, NeedsADeviceWithMemory) {
  EXPECT_ERROR(MetaMemory(Device("meta")), "expected a CPU or CUDA device, but got meta");
}

}  // namespace
}  // namespace hearth
