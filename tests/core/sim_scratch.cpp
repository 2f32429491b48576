// Scratch memory of simulated GPUs, and host accesses to their memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "core/backends.h"
#include "core/faults.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "hearth/operators.h"
#include "kernels/sim/access.h"
#include "kernels/sim/sim_backend.h"
#include "seam/gather.h"
#include "seam/range.h"
#include "tests/core/mebibytes.h"
#include "tests/support/sanitizers.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

using sim::SimBackend;

class SimScratch : public ::testing::Test {
 protected:
  size_t free_bytes() {
    size_t free = 0, total = 0;
    backend.memory_info(0, free, total);
    return free;
  }
  Ctx context() { return Ctx(backend, Device("cuda:0"), stream, backend.fault_slot(0, stream)); }
  void submit(std::function<void()> work) {
    static_cast<sim::Stream*>(stream)->submit(std::move(work));
  }

  SimBackend backend{sim::Config{1, 8 * kMiB, false}};
  StreamHandle stream = backend.default_stream(0);
};

TEST_F(SimScratch, CountsAsDeviceMemory) {
  const size_t before = free_bytes();
  {
    Ctx ctx = context();
    void* const data = ctx.scratch(3 * kMiB);
    std::memset(data, 1, 3 * kMiB);  // as launches do, from the host
    EXPECT_EQ(free_bytes(), before - 3 * kMiB);
    EXPECT_NE(ctx.scratch(kMiB), data);
  }
  backend.synchronize(0, stream);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(SimScratch, ThrowsWhenExhausted) {
  void* const held = backend.allocate(0, 6 * kMiB);
  {
    Ctx ctx = context();
    EXPECT_THROW(ctx.scratch(3 * kMiB), OutOfMemoryError);
    EXPECT_ERROR(
        ctx.scratch(3 * kMiB),
        "CUDA out of memory. Tried to allocate 3.00 MiB of scratch memory for a kernel. GPU 0 has "
        "a total capacity of 8.00 MiB of which 2.00 MiB is free.");
    EXPECT_THROW(ctx.scratch(SIZE_MAX / 2), OutOfMemoryError);
    backend.free(0, held, 6 * kMiB);
    EXPECT_NE(ctx.scratch(3 * kMiB), nullptr);
  }
  backend.synchronize(0, stream);  // frees the scratch memory of the launch
}

TEST_F(SimScratch, ErrorInKernelIsRethrownOnSynchronize) {
  void* const held = backend.allocate(0, 6 * kMiB);
  submit([this] {
    Ctx ctx = context();
    ctx.scratch(3 * kMiB);
  });
  // Later kernels would read missing results, so they do not run.
  auto* const indices = static_cast<int64_t*>(backend.kernel_address(0, held));
  indices[0] = 7;
  View index;
  index.data = indices;
  index.dtype = kLong;
  index.dim = 1;
  index.numel = index.sizes[0] = index.strides[0] = 1;
  View values = index;
  values.dtype = kFloat;
  values.data = indices + 8;
  GatherParams params;
  params.in = values;
  params.index = index;
  params.out = values;
  {
    Ctx ctx = context();
    run_kernel(ctx, params);
  }
  const EventHandle event = backend.create_event(0, false);
  backend.record(event, 0, stream);
  EXPECT_THROW(backend.synchronize(event), OutOfMemoryError);
  backend.synchronize(0, stream);
  check_fault(*backend.fault_slot(0, stream));
  {
    Ctx ctx = context();
    run_kernel(ctx, params);
  }
  backend.synchronize(0, stream);
  EXPECT_THROW(check_fault(*backend.fault_slot(0, stream)), IndexError);
  backend.destroy_event(event);
}

/// A backend without memory: allocate_scratch returns null unless has_scratch is true, and
/// free_scratch throws.
class BrokenBackend final : public Backend {
 public:
  const char* name() const override { return "Broken"; }
  const KernelTable& kernels() const override { return cpu_backend().kernels(); }
  int device_count() const override { return 1; }
  cuda::DeviceProperties properties(int) const override { return {}; }
  void* allocate(int, size_t) override { return nullptr; }
  void free(int, void*, size_t) override {}
  void memory_info(int, size_t& free_bytes, size_t& total_bytes) override {
    free_bytes = total_bytes = 0;
  }
  void* allocate_pinned(size_t) override { return nullptr; }
  void free_pinned(void*) override {}
  StreamHandle default_stream(int) override { return nullptr; }
  StreamHandle create_stream(int, int) override { return nullptr; }
  bool query(int, StreamHandle) override { return true; }
  void synchronize(int, StreamHandle) override {}
  void synchronize_device(int) override {}
  FaultSlot* fault_slot(int, StreamHandle) override { return nullptr; }
  EventHandle create_event(int, bool) override { return nullptr; }
  void destroy_event(EventHandle) override {}
  void record(EventHandle, int, StreamHandle) override {}
  void wait(int, StreamHandle, EventHandle) override {}
  bool query(EventHandle) override { return true; }
  void synchronize(EventHandle) override {}
  float elapsed_ms(EventHandle, EventHandle) override { return 0; }
  void copy(void*, const void*, size_t, CopyKind, int, StreamHandle) override {}
  void copy_peer(void*, int, const void*, int, size_t, StreamHandle) override {}
  void set_zero(void*, size_t, int, StreamHandle) override {}
  void* allocate_scratch(size_t, Ctx&) override { return has_scratch ? &has_scratch : nullptr; }
  void free_scratch(void*, size_t, Ctx&) override { throw Error("the device is lost"); }

  bool has_scratch = true;
};

TEST(CtxScratch, ThrowsInsteadOfReturningNull) {
  BrokenBackend backend;
  Ctx ctx(backend, Device("cuda:0"), nullptr, nullptr);
  EXPECT_EQ(ctx.scratch(0), nullptr);
  EXPECT_NE(ctx.scratch(1), nullptr);
  backend.has_scratch = false;
  EXPECT_THROW(ctx.scratch(1), OutOfMemoryError);
}

TEST(SimAccess, HostAccessIsExplainedOnStderr) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto touch = [] {
    sim::Memory memory(kMiB);
    sim::explain_access(memory.begin(), memory.total_bytes());
    *static_cast<volatile char*>(memory.allocate(100)) = 1;
  };
  // Sanitizers handle the signal themselves.
  EXPECT_DEATH(touch(),
               testing::kSanitized ? "" : "it touched the memory of a simulated GPU from the host");
  const auto fault_elsewhere = [] {
    sim::Memory memory(kMiB), other(kMiB);
    sim::explain_access(memory.begin(), memory.total_bytes());
    *static_cast<volatile char*>(other.allocate(100)) = 1;
  };
  EXPECT_DEATH(fault_elsewhere(), "");
}

TEST(SimAccess, HandlerIsInstalledByDefault) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers handle the signal themselves";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("HEARTH_SIM_GPUS", "1", /*overwrite=*/0);
  const auto touch = [] {
    const Tensor on_device = zeros({1}, kCUDA);
    *static_cast<volatile float*>(on_device.data_ptr()) = 1;
  };
  EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGSEGV), "Copy the tensor first");
}

TEST(SimAccess, KeepsTheProgramsOwnHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto touch = [] {
    std::signal(SIGSEGV, [](int) { _exit(7); });
    sim::Memory memory(kMiB);
    sim::explain_access(memory.begin(), memory.total_bytes());
    *static_cast<volatile char*>(memory.allocate(100)) = 1;
  };
  EXPECT_EXIT(touch(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace hearth
