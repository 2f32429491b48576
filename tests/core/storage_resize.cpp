// resize_storage_ frees the memory, allocates it again, and keeps the bytes that fit.
#include "hearth/storage_resize.h"

#include <gtest/gtest.h>

#include "hearth/hearth.h"
#include "hearth/memory_stats.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(ResizeStorage, FreesAndReallocatesTheMemory) {
  const Tensor x = arange(12, kFloat).view({3, 4}), part = x.t()[1];
  const int64_t before = memory_stats(kCPU).allocated_bytes.current;
  resize_storage_(x.storage(), 0);
  EXPECT_LT(memory_stats(kCPU).allocated_bytes.current, before);
  EXPECT_EQ(x.sizes(), IntArrayRef({3, 4}));
  EXPECT_THROW(x.sum(), Error);
  EXPECT_THROW(part.fill_(1), Error);
  resize_storage_(x.storage(), 12 * sizeof(float));
  x.copy_(arange(12, kFloat).view({3, 4}) * 2);
  EXPECT_TRUE(equal(part, full({3}, 2.0) + arange(3, kFloat) * 8));
}

TEST(Storage, AnEmptyTensorsDeleterRuns) {
  int calls = 0;
  {
    const Tensor x = from_blob(nullptr, {0}, [&](void*) { ++calls; });
  }
  EXPECT_EQ(calls, 1);
}

TEST(ResizeStorage, KeepsTheBytesThatFit) {
  const Tensor x = arange(6, kFloat);
  const Tensor first = x.narrow(0, 0, 3);
  resize_storage_(x.storage(), 3 * sizeof(float));
  EXPECT_TRUE(equal(first, arange(3, kFloat)));
  resize_storage_(x.storage(), 6 * sizeof(float));
  EXPECT_TRUE(equal(x.narrow(0, 0, 3), arange(3, kFloat)));
}

TEST(ResizeStorage, RefusesExternalMemory) {
  float values[4] = {1, 2, 3, 4};
  const Tensor x = from_blob(values, {4});
  EXPECT_THROW(resize_storage_(x.storage(), 0), Error);
  EXPECT_THROW(resize_storage_(Storage(), 8), Error);
  EXPECT_TRUE(equal(x, arange(1, 5, kFloat)));
}

}  // namespace
}  // namespace hearth::testing
