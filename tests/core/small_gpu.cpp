// Devices with less memory than the allocator's usual segment size.
#include <gtest/gtest.h>

#include "core/device_allocator.h"
#include "hearth/error.h"
#include "kernels/sim/sim_backend.h"
#include "tests/core/mebibytes.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

class SmallGpu : public ::testing::Test {
 protected:
  void* take(size_t bytes) { return allocator.allocate(bytes, stream); }

  sim::SimBackend backend{{1, 16 * kMiB, false}};
  StreamHandle stream = backend.default_stream(0);
  DeviceAllocator allocator{backend, 0};
};

TEST_F(SmallGpu, AllocatesUpToItsCapacity) {
  void* const first = take(5 * kMiB);  // larger devices allocate a segment of 20 MiB for it
  void* const second = take(5 * kMiB);
  void* const third = take(6 * kMiB);
  EXPECT_EQ(allocator.stats().allocated_bytes.current, int64_t(16 * kMiB));
  for (void* block : {first, second, third}) allocator.free(block, stream);
  allocator.empty_cache();
  allocator.free(take(16 * kMiB), stream);
}

TEST_F(SmallGpu, FullMemoryIsNotReportedAsFragmented) {
  void* const most = take(12 * kMiB);
  EXPECT_ERROR(take(5 * kMiB), "CUDA out of memory. Tried to allocate 5.00 MiB.");
  try {
    take(5 * kMiB);
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(std::string(error.what()).find("fragmented"), std::string::npos) << error.what();
  }
  EXPECT_NE(take(4 * kMiB), nullptr);
  EXPECT_NE(most, nullptr);
}

}  // namespace
}  // namespace hearth
