#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/faults.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "kernels/sim/sim_backend.h"
#include "seam/gather.h"
#include "seam/range.h"
#include "tests/core/mebibytes.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

using hearth::testing::error_of;
using sim::SimBackend;
using std::chrono::milliseconds;

sim::Config config(bool lazy = false, size_t memory = 64 * kMiB) { return {2, memory, lazy}; }

sim::Stream& stream_of(StreamHandle handle) { return *static_cast<sim::Stream*>(handle); }

/// Blocks a stream until the gate is opened.
class Gate {
 public:
  explicit Gate(StreamHandle stream) {
    stream_of(stream).submit([open = open_.get_future().share()] { open.wait(); });
  }
  void open() { open_.set_value(); }

 private:
  std::promise<void> open_;
};

/// A simulated backend with one block of pinned memory and one of device memory.
class SimTest : public ::testing::Test {
 protected:
  explicit SimTest(bool lazy = false) : backend(config(lazy)) {
    pinned = static_cast<unsigned char*>(backend.allocate_pinned(4096));
    std::memset(pinned, 0, 4096);
    data = backend.allocate(0, 4096);
    stream = backend.default_stream(0);
  }
  ~SimTest() override { backend.free_pinned(pinned); }

  void to_device(const void* from, size_t bytes) {
    backend.copy(data, from, bytes, CopyKind::kHostToDevice, 0, stream);
  }
  void to_host(void* to, size_t bytes) {
    backend.copy(to, data, bytes, CopyKind::kDeviceToHost, 0, stream);
  }

  SimBackend backend;
  unsigned char* pinned;
  void* data;
  StreamHandle stream;
};

class LazySimTest : public SimTest {
 protected:
  LazySimTest() : SimTest(true) {}
};

TEST_F(SimTest, WorkIsAsynchronous) {
  const unsigned char seven = 7;
  Gate gate(stream);
  to_device(&seven, 1);
  to_host(pinned, 1);
  EXPECT_FALSE(backend.query(0, stream));
  EXPECT_EQ(pinned[0], 0);
  gate.open();
  backend.synchronize(0, stream);
  EXPECT_TRUE(backend.query(0, stream));
  EXPECT_EQ(pinned[0], 7);
}

TEST_F(SimTest, PageableSourceIsReadBeforeCopyReturns) {
  std::vector<int> host(1000, 3);
  Gate gate(stream);
  to_device(host.data(), 4000);
  std::ranges::fill(host, 4);
  gate.open();
  std::vector<int> back(1000);
  to_host(back.data(), 4000);
  EXPECT_EQ(back, std::vector<int>(1000, 3));
}

TEST_F(SimTest, PinnedSourceIsReadInStreamOrder) {
  Gate gate(stream);
  to_device(pinned, 1);
  pinned[0] = 9;
  gate.open();
  unsigned char back = 0;
  to_host(&back, 1);
  EXPECT_EQ(back, 9);
}

TEST_F(LazySimTest, RunsNothingUntilSynchronized) {
  const unsigned char seven = 7;
  to_device(&seven, 1);
  to_host(pinned, 1);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(pinned[0], 0);
  backend.synchronize(0, stream);
  EXPECT_EQ(pinned[0], 7);
}

TEST_F(LazySimTest, SynchronizingAnEventRunsEarlierWorkOnly) {
  std::atomic<int> ran = 0;
  const StreamHandle other = backend.create_stream(0, 0);
  stream_of(stream).submit([&] { ran += 1; });
  const EventHandle event = backend.create_event(0, false);
  backend.record(event, 0, stream);
  stream_of(stream).submit([&] { ran += 10; });
  backend.wait(0, other, event);
  stream_of(other).submit([&] { ran += 100; });
  stream_of(other).submit([&] { ran += 1000; });
  backend.synchronize(event);
  EXPECT_EQ(ran, 1);
  backend.synchronize(0, other);
  EXPECT_EQ(ran, 1101) << "the work after the event on the first stream must not have run";
  backend.synchronize_device(0);
  EXPECT_EQ(ran, 1111);
  backend.destroy_event(event);
}

TEST_F(LazySimTest, QueryMakesProgress) {
  stream_of(stream).submit([] {});
  while (!backend.query(0, stream)) std::this_thread::yield();
}

TEST_F(LazySimTest, DestructorDropsPendingWork) {
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> observer = held;
  {
    SimBackend other(config(true));
    stream_of(other.default_stream(0)).submit([kept = std::move(held)] { ADD_FAILURE() << *kept; });
    EXPECT_FALSE(observer.expired());
  }
  EXPECT_TRUE(observer.expired());
}

TEST_F(SimTest, StopReleasesWaitingThreads) {
  const StreamHandle other = backend.create_stream(0, 0);
  Gate gate(stream);
  const EventHandle event = backend.create_event(0, false);
  backend.record(event, 0, stream);
  backend.wait(0, other, event);
  std::thread waiter([&] { error_of([&] { backend.synchronize(0, other); }); });
  std::thread opener([&] {
    std::this_thread::sleep_for(milliseconds(5));
    gate.open();
  });
  backend.stop();
  waiter.join();
  opener.join();
  backend.destroy_event(event);
}

TEST_F(SimTest, StoppedDeviceThrows) {
  backend.synchronize(0, stream);
  const EventHandle event = backend.create_event(0, false);
  backend.stop();
  backend.synchronize(0, stream);  // nothing to wait for
  const std::string reason = "the process is ending";
  int host = 0;
  EXPECT_ERROR(backend.copy(&host, data, sizeof host, CopyKind::kDeviceToHost, 0, stream), reason);
  backend.copy(pinned, data, sizeof host, CopyKind::kDeviceToHost, 0, stream);
  EXPECT_ERROR(backend.synchronize(0, stream), reason);
  EXPECT_ERROR(backend.synchronize_device(0), reason);
  backend.record(event, 0, stream);
  EXPECT_ERROR(backend.synchronize(event), reason);
  backend.destroy_event(event);
}

TEST_F(SimTest, EventsOrderStreamsAndMeasureTime) {
  const StreamHandle other = backend.create_stream(1, 0);
  const EventHandle start = backend.create_event(0, true), end = backend.create_event(0, true);
  int value = 0;  // not atomic: the order of the streams must make it safe
  Gate gate(stream);
  backend.record(start, 0, stream);
  stream_of(stream).submit([&] {
    std::this_thread::sleep_for(milliseconds(10));
    value = 1;
  });
  backend.record(end, 0, stream);
  backend.wait(1, other, end);
  stream_of(other).submit([&] { value *= 5; });
  EXPECT_FALSE(backend.query(end));
  gate.open();
  backend.synchronize(1, other);
  EXPECT_EQ(value, 5);
  EXPECT_TRUE(backend.query(end));
  EXPECT_GE(backend.elapsed_ms(start, end), 9.9F);
  backend.destroy_event(start);
  backend.destroy_event(end);
}

TEST_F(SimTest, PeerCopiesMoveDataBetweenDevices) {
  const int host[] = {1, 2, 3};
  to_device(host, sizeof host);
  void* const peer_data = backend.allocate(1, 4096);
  backend.copy_peer(peer_data, 1, data, 0, sizeof host, stream);
  backend.synchronize(0, stream);
  int back[3] = {};
  backend.copy(back, peer_data, sizeof back, CopyKind::kDeviceToHost, 1, backend.default_stream(1));
  EXPECT_TRUE(std::ranges::equal(host, back));
  backend.set_zero(peer_data, 8, 1, backend.default_stream(1));
  backend.copy(back, peer_data, sizeof back, CopyKind::kDeviceToHost, 1, backend.default_stream(1));
  EXPECT_TRUE(std::ranges::equal(std::vector{0, 0, 3}, back));
}

View view_of(void* data, ScalarType dtype, int64_t count) {
  View view;
  view.data = data;
  view.dtype = dtype;
  view.dim = 1;
  view.numel = view.sizes[0] = count;
  view.strides[0] = 1;
  return view;
}

TEST_F(SimTest, KernelsRunAsynchronouslyWithCopiedParameters) {
  Gate gate(stream);
  {
    Ctx ctx(backend, Device("cuda:0"), stream, backend.fault_slot(0, stream));
    RangeParams params;
    params.out = view_of(backend.kernel_address(0, data), kFloat, 4);
    params.start = 1;
    params.step = 0.5;
    run_kernel(ctx, params);
    params.start = 100;
  }
  gate.open();
  float back[4] = {};
  to_host(back, sizeof back);
  EXPECT_TRUE(std::ranges::equal(std::vector{1.0F, 1.5F, 2.0F, 2.5F}, back));
}

TEST_F(SimTest, FaultIsStoredInStreamSlot) {
  const int64_t index[] = {0, 7};
  to_device(index, sizeof index);
  auto* const address = static_cast<int64_t*>(backend.kernel_address(0, data));
  Ctx ctx(backend, Device("cuda:0"), stream, backend.fault_slot(0, stream));
  GatherParams params;
  params.in = view_of(address + 10, kFloat, 3);
  params.index = view_of(address, kLong, 2);
  params.out = view_of(address + 20, kFloat, 2);
  run_kernel(ctx, params);
  backend.synchronize(0, stream);
  try {
    check_fault(*ctx.faults());
    FAIL() << "no fault";
  } catch (const IndexError& error) {
    EXPECT_STREQ(error.what(), "index 7 is out of bounds for dimension 0 with size 3");
  }
  check_fault(*ctx.faults());
}

TEST_F(SimTest, ScratchMemoryOutlivesQueuedWork) {
  Gate gate(stream);
  std::atomic<int> sum = 0;
  {
    Ctx ctx(backend, Device("cuda:0"), stream, backend.fault_slot(0, stream));
    auto* const scratch = static_cast<unsigned char*>(ctx.scratch(100));
    std::memset(scratch, 1, 100);
    stream_of(stream).submit([scratch, &sum] {
      for (int i = 0; i < 100; ++i) sum += scratch[i];
    });
  }
  gate.open();
  backend.synchronize(0, stream);
  EXPECT_EQ(sum, 100);
}

TEST_F(SimTest, SynchronizeRethrowsExceptions) {
  stream_of(stream).submit([] { throw OutOfMemoryError("scratch"); });
  EXPECT_THROW(backend.synchronize(0, stream), OutOfMemoryError);
  EXPECT_NO_THROW(backend.synchronize(0, stream));
}

TEST_F(SimTest, MemoryIsLimitedAndReusable) {
  void* const first = backend.allocate(0, 30 * kMiB);
  void* const second = backend.allocate(0, 30 * kMiB);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(backend.allocate(0, 8 * kMiB), nullptr);
  EXPECT_NE(backend.allocate(1, 60 * kMiB), nullptr) << "each device has its own memory";
  size_t free_bytes = 0, total_bytes = 0;
  backend.memory_info(0, free_bytes, total_bytes);
  EXPECT_EQ(total_bytes, 64 * kMiB);
  EXPECT_EQ(free_bytes, 4 * kMiB - 4096);
  backend.free(0, first, 30 * kMiB);
  backend.free(0, second, 30 * kMiB);
  EXPECT_EQ(backend.allocate(0, 64 * kMiB - 4096), first) << "neighbouring free ranges are merged";
}

TEST_F(SimTest, FreeWaitsForTheDevice) {
  std::atomic<bool> done = false;
  stream_of(stream).submit([&] {
    std::this_thread::sleep_for(milliseconds(5));
    done = true;
  });
  backend.free(0, data, 4096);
  EXPECT_TRUE(done);
}

TEST_F(SimTest, DeviceMemoryIsInaccessibleFromTheHost) {
  auto* const alias = static_cast<volatile unsigned char*>(backend.kernel_address(0, data));
  *alias = 5;
  EXPECT_EQ(*alias, 5);
  EXPECT_EQ(backend.kernel_address(0, pinned), pinned);
  EXPECT_EQ(backend.kernel_address(0, nullptr), nullptr);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(*static_cast<volatile unsigned char*>(data) = 5, "");
}

TEST_F(SimTest, ThrowsInForkedChild) {
  backend.set_zero(data, 1, 0, stream);
  backend.synchronize(0, stream);
  const pid_t child = fork();
  if (child == 0) {
    try {
      backend.set_zero(data, 1, 0, stream);
    } catch (const Error&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SimTest, ForkedChildExitsWithHeldLocks) {
  std::atomic<bool> done = false;
  std::thread creator([&] {
    while (!done) backend.create_stream(0, 0);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      backend.stop();
      _exit(error_of([&] { backend.synchronize_device(0); }).find("forked") == std::string::npos);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  done = true;
  creator.join();
}

TEST_F(SimTest, ReportsItsProperties) {
  EXPECT_EQ(backend.properties(1).name, "Simulated GPU 1");
  EXPECT_EQ(backend.properties(1).total_memory, 64 * kMiB);
}

}  // namespace
}  // namespace hearth
