#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "core/backends.h"
#include "core/cpu_allocator.h"
#include "hearth/cuda.h"
#include "seam/cpu_build.h"
#include "seam/recurrence_net.h"

namespace hearth {

namespace cpu {
// Weak, so that a kernel missing from a build is a null entry and not a link error.
#define HEARTH_DECLARE_CPU_KERNEL(Name) [[gnu::weak]] void run(const Name##Params&, Ctx&);
HEARTH_KERNELS(HEARTH_DECLARE_CPU_KERNEL)
#undef HEARTH_DECLARE_CPU_KERNEL
[[gnu::weak]] std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape&, Ctx&);
}  // namespace cpu

namespace {

template <class P>
KernelFn thunk_or_null() {
  void (*const kernel)(const P&, Ctx&) = &cpu::run;
  if (!kernel) return nullptr;
  return [](const void* params, Ctx& ctx) { cpu::run(*static_cast<const P*>(params), ctx); };
}

KernelTable cpu_kernels() {
  KernelTable table;
#define HEARTH_FILL_CPU_KERNEL(Name) \
  table.kernels[static_cast<int>(KernelId::Name)] = thunk_or_null<Name##Params>();
  HEARTH_KERNELS(HEARTH_FILL_CPU_KERNEL)
#undef HEARTH_FILL_CPU_KERNEL
  return table;
}

using Clock = std::chrono::steady_clock;

/// The CPU has no streams: all work is done when a call returns, and an event is a point in time.
class CpuBackend final : public Backend {
 public:
  const char* name() const override { return "CPU"; }
  const KernelTable& kernels() const override { return kernels_; }
  int device_count() const override { return 1; }

  cuda::DeviceProperties properties(int) const override {
    cuda::DeviceProperties result;
    result.name = "CPU";
    result.total_memory = physical_bytes(_SC_PHYS_PAGES);
    result.multi_processor_count = static_cast<int>(std::thread::hardware_concurrency());
    return result;
  }

  const char* instruction_set() const override { return cpu::instruction_set(); }
  std::vector<std::pair<std::string, std::string>> libraries() const override {
    return cpu::libraries();
  }

  std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) override {
    std::optional<int64_t> (*const plan)(const RecurrenceNetShape&, Ctx&) =
        &cpu::plan_recurrence_net;
    return plan ? plan(shape, ctx) : std::nullopt;
  }

  void* allocate(int, size_t bytes) override { return cpu_allocate(bytes); }
  void free(int, void* data, size_t bytes) override { cpu_free(data, bytes); }
  void memory_info(int, size_t& free_bytes, size_t& total_bytes) override {
    free_bytes = physical_bytes(_SC_AVPHYS_PAGES);
    total_bytes = physical_bytes(_SC_PHYS_PAGES);
  }
  void* allocate_pinned(size_t) override { return nullptr; }
  void free_pinned(void*) override {}

  StreamHandle default_stream(int) override { return nullptr; }
  StreamHandle create_stream(int, int) override { return nullptr; }
  bool query(int, StreamHandle) override { return true; }
  void synchronize(int, StreamHandle) override {}
  void synchronize_device(int) override {}
  FaultSlot* fault_slot(int, StreamHandle) override {
    thread_local FaultSlot slot;
    return &slot;
  }

  EventHandle create_event(int, bool) override { return new Clock::time_point(); }
  void destroy_event(EventHandle event) override { delete time_of(event); }
  void record(EventHandle event, int, StreamHandle) override { *time_of(event) = Clock::now(); }
  void wait(int, StreamHandle, EventHandle) override {}
  bool query(EventHandle) override { return true; }
  void synchronize(EventHandle) override {}
  float elapsed_ms(EventHandle start, EventHandle end) override {
    return std::chrono::duration<float, std::milli>(*time_of(end) - *time_of(start)).count();
  }

  void copy(void* to, const void* from, size_t bytes, CopyKind, int, StreamHandle) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void copy_peer(void* to, int, const void* from, int, size_t bytes, StreamHandle) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void set_zero(void* data, size_t bytes, int, StreamHandle) override {
    if (bytes > 0) std::memset(data, 0, bytes);
  }

  void* allocate_scratch(size_t bytes, Ctx&) override {
    return cpu_allocate(bytes, {MemoryTag::Workspace});
  }
  void free_scratch(void* data, size_t bytes, Ctx&) override {
    cpu_free(data, bytes, {MemoryTag::Workspace});
  }

 private:
  static Clock::time_point* time_of(EventHandle event) {
    return static_cast<Clock::time_point*>(event);
  }
  static size_t physical_bytes(int page_count_name) {
    return static_cast<size_t>(sysconf(page_count_name)) *
           static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }

  KernelTable kernels_ = cpu_kernels();
};

}  // namespace

Backend& cpu_backend() {
  static Backend& backend = *new CpuBackend;  // outlives every static object that owns a tensor
  return backend;
}

}  // namespace hearth
