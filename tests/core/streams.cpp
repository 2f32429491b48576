#include "core/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "core/backends.h"
#include "core/device_context.h"
#include "core/pinned_allocator.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "hearth/tensor.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

using testing::error_of;
using testing::is_real_gpu;
using testing::last_gpu;

/// Tests that need a GPU, simulated or real. `last_` is the one with the highest index.
class CudaApi : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
    last_ = last_gpu();
    last_index_ = last_.index();
  }
  Device last_{DeviceType::CUDA, 0};
  int last_index_ = 0;
};

/// Tests that need two GPUs.
class TwoGpus : public CudaApi {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs, simulated or real";
    CudaApi::SetUp();
  }
};

TEST(Event, ExistsWithoutAGpu) {
  cuda::Event event;
  const cuda::Event moved = std::move(event);
  EXPECT_TRUE(moved.query());
  moved.synchronize();
}

TEST(CudaMissing, ErrorsStateTheReason) {
  if (cuda::is_available()) GTEST_SKIP() << "a GPU is available";
  EXPECT_EQ(cuda::device_count(), 0);
  EXPECT_NE(cuda::why_not(), "");
  EXPECT_EQ(error_of([] { cuda::synchronize(); }),
            "No CUDA GPUs are available: " + cuda::why_not());
  EXPECT_THROW(backend_of(Device("cuda:0")), Error);
  EXPECT_THROW(pinned_allocate(1), Error);
  EXPECT_EQ(cuda::memory_allocated(), 0U);
  cuda::empty_cache();
  EXPECT_FALSE(is_pinned(&kPluginSymbol));
}

TEST_F(CudaApi, ReportsDevices) {
  EXPECT_TRUE(cuda::is_available());
  EXPECT_EQ(cuda::why_not(), "");
  EXPECT_NE(cuda::get_device_name(last_index_), "");
  const auto [free_bytes, total_bytes] = cuda::mem_get_info(0);
  EXPECT_GT(free_bytes, 0U);
  EXPECT_EQ(total_bytes, cuda::get_device_properties(0).total_memory);
}

TEST_F(CudaApi, RejectsMissingDevices) {
  const int count = cuda::device_count();
  const std::string text = error_of([&] { cuda::set_device(count); });
  EXPECT_TRUE(text.starts_with("CUDA error: invalid device ordinal")) << text;
  EXPECT_THROW(cuda::synchronize(300), Error);
  EXPECT_THROW(cuda::set_device(Device("cpu")), Error);
  EXPECT_THROW(backend_of(Device("meta")), Error);
  EXPECT_EQ(cuda::current_device(), 0);
}

TEST_F(TwoGpus, GuardsRestoreDeviceAndStream) {
  const cuda::Stream before = cuda::current_stream(1);
  EXPECT_EQ(before, cuda::default_stream(1));
  {
    const cuda::Stream stream(Device("cuda:1"));
    const cuda::StreamGuard guard(stream);
    EXPECT_EQ(cuda::current_device(), 1);
    EXPECT_EQ(cuda::current_stream(), stream);
    EXPECT_EQ(current_stream(Device("cuda:0")), cuda::default_stream(0).handle());
    std::thread([] { EXPECT_EQ(cuda::current_stream(1), cuda::default_stream(1)); }).join();
    const cuda::DeviceGuard inner(0);
    EXPECT_EQ(cuda::current_device(), 0);
    const cuda::OptionalDeviceGuard none{std::optional<Device>()}, second{Device("cuda:1")};
    EXPECT_EQ(cuda::current_device(), 1);
  }
  EXPECT_EQ(cuda::current_device(), 0);
  EXPECT_EQ(cuda::current_stream(1), before);
}

TEST_F(CudaApi, StreamPoolHasThirtyTwoStreams) {
  const cuda::Stream first;
  EXPECT_EQ(first.device(), Device("cuda:0"));
  int equal = 0;
  for (int i = 0; i < 64; ++i) equal += cuda::Stream() == first;
  EXPECT_EQ(equal, 2);
}

TEST_F(CudaApi, EventsOrderStreams) {
  Backend& backend = backend_of(Device("cuda:0"));
  const cuda::Stream first, second;
  auto* const host = static_cast<int*>(pinned_allocate(8));
  host[0] = 42;
  void* const data = backend.allocate(0, 4096);
  backend.copy(data, host, 4, CopyKind::kHostToDevice, 0, first.handle());
  second.wait_stream(first);
  backend.copy(host + 1, data, 4, CopyKind::kDeviceToHost, 0, second.handle());
  second.synchronize();
  EXPECT_EQ(host[1], 42);
  EXPECT_TRUE(second.query());
  backend.free(0, data, 4096);
  pinned_free(host);
}

TEST_F(CudaApi, EventsMeasureTime) {
  cuda::Event start(true), end(true);
  EXPECT_TRUE(start.query()) << "never recorded";
  start.wait();
  start.synchronize();
  EXPECT_EQ(error_of([&] { start.elapsed_time(end); }),
            "Both events must be recorded before calculating elapsed time.");
  start.record();
  end.record();
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 0.0F);
  EXPECT_EQ(error_of([&] { start.elapsed_time(cuda::Event()); }),
            "Both events must be created with argument 'enable_timing=True': "
            "cuda::Event(/*enable_timing=*/true).");
  if (last_index_ == 1) {
    EXPECT_EQ(error_of([&] { start.record(cuda::default_stream(1)); }),
              "Event device 0 does not match recording stream's device 1.");
  }
  cuda::Event moved = std::move(start);
  EXPECT_TRUE(moved.query());
}

TEST_F(CudaApi, SynchronizeReportsFaults) {
  const cuda::Stream stream;
  FaultSlot* const slot = backend_of(Device("cuda:0")).fault_slot(0, stream.handle());
  const auto report = [&] { slot->report(Fault::kIndexOutOfRange, 7, 1, 3); };
  const std::string text = "index 7 is out of bounds for dimension 1 with size 3";
  report();
  EXPECT_EQ(error_of([&] { stream.synchronize(); }), text);
  report();
  EXPECT_EQ(error_of([&] { cuda::synchronize(); }), text);
  report();
  EXPECT_EQ(error_of([&] { stream.record_event().synchronize(); }), text);
  EXPECT_NO_THROW(cuda::synchronize());
}

TEST_F(CudaApi, PinnedMemoryWaitsForRecordedStreams) {
  Backend& backend = backend_of(Device("cuda:0"));
  const cuda::Stream stream;
  const auto before = pinned_memory_stats();
  auto* const block = static_cast<char*>(pinned_allocate(3 << 20));
  EXPECT_TRUE(is_pinned(block + 1000));
  int local = 0;
  EXPECT_FALSE(is_pinned(&local));
  void* const data = backend.allocate(0, 4 << 20);
  std::memset(block, 5, 3 << 20);
  backend.copy(data, block, 3 << 20, CopyKind::kHostToDevice, 0, stream.handle());
  pinned_record(block + 8, stream.device(), stream.handle());
  pinned_free(block);
  EXPECT_EQ(pinned_memory_stats().active_bytes.current - before.active_bytes.current, 4 << 20);
  EXPECT_FALSE(is_pinned(block));
  stream.synchronize();
  cuda::synchronize();
  void* const again = pinned_allocate(3 << 20);
  EXPECT_EQ(again, block);
  pinned_free(again);
  EXPECT_THROW(pinned_allocate(SIZE_MAX / 2), OutOfMemoryError);
  backend.free(0, data, 4 << 20);
  pinned_empty_cache();
  EXPECT_LE(pinned_memory_stats().reserved_bytes.current, before.reserved_bytes.current);
}

TEST_F(CudaApi, BackendAllocationsAreNotCounted) {
  const size_t before = cuda::memory_allocated(last_index_);
  const StreamHandle stream = current_stream(last_);
  void* const data = backend_of(last_).allocate(last_index_, 4096);
  EXPECT_EQ(cuda::memory_allocated(last_index_), before)
      << "only the caching allocator's blocks count";
  backend_of(last_).free(last_index_, data, 4096);
  EXPECT_EQ(cuda::memory_stats(last_index_).allocated_bytes.current, static_cast<int64_t>(before));
  EXPECT_NE(stream, nullptr);
}

/// Pages may be locked outside Hearth, for example by cudaHostRegister. A regression test: with
/// lazy streams (HEARTH_SIM_LAZY=1) the copy had not begun when the call returned.
TEST_F(CudaApi, BlockingCopyFromForeignPinnedMemoryWaits) {
  Backend& backend = backend_of(last_);
  constexpr int64_t kCount = 1 << 20;
  auto* const host = static_cast<float*>(backend.allocate_pinned(kCount * sizeof(float)));
  std::fill_n(host, kCount, 1.0F);
  const Tensor on_device = from_blob(host, {kCount}).to(last_);
  std::fill_n(host, kCount, 2.0F);
  EXPECT_EQ(on_device.sum().item<float>(), kCount);
  backend.free_pinned(host);
}

TEST_F(CudaApi, BlockingCopyCanBeReadOnAnyStream) {
  Tensor busy = ones({500, 500}, last_);
  for (int i = 0; i < 10; ++i) busy = busy.matmul(busy).div_(500);
  const Tensor on_device = full({1000}, 3.F).to(last_);
  const cuda::Stream side(last_);
  Tensor doubled;
  {
    const cuda::StreamGuard guard(side);
    doubled = on_device * 2;
  }
  side.synchronize();
  EXPECT_EQ(doubled.sum().item<float>(), 6000);
}

TEST_F(CudaApi, BackendDeterminesCudnnAvailability) {
  EXPECT_EQ(cuda::cudnn_is_available(), backend_of(last_).has_cudnn());
}

/// Users' own kernels need the CUDA stream; simulated GPUs have none.
TEST_F(CudaApi, StreamConvertsToCudaStream) {
  const cuda::Stream stream(last_);
  if (is_real_gpu(last_)) {
    EXPECT_NE(stream.stream(), nullptr);
    EXPECT_EQ(cuda::default_stream().stream(), nullptr) << "CUDA's legacy default stream";
    EXPECT_EQ(static_cast<CUstream_st*>(stream), stream.stream());
  } else {
    EXPECT_EQ(error_of([&] { stream.stream(); }), "There is no cudaStream_t: the GPU is simulated");
  }
}

TEST_F(CudaApi, NullHandleIsTheDefaultStream) {
  const cuda::Stream stream(last_, nullptr);
  EXPECT_EQ(stream, cuda::default_stream(last_index_));
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(error_of([] { cuda::Stream(Device("cpu"), nullptr); }),
            "Expected a cuda device, but got: cpu");
  EXPECT_NE(error_of([] { cuda::Stream(Device("cuda:9"), nullptr); }), "no error");
}

/// Without record_stream this fails with lazy streams (HEARTH_SIM_LAZY=1): `later` reuses the
/// memory before the copy has run.
TEST_F(CudaApi, MemoryWaitsForRecordedStreams) {
  const cuda::Stream side(Device("cuda:0"));
  Tensor tensor = full({1000}, 1, kCUDA);
  cuda::default_stream().synchronize();
  Tensor copy;
  {
    const cuda::StreamGuard guard(side);
    copy = tensor.add(0);
  }
  tensor.record_stream(side);
  tensor.reset();
  const Tensor later = full({1000}, 2, kCUDA);
  cuda::default_stream().synchronize();
  side.synchronize();
  EXPECT_EQ(copy.sum().item<float>(), 1000);
  EXPECT_EQ(later.sum().item<float>(), 2000);
}

TEST_F(TwoGpus, RecordStreamRejectsOtherDevices) {
  const cuda::Stream side(Device("cuda:1"));
  EXPECT_EQ(error_of([&] { ones({2}, Device("cuda:0")).record_stream(side); }),
            "record_stream: the tensor is on cuda:0, but the stream on cuda:1");
  EXPECT_NE(error_of([&] {
              ones({2}).record_stream(side);
            }).find("Could not run 'aten::record_stream' with arguments from the 'CPU' backend"),
            std::string::npos);
  EXPECT_NE(error_of([&] { Tensor().record_stream(side); }), "no error");
}

}  // namespace
}  // namespace hearth
