#include "core/device_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "hearth/error.h"
#include "kernels/sim/sim_backend.h"
#include "tests/core/mebibytes.h"

namespace hearth {
namespace {

/// An allocator over a simulated GPU of 100 MiB that runs work only on demand.
class DeviceAllocatorTest : public ::testing::Test {
 protected:
  void* take(size_t bytes) { return allocator.allocate(bytes, stream); }
  void free(void* data) { allocator.free(data, stream); }
  int64_t reserved() { return allocator.stats().reserved_bytes.current; }
  int64_t allocated() { return allocator.stats().allocated_bytes.current; }

  sim::SimBackend backend{{1, 100 * kMiB, true}};
  StreamHandle stream = backend.default_stream(0);
  StreamHandle other = backend.create_stream(0, 0);
  DeviceAllocator allocator{backend, 0};
};

TEST_F(DeviceAllocatorTest, RoundsTo512BytesWithoutOverlap) {
  EXPECT_EQ(take(0), nullptr);
  std::vector<void*> blocks;
  for (size_t bytes : {1, 512, 513}) {
    blocks.push_back(take(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % 512, 0U);
  }
  EXPECT_EQ(allocated(), 512 + 512 + 1024);
  EXPECT_EQ(reserved(), int64_t(2 * kMiB)) << "small blocks share a segment";
  EXPECT_EQ(static_cast<char*>(blocks[2]) - static_cast<char*>(blocks[0]), 1024);
  for (void* block : blocks) free(block);
  EXPECT_EQ(allocated(), 0);
}

TEST_F(DeviceAllocatorTest, GivesCapturedStreamsAPoolOfTheirOwn) {
  const GraphPoolId pool{0, 1};
  void* const ordinary = take(kMiB);
  free(ordinary);
  backend.begin_capture(0, other, CaptureMode::kGlobal);
  allocator.begin_capture(pool);
  EXPECT_EQ(take(kMiB), ordinary) << "another stream";
  void* const captured = allocator.allocate(3 * kMiB, other);
  allocator.free(captured, other);
  EXPECT_EQ(allocator.allocate(2 * kMiB, other), captured) << "reused within the capture";
  void* const shared = allocator.allocate(kMiB, other);
  allocator.record_stream(shared, stream);
  allocator.free(shared, other);
  EXPECT_THROW(allocator.empty_cache(), Error);
  allocator.end_capture();
  EXPECT_THROW(backend.free(0, nullptr, 0), Error) << "the backend refuses to wait in a capture";
  EXPECT_THROW(backend.end_capture(0, other), Error);
  allocator.free(captured);
  EXPECT_NE(allocator.allocate(2 * kMiB, other), captured) << "the graph may be replayed";
  const int64_t before = reserved();
  allocator.empty_cache();
  EXPECT_EQ(reserved(), before);
  allocator.release_pool(pool);
  allocator.empty_cache();
  EXPECT_EQ(reserved(), before - int64_t(22 * kMiB)) << "a large and a small segment";
}

TEST_F(DeviceAllocatorTest, SegmentsHavePyTorchsSizes) {
  void* const small = take(kMiB);
  EXPECT_EQ(reserved(), int64_t(2 * kMiB));
  void* const large = take(kMiB + 1);
  EXPECT_EQ(reserved(), int64_t(22 * kMiB));
  void* const shared = take(10 * kMiB + 1);
  EXPECT_EQ(reserved(), int64_t(22 * kMiB)) << "the block fits into the segment of `large`";
  void* const another = take(10 * kMiB + 1);
  EXPECT_EQ(reserved(), int64_t(34 * kMiB)) << "the block has a segment of its own, 12 MiB";
  for (void* block : {small, large, shared, another}) free(block);
  allocator.empty_cache();
  EXPECT_EQ(reserved(), 0);
}

TEST_F(DeviceAllocatorTest, FreedBlockIsReusedOnItsStream) {
  void* const first = take(1000);
  free(first);
  EXPECT_NE(allocator.allocate(1000, other), first);
  EXPECT_EQ(take(1000), first);
  EXPECT_EQ(allocator.stats().cache_hits, 1);
}

/// Destructors free blocks, so freeing must not throw when the device fails, as after a fork.
TEST_F(DeviceAllocatorTest, FreeDoesNotThrowOnFailedDevice) {
  void* const block = take(1000);
  allocator.record_stream(block, other);
  EXPECT_EXIT(
      {
        free(block);  // cannot record its event in a forked process
        std::_Exit(take(1000) == block ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
  free(block);
}

TEST_F(DeviceAllocatorTest, UsesBestFitAndMergesNeighbours) {
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(static_cast<char*>(take(3 * kMiB / 2)));
  free(blocks[1]);
  free(blocks[4]);
  free(blocks[5]);
  EXPECT_EQ(take(3 * kMiB / 2), blocks[1]) << "the smallest free range that fits";
  free(blocks[3]);
  EXPECT_EQ(take(9 * kMiB / 2), blocks[3]) << "three neighbours are one block";
  EXPECT_EQ(reserved(), int64_t(20 * kMiB));
}

TEST_F(DeviceAllocatorTest, RecordedStreamDelaysReuse) {
  void* const block = take(1000);
  static_cast<sim::Stream*>(other)->submit([] {});
  allocator.record_stream(block, other);
  allocator.record_stream(block, other);
  allocator.record_stream(this, other);  // not a block of this allocator: ignored
  free(block);
  auto stats = allocator.stats();
  EXPECT_EQ(stats.allocated_bytes.current, 0);
  EXPECT_EQ(stats.active_bytes.current, 1024);
  backend.synchronize(0, stream);
  backend.synchronize(0, other);
  EXPECT_EQ(take(1000), block);
  free(block);
  EXPECT_EQ(allocator.stats().active_bytes.current, 0);
}

TEST_F(DeviceAllocatorTest, BlockFreedOnAnotherStreamIsNotReusedEarly) {
  std::promise<void> gate;
  void* const block = take(1000);
  static_cast<sim::Stream*>(other)->submit([open = gate.get_future().share()] { open.wait(); });
  allocator.free(block, other);
  void* const next = take(1000);
  EXPECT_NE(next, block);
  gate.set_value();
  backend.synchronize(0, other);
  EXPECT_EQ(take(1000), block);
}

TEST_F(DeviceAllocatorTest, EmptiesCacheBeforeFailing) {
  allocator.free(allocator.allocate(60 * kMiB, other), other);
  void* const block = take(60 * kMiB);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(allocator.stats().num_alloc_retries, 1);
  EXPECT_EQ(reserved(), int64_t(60 * kMiB));
  allocator.record_stream(block, other);
  free(block);
  EXPECT_EQ(take(60 * kMiB), block) << "waits for the recorded stream";
}

std::string failure(DeviceAllocator& allocator, size_t bytes, StreamHandle stream) {
  try {
    allocator.allocate(bytes, stream);
  } catch (const OutOfMemoryError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(DeviceAllocatorTest, WorksAfterOutOfMemoryError) {
  void* const block = take(60 * kMiB);
  EXPECT_EQ(failure(allocator, 70 * kMiB, stream),
            "CUDA out of memory. Tried to allocate 70.00 MiB. GPU 0 has a total capacity of "
            "100.00 MiB of which 40.00 MiB is free. Of the allocated memory 60.00 MiB is allocated "
            "by Hearth, and 0 bytes is reserved by Hearth but unallocated. The largest unallocated "
            "block has 0 bytes.\n"
            "memory by tag                             now         peak\n"
            "  other                             60.00 MiB    60.00 MiB\n"
            "What would help:\n"
            "  1. release tensors that are no longer needed (t.reset()); sum losses as numbers, "
            "loss.item(), because a tensor keeps its graph\n"
            "  2. reduce the batch size\n"
            "  3. evaluate under NoGradGuard, which keeps no activations");
  EXPECT_EQ(allocator.stats().num_ooms, 1);
  void* const rest = take(40 * kMiB);
  EXPECT_NE(rest, nullptr);
  free(block);
  free(rest);
  free(take(100 * kMiB));
  EXPECT_THROW(take(SIZE_MAX), OutOfMemoryError);
  EXPECT_THROW(take(SIZE_MAX / 2), OutOfMemoryError);
}

TEST_F(DeviceAllocatorTest, OutOfMemoryErrorReportsFragmentation) {
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(take(10 * kMiB));
  for (size_t i = 0; i < 10; i += 2) free(blocks[i]);
  const std::string text = failure(allocator, 20 * kMiB, stream);
  EXPECT_NE(text.find("of which 50.00 MiB is free"), std::string::npos) << text;
  EXPECT_NE(text.find("Memory is fragmented"), std::string::npos) << text;
  free(blocks[1]);
  take(kMiB);  // the rest of its segment remains unallocated
  const std::string split = failure(allocator, 80 * kMiB, stream);
  EXPECT_NE(split.find(" % of the unallocated memory is outside its largest block."),
            std::string::npos)
      << split;
}

TEST_F(DeviceAllocatorTest, CountsAllocationsAndBytes) {
  void* const a = take(kMiB);
  void* const b = take(512);
  free(a);
  auto stats = allocator.stats();
  EXPECT_EQ(stats.allocation.current, 1);
  EXPECT_EQ(stats.allocation.allocated, 2);
  EXPECT_EQ(stats.allocation.freed, 1);
  EXPECT_EQ(stats.allocated_bytes.current, 512);
  EXPECT_EQ(stats.allocated_bytes.peak, int64_t(kMiB + 512));
  EXPECT_EQ(stats.allocated_bytes.freed, int64_t(kMiB));
  EXPECT_EQ(stats.cached_bytes(), int64_t(2 * kMiB - 512));
  allocator.reset_peak();
  EXPECT_EQ(allocator.stats().allocated_bytes.peak, 512);
  free(b);
  EXPECT_THROW(free(b), Error);
}

TEST_F(DeviceAllocatorTest, CountsTags) {
  const auto held = [&](MemoryTag tag) { return allocator.stats().of(tag).current; };
  void* const parameter = allocator.allocate(512, stream, MemoryTag::Parameter);
  void* const activation = allocator.allocate(kMiB, stream, MemoryTag::Activation);
  allocator.free(activation, stream);
  void* const untagged = allocator.allocate(1024, stream);
  EXPECT_EQ(held(MemoryTag::Parameter), 512);
  EXPECT_EQ(held(MemoryTag::Activation), 0);
  EXPECT_EQ(held(MemoryTag::Other), 1024);
  allocator.retag(untagged, MemoryTag::Gradient);
  EXPECT_EQ(held(MemoryTag::Other), 0);
  EXPECT_EQ(held(MemoryTag::Gradient), 1024);
  const MemoryStats stats = allocator.stats();
  EXPECT_EQ(stats.of(MemoryTag::Activation).peak, int64_t(kMiB));
  EXPECT_EQ(stats.at_peak[static_cast<size_t>(MemoryTag::Activation)], int64_t(kMiB));
  EXPECT_EQ(stats.at_peak[static_cast<size_t>(MemoryTag::Parameter)], 512);
  EXPECT_EQ(stats.at_peak[static_cast<size_t>(MemoryTag::Gradient)], 0);
  allocator.reset_peak();
  EXPECT_EQ(allocator.stats().of(MemoryTag::Activation).peak, 0);
  EXPECT_EQ(allocator.stats().at_peak[static_cast<size_t>(MemoryTag::Gradient)], 1024);
  for (void* block : {parameter, untagged}) free(block);
  EXPECT_EQ(held(MemoryTag::Gradient), 0);
}

TEST_F(DeviceAllocatorTest, LimitIsRespected) {
  allocator.set_limit(30 * kMiB);
  void* const block = take(20 * kMiB);
  EXPECT_NE(failure(allocator, 20 * kMiB, stream).find("30.00 MiB allowed"), std::string::npos);
  free(block);
  EXPECT_NE(take(30 * kMiB), nullptr) << "the cached 20 MiB are released";
  allocator.set_limit(SIZE_MAX);
  EXPECT_NE(take(60 * kMiB), nullptr);
}

TEST_F(DeviceAllocatorTest, SupportsConcurrentThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, on = t % 2 ? stream : other] {
      std::vector<void*> blocks;
      for (size_t i = 0; i < 300; ++i) {
        blocks.push_back(allocator.allocate(i * 97 % 5000 + 1, on));
        if (i % 3 == 0) allocator.record_stream(blocks.back(), stream);
        if (i % 2 == 0) allocator.free(blocks[i / 2], on);
      }
      for (size_t i = 150; i < 300; ++i) allocator.free(blocks[i], on);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(allocated(), 0);
  allocator.empty_cache();
  EXPECT_EQ(reserved(), 0);
}

TEST(FormatBytes, MatchesPyTorch) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1024), "1024 bytes");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(20 * kMiB), "20.00 MiB");
  EXPECT_EQ(format_bytes(size_t{8} << 30), "8.00 GiB");
}

}  // namespace
}  // namespace hearth
