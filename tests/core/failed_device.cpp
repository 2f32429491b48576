// Every call to a failed GPU throws; destructors must not terminate the process.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/device_allocator.h"
#include "core/event_queue.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "kernels/sim/sim_backend.h"
#include "seam/ctx.h"
#include "tests/support/sanitizers.h"

namespace hearth {
namespace {

/// A simulated GPU that fails on demand.
class FailingBackend final : public Backend {
 public:
  bool has_failed = false;
  bool scratch_is_exhausted = false;

  const char* name() const override { return "CUDA"; }
  const KernelTable& kernels() const override { return working().kernels(); }
  int device_count() const override { return 1; }
  cuda::DeviceProperties properties(int device) const override {
    return working().properties(device);
  }
  void* allocate(int device, size_t bytes) override { return working().allocate(device, bytes); }
  void free(int device, void* data, size_t bytes) override { working().free(device, data, bytes); }
  void memory_info(int device, size_t& free_bytes, size_t& total) override {
    working().memory_info(device, free_bytes, total);
  }
  void* allocate_pinned(size_t bytes) override { return working().allocate_pinned(bytes); }
  void free_pinned(void* data) override { working().free_pinned(data); }
  StreamHandle default_stream(int device) override { return working().default_stream(device); }
  StreamHandle create_stream(int device, int priority) override {
    return working().create_stream(device, priority);
  }
  bool query(int device, StreamHandle stream) override { return working().query(device, stream); }
  void synchronize(int device, StreamHandle s) override { working().synchronize(device, s); }
  void synchronize_device(int device) override { working().synchronize_device(device); }
  FaultSlot* fault_slot(int d, StreamHandle stream) override {
    return working().fault_slot(d, stream);
  }
  EventHandle create_event(int device, bool enable_timing) override {
    return working().create_event(device, enable_timing);
  }
  void destroy_event(EventHandle event) override { working().destroy_event(event); }
  void record(EventHandle event, int device, StreamHandle stream) override {
    working().record(event, device, stream);
  }
  void wait(int device, StreamHandle s, EventHandle event) override {
    working().wait(device, s, event);
  }
  bool query(EventHandle event) override { return working().query(event); }
  void synchronize(EventHandle event) override { working().synchronize(event); }
  float elapsed_ms(EventHandle a, EventHandle b) override { return working().elapsed_ms(a, b); }
  void copy(void* to, const void* from, size_t bytes, CopyKind kind, int device,
            StreamHandle stream) override {
    working().copy(to, from, bytes, kind, device, stream);
  }
  void copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                 StreamHandle stream) override {
    working().copy_peer(to, to_device, from, from_device, bytes, stream);
  }
  void set_zero(void* data, size_t bytes, int device, StreamHandle stream) override {
    working().set_zero(data, bytes, device, stream);
  }
  void* allocate_scratch(size_t bytes, Ctx& ctx) override {
    return scratch_is_exhausted ? nullptr : working().allocate_scratch(bytes, ctx);
  }
  void free_scratch(void* data, size_t bytes, Ctx& ctx) override {
    working().free_scratch(data, bytes, ctx);
  }

 private:
  /// The simulated GPU, unless it has failed.
  sim::SimBackend& working() const {
    if (has_failed) throw Error("CUDA error: an illegal memory access was encountered");
    return sim_;
  }
  mutable sim::SimBackend sim_{{1, size_t{100} << 20, false}};
};

const Device kGpu(DeviceType::CUDA, 0);

TEST(FailedDevice, CtxDestructorDoesNotThrow) {
  if (testing::kAddressSanitizer) GTEST_SKIP() << "a failed device keeps its memory";
  FailingBackend backend;
  const StreamHandle stream = backend.default_stream(0);
  {
    Ctx ctx(backend, kGpu, stream, backend.fault_slot(0, stream));
    EXPECT_NE(ctx.scratch(100), nullptr);
    EXPECT_NE(ctx.scratch(200), nullptr);
    backend.has_failed = true;
    EXPECT_THROW(ctx.scratch(300), Error);
  }
  backend.has_failed = false;
}

TEST(FailedDevice, ExhaustedScratchMemoryThrows) {
  FailingBackend backend;
  const StreamHandle stream = backend.default_stream(0);
  Ctx ctx(backend, kGpu, stream, backend.fault_slot(0, stream));
  backend.scratch_is_exhausted = true;
  EXPECT_THROW(ctx.scratch(100), OutOfMemoryError);
  EXPECT_EQ(ctx.scratch(0), nullptr);
}

/// The smallest block that an EventQueue accepts.
struct Block {
  int pending_events = 0;
};

TEST(FailedDevice, EventQueueDestructorDoesNotThrow) {
  if (testing::kAddressSanitizer) GTEST_SKIP() << "a failed device keeps its events";
  FailingBackend backend;
  const StreamHandle stream = backend.default_stream(0);
  {
    EventQueue<Block> queue(backend);
    Block block;
    int ready = 0;
    queue.add(&block, 0, stream);
    queue.drain([&](Block*) { ++ready; });  // leaves a spare event
    EXPECT_EQ(ready, 1);
    backend.has_failed = true;
  }
  backend.has_failed = false;
}

TEST(FailedDevice, AllocatorDestructorDoesNotThrow) {
  if (testing::kAddressSanitizer) GTEST_SKIP() << "a failed device keeps its events";
  FailingBackend backend;
  const StreamHandle first = backend.default_stream(0), second = backend.create_stream(0, 0);
  {
    DeviceAllocator allocator(backend, 0);
    void* const data = allocator.allocate(1000, first);
    void* const never_freed = allocator.allocate(1000, first);
    EXPECT_NE(never_freed, nullptr);
    allocator.record_stream(data, second);
    allocator.free(data, first);
    backend.has_failed = true;
  }
  backend.has_failed = false;
}

}  // namespace
}  // namespace hearth
