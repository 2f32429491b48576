#include "core/cpu_allocator.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "core/page_cache.h"
#include "core/size_classes.h"
#include "hearth/error.h"
#include "tests/core/mebibytes.h"
#include "tests/support/sanitizers.h"

namespace hearth {
namespace {

constexpr bool kHasPools = !testing::kAddressSanitizer;

class CpuAllocator : public ::testing::Test {
 protected:
  void SetUp() override {
    empty_cpu_cache();
    cpu_reset_peak_stats();
    before_ = cpu_memory_stats();
  }
  void TearDown() override {
    set_cpu_memory_limit(kNoMemoryLimit);
    EXPECT_EQ(in_use(), 0);
  }
  int64_t in_use() const {
    return cpu_memory_stats().allocated_bytes.current - before_.allocated_bytes.current;
  }
  MemoryStats before_;
};

TEST(SizeClasses, CoverEverySmallSizeTightly) {
  for (size_t bytes = 1; bytes <= detail::kLargestSmall; ++bytes) {
    const int size_class = detail::size_class_of(bytes);
    ASSERT_GE(detail::kClassSizes[size_class], bytes);
    ASSERT_EQ(detail::kClassSizes[size_class] % detail::kBlockAlignment, 0u);
    if (size_class > 0) {
      ASSERT_LT(detail::kClassSizes[size_class - 1], bytes);
    }
  }
}

TEST(SizeClasses, LargeBlocksWasteAtMostAnEighthAndAPage) {
  for (size_t bytes = detail::PageCache::kSmallest + 1; bytes < size_t{1} << 40;
       bytes += bytes / 7 + 1) {
    const size_t rounded = detail::PageCache::rounded(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LE(rounded - bytes, bytes / 8 + 4096);
    EXPECT_EQ(rounded % 4096, 0u);
  }
  EXPECT_EQ(detail::PageCache::rounded(64 * kMiB), 64 * kMiB);
}

TEST_F(CpuAllocator, ZeroBytesGiveNull) {
  EXPECT_EQ(cpu_allocate(0), nullptr);
  cpu_free(nullptr, 0);
}

TEST_F(CpuAllocator, BlocksAreAlignedAndDoNotOverlap) {
  std::mt19937 random(1);
  std::map<char*, size_t> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 200) {
      const auto victim = std::next(live.begin(), random() % live.size());
      cpu_free(victim->first, victim->second);
      live.erase(victim);
    }
    const size_t bytes = 1 + (random() >> (random() % 20 + 12));
    char* data = static_cast<char*>(cpu_allocate(bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, i, bytes);
    const auto next = live.insert({data, bytes}).first;
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, data);
    }
    if (std::next(next) != live.end()) {
      ASSERT_LE(data + bytes, std::next(next)->first);
    }
  }
  for (const auto& [data, bytes] : live) cpu_free(data, bytes);
}

TEST_F(CpuAllocator, StatisticsAreExactOnOneThread) {
  void* small = cpu_allocate(1000);  // in a block of 1024
  void* large = cpu_allocate(kMiB);
  cpu_free(small, 1000);
  MemoryStats stats = cpu_memory_stats();
  EXPECT_EQ(in_use(), int64_t{kMiB});
  EXPECT_EQ(stats.allocated_bytes.peak - before_.allocated_bytes.current, int64_t{kMiB} + 1024);
  EXPECT_EQ(stats.allocation.current - before_.allocation.current, 1);
  EXPECT_EQ(stats.allocation.allocated - before_.allocation.allocated, 2);
  EXPECT_EQ(stats.allocated_bytes.freed - before_.allocated_bytes.freed, 1024);
  EXPECT_GE(stats.reserved_bytes.current, stats.allocated_bytes.current);
  cpu_free(large, kMiB);
  cpu_reset_peak_stats();
  EXPECT_EQ(cpu_memory_stats().allocated_bytes.peak, before_.allocated_bytes.current);
}

TEST_F(CpuAllocator, StatisticsExcludeObjects) {
  void* object = ObjectPool<200>::allocate();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(object) % 64, 0u);
  EXPECT_EQ(in_use(), 0);
  ObjectPool<200>::free(object);
}

int64_t page_faults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_F(CpuAllocator, ReusesLargeBlocksWithoutPageFaults) {
  if (!kHasPools) GTEST_SKIP() << "no pools under AddressSanitizer";
  void* first = cpu_allocate(64 * kMiB);
  std::memset(first, 1, 64 * kMiB);
  cpu_free(first, 64 * kMiB);
  const int64_t faults = page_faults();
  void* second = cpu_allocate(64 * kMiB - 5);
  std::memset(second, 2, 64 * kMiB - 5);
  EXPECT_EQ(second, first);
  EXPECT_LE(page_faults() - faults, 2);
  EXPECT_EQ(cpu_memory_stats().segment.allocated - before_.segment.allocated, 1);
  cpu_free(second, 64 * kMiB - 5);
}

TEST_F(CpuAllocator, EmptyCacheReleasesAllMemory) {
  std::vector<void*> small;
  for (int i = 0; i < 5000; ++i) small.push_back(cpu_allocate(300));
  void* large = cpu_allocate(3 * kMiB);
  for (void* data : small) cpu_free(data, 300);
  cpu_free(large, 3 * kMiB);
  empty_cpu_cache();
  EXPECT_EQ(cpu_memory_stats().reserved_bytes.current, before_.reserved_bytes.current);
}

TEST_F(CpuAllocator, CacheIsBounded) {
  if (!kHasPools) GTEST_SKIP() << "no pools under AddressSanitizer";
  set_cpu_cache_limit(10 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(cpu_allocate(4 * kMiB));
  void* above_limit = cpu_allocate(12 * kMiB);
  for (void* data : blocks) cpu_free(data, 4 * kMiB);
  cpu_free(above_limit, 12 * kMiB);
  const MemoryStats stats = cpu_memory_stats();
  EXPECT_EQ(stats.cached_bytes() - before_.cached_bytes(), int64_t{8 * kMiB});
  set_cpu_cache_limit(4096 * kMiB);
}

TEST_F(CpuAllocator, CountsTheAllocationsThatTheCacheServed) {
  if (!kHasPools) GTEST_SKIP() << "no pools under AddressSanitizer";
  const auto hits = [this] { return cpu_memory_stats().cache_hits - before_.cache_hits; };
  const auto segments = [this] {
    return cpu_memory_stats().segment.allocated - before_.segment.allocated;
  };
  // Memory of the library's own objects counts as segments, but not as hits.
  std::vector<void*> objects;
  for (int i = 0; i < 20; ++i) objects.push_back(object_allocate(20000));
  EXPECT_GT(segments(), 0);
  EXPECT_EQ(hits(), 0);
  // A block from the system is no hit; the same block again is one.
  cpu_free(cpu_allocate(5 * kMiB), 5 * kMiB);
  EXPECT_EQ(hits(), 0);
  cpu_free(cpu_allocate(5 * kMiB), 5 * kMiB);
  EXPECT_EQ(hits(), 1);
  // Most small blocks come from memory that the system gave for an earlier one.
  const int64_t segments_before = segments();
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(cpu_allocate(20000));
  EXPECT_GT(segments(), segments_before);
  EXPECT_EQ(hits(), 1 + 100 - (segments() - segments_before));
  for (void* block : blocks) cpu_free(block, 20000);
  for (void* object : objects) object_free(object, 20000);
}

TEST_F(CpuAllocator, EmptiesCacheBeforeFailing) {
  if (!kHasPools) GTEST_SKIP() << "no pools under AddressSanitizer";
  void* cached = cpu_allocate(8 * kMiB);
  cpu_free(cached, 8 * kMiB);
  set_cpu_memory_limit(static_cast<size_t>(before_.reserved_bytes.current) + 10 * kMiB);
  void* other = cpu_allocate(9 * kMiB);
  EXPECT_EQ(cpu_memory_stats().num_alloc_retries, before_.num_alloc_retries + 1);
  cpu_free(other, 9 * kMiB);
}

void expect_out_of_memory(size_t bytes) {
  try {
    cpu_allocate(bytes);
    FAIL() << "got " << bytes << " bytes";
  } catch (const OutOfMemoryError& error) {
    const std::string expected =
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate " +
        std::to_string(bytes) + " bytes.";
    EXPECT_EQ(error.msg().substr(0, expected.size()), expected);
    EXPECT_NE(error.msg().find("Tensors hold"), std::string::npos);
  }
}

TEST_F(CpuAllocator, OutOfMemoryErrorReportsAllocatedMemory) {
  set_cpu_memory_limit(static_cast<size_t>(before_.reserved_bytes.current) + 4 * kMiB);
  expect_out_of_memory(5 * kMiB);
  EXPECT_EQ(cpu_memory_stats().num_ooms, before_.num_ooms + 1);
  std::vector<void*> small;
  EXPECT_THROW(while (true) small.push_back(cpu_allocate(20000)), OutOfMemoryError);
  EXPECT_GT(small.size(), 150u);
  for (void* data : small) cpu_free(data, 20000);
  set_cpu_memory_limit(kNoMemoryLimit);
  cpu_free(cpu_allocate(5 * kMiB), 5 * kMiB);
}

TEST_F(CpuAllocator, SizesBeyondAddressSpaceFail) {
  expect_out_of_memory((size_t{1} << 47) + 1);
  expect_out_of_memory(SIZE_MAX);
  expect_out_of_memory(SIZE_MAX - 63);
}

TEST_F(CpuAllocator, BlocksCanBeFreedOnOtherThreads) {
  constexpr int kBlocks = 20000;
  std::vector<void*> blocks(kBlocks);
  for (int round = 0; round < 3; ++round) {
    std::thread([&] {
      for (int i = 0; i < kBlocks; ++i) std::memset(blocks[i] = cpu_allocate(64 + i % 900), i, 64);
    }).join();
    std::thread([&] {
      for (int i = 0; i < kBlocks; ++i) cpu_free(blocks[i], 64 + i % 900);
    }).join();
  }
  empty_cpu_cache();
  EXPECT_EQ(cpu_memory_stats().reserved_bytes.current, before_.reserved_bytes.current);
}

TEST_F(CpuAllocator, ConcurrentThreadsGetSeparateBlocks) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::mt19937 random(t);
      for (int i = 0; i < 20000; ++i) {
        const size_t bytes = 8 + random() % 60000;
        auto* data = static_cast<unsigned*>(cpu_allocate(bytes));
        data[0] = data[1] = t;
        EXPECT_TRUE(data[0] == t && data[1] == t);
        cpu_free(data, bytes);
      }
    });
  for (auto& thread : threads) thread.join();
}

/// Frees a block in its destructor, possibly after the thread's cache was destroyed.
struct FreedLate {
  void* data = nullptr;
  ~FreedLate() {
    cpu_free(data, 100);
    cpu_free(cpu_allocate(200), 200);
  }
};

TEST_F(CpuAllocator, WorksDuringThreadExit) {
  std::thread([] {
    thread_local FreedLate late;  // created before the cache, so destroyed after it
    late.data = cpu_allocate(100);
  }).join();
}

TEST_F(CpuAllocator, WorksInForkedChild) {
  if (!kHasPools) GTEST_SKIP() << "AddressSanitizer's own allocator may hang in the child";
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) cpu_free(cpu_allocate(100000), 100000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      cpu_free(cpu_allocate(100000), 100000);
      cpu_free(cpu_allocate(100), 100);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace hearth
