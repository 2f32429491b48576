// LibTorch's names of streams, guards, and functions of devices and of the caching allocator.
// LibTorch's own headers for these need a CUDA toolkit, so with LibTorch this file is empty.
#if __has_include("hearth/cuda.h")
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/PeerToPeerAccess.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

namespace {

TEST(CudaGuards, HaveLibTorchNames) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto stream = c10::cuda::getStreamFromPool(false, 1);
  {
    const c10::cuda::CUDAGuard device(1);
    EXPECT_EQ(c10::cuda::current_device(), 1);
    const at::cuda::CUDAStreamGuard current(stream);
    EXPECT_EQ(c10::cuda::getCurrentCUDAStream(), stream);
    torch::ones({2}, torch::kCUDA).record_stream(c10::cuda::getDefaultCUDAStream());
  }
  const c10::DeviceGuard device(torch::Device("cuda:1"));
  EXPECT_EQ(c10::cuda::current_device(), 1);
}

TEST(CudaEvents, HaveLibTorchNames) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  at::cuda::CUDAEvent start(0), end(0);
  EXPECT_FALSE(start.isCreated());
  EXPECT_TRUE(start.query());
  start.record();
  const auto x = torch::ones({16}, torch::kCUDA) * 2;
  const auto stream = c10::cuda::getStreamFromPool();
  end.record(c10::cuda::getCurrentCUDAStream());
  end.block(stream);
  end.synchronize();
  EXPECT_TRUE(end.isCreated() && end.query());
  EXPECT_GE(start.elapsed_time(end), 0);
}

TEST(CudaFunctions, HaveLibTorchNames) {
  EXPECT_EQ(at::cuda::getNumGPUs(), torch::cuda::device_count());
  if (!torch::cuda::is_available()) {
    EXPECT_THROW(c10::cuda::device_count_ensure_non_zero(), c10::Error);
    GTEST_SKIP() << "needs a GPU";
  }
  EXPECT_EQ(c10::cuda::device_count_ensure_non_zero(), torch::cuda::device_count());
  const c10::DeviceIndex last = c10::cuda::device_count() - 1;
  EXPECT_EQ(c10::cuda::ExchangeDevice(last), 0);
  EXPECT_EQ(c10::cuda::ExchangeDevice(0), last);
  {
    const auto large = torch::ones({1 << 20}, torch::kCUDA);
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    EXPECT_GE(stats.allocated_bytes[all].current, 4 << 20);
    EXPECT_GE(stats.reserved_bytes[all].peak, stats.allocated_bytes[all].current);
  }
  c10::cuda::device_synchronize();
  c10::cuda::CUDACachingAllocator::emptyCache();
  c10::cuda::CUDACachingAllocator::resetPeakStats(0);
  EXPECT_EQ(hearth::cuda::max_memory_reserved(0), hearth::cuda::memory_reserved(0));
  c10::cuda::CUDACachingAllocator::setMemoryFraction(0.5, 0);
  EXPECT_DOUBLE_EQ(c10::cuda::CUDACachingAllocator::getMemoryFraction(0), 0.5);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(1, 0);
}

TEST(CudaGuards, ChangeAndRestoreTheDevice) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const torch::Device first("cuda:0"), second("cuda:1");
  {
    at::cuda::CUDAGuard guard(second);
    EXPECT_EQ(guard.original_device(), first);
    EXPECT_EQ(guard.current_device(), second);
    guard.set_index(0);
    EXPECT_EQ(c10::cuda::current_device(), 0);
    guard.set_device(second);
    const at::cuda::CUDAGuard same(torch::Device("cuda"));
    EXPECT_EQ(same.current_device(), second);
    EXPECT_THROW(at::cuda::CUDAGuard(torch::Device("cpu")), c10::Error);
  }
  EXPECT_EQ(c10::cuda::current_device(), 0);
  at::cuda::OptionalCUDAGuard optional(at::device_of(torch::Tensor()));
  EXPECT_EQ(c10::cuda::current_device(), 0);
  optional.set_index(1);
  EXPECT_EQ(*optional.original_device(), first);
  EXPECT_EQ(c10::cuda::current_device(), 1);
  optional.reset();
  EXPECT_EQ(c10::cuda::current_device(), 0);
  const at::cuda::OptionalCUDAGuard indexed(std::optional<c10::DeviceIndex>(1));
  EXPECT_EQ(c10::cuda::current_device(), 1);
}

TEST(CudaGuards, ChangeAndRestoreStreams) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto first = c10::cuda::getStreamFromPool(), second = c10::cuda::getStreamFromPool(-1, 1);
  const auto before = at::cuda::getCurrentCUDAStream();
  {
    at::cuda::CUDAStreamGuard guard(second);
    EXPECT_EQ(guard.original_stream(), before);
    EXPECT_EQ(guard.current_stream(), second);
    EXPECT_EQ(c10::cuda::current_device(), 1);
    guard.reset_stream(first);
    EXPECT_EQ(c10::cuda::current_device(), 0);
    EXPECT_EQ(at::cuda::getCurrentCUDAStream(), first);
    EXPECT_EQ(at::cuda::getCurrentCUDAStream(1), at::cuda::getDefaultCUDAStream(1));
  }
  EXPECT_EQ(at::cuda::getCurrentCUDAStream(), before);
  {
    const std::vector<at::cuda::CUDAStream> streams{first, second};
    const at::cuda::CUDAMultiStreamGuard guard(streams);
    EXPECT_EQ(at::cuda::getCurrentCUDAStream(0), first);
    EXPECT_EQ(at::cuda::getCurrentCUDAStream(1), second);
    EXPECT_EQ(c10::cuda::current_device(), 0);
  }
  EXPECT_EQ(at::cuda::getCurrentCUDAStream(1), at::cuda::getDefaultCUDAStream(1));
  at::cuda::OptionalCUDAStreamGuard optional;
  EXPECT_FALSE(optional.current_stream().has_value());
  optional.reset_stream(first);
  EXPECT_EQ(*optional.current_stream(), first);
}

TEST(CudaStreams, ConvertToStreamsOfAnyDevice) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  const c10::Stream initial = at::cuda::getDefaultCUDAStream();
  EXPECT_EQ(initial.id(), 0);
  EXPECT_EQ(initial, c10::Stream(c10::Stream::DEFAULT, torch::Device("cuda:0")));
  const at::cuda::CUDAStream stream = at::cuda::getStreamFromPool();
  EXPECT_NE(stream.id(), 0);
  const c10::Stream any = stream.unwrap();
  EXPECT_EQ(c10::cuda::CUDAStream(any), stream);
  const auto parts = stream.pack3();
  EXPECT_EQ(at::cuda::CUDAStream::unpack3(parts.stream_id, parts.device_index, parts.device_type),
            stream);
  EXPECT_FALSE(any.is_capturing());
  const c10::StreamGuard guard(any);
  EXPECT_EQ(at::cuda::getCurrentCUDAStream(), stream);
  any.synchronize();
  EXPECT_TRUE(any.query());
}

TEST(CudaEvents, HaveLibTorchMembers) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  at::cuda::CUDAEvent start(cudaEventDefault), end(cudaEventDefault), untimed;
  EXPECT_FALSE(start.isCreated());
  EXPECT_FALSE(start.device().has_value());
  EXPECT_EQ(start.device_index(), -1);
  EXPECT_TRUE(start.query());
  EXPECT_THROW(start.elapsed_time(end), c10::ValueError) << "not recorded";
  start.record();
  EXPECT_TRUE(start.isCreated());
  EXPECT_EQ(start.device(), torch::Device("cuda:0"));
  EXPECT_THROW(start.record(at::cuda::getDefaultCUDAStream(1)), c10::Error);
  const auto stream = at::cuda::getStreamFromPool();
  start.block(stream);
  end.recordOnce(stream);
  end.recordOnce(at::cuda::getDefaultCUDAStream(1));  // ignored
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 0);
  untimed.record();
  EXPECT_THROW(start.elapsed_time(untimed), c10::ValueError);
  at::cuda::CUDAEvent moved = std::move(start);
  EXPECT_TRUE(moved.isCreated());
  EXPECT_FALSE(start.isCreated());
  start = std::move(moved);
  EXPECT_TRUE(start.isCreated());
  EXPECT_GE(start.elapsed_time(end), 0);
}

TEST(CudaEvents, OfAnyDevice) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  c10::Event start(torch::kCUDA, c10::EventFlag::BACKEND_DEFAULT),
      end(torch::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  const c10::Stream stream = at::cuda::getCurrentCUDAStream();
  start.record(stream);
  EXPECT_TRUE(start.was_marked_for_recording());
  EXPECT_EQ(start.device(), torch::Device("cuda:0"));
  end.recordOnce(stream);
  stream.wait(end);
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GE(start.elapsedTime(end), 0);
}

TEST(CudaDevices, HaveProperties) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto* const properties = at::cuda::getCurrentDeviceProperties();
  EXPECT_EQ(properties, at::cuda::getDeviceProperties(0));
  EXPECT_EQ(properties->name, hearth::cuda::get_device_name(0));
  EXPECT_GE(properties->multiProcessorCount, 1);
  EXPECT_GE(properties->maxThreadsPerBlock, 1024);
  EXPECT_GE(properties->sharedMemPerBlock, 48U << 10);
  EXPECT_EQ(properties->maxGridSize[1], 65535);
  EXPECT_EQ(at::cuda::warp_size(), 32);
  EXPECT_FALSE(at::cuda::canDeviceAccessPeer(0, 0));
  EXPECT_EQ(at::cuda::canDeviceAccessPeer(0, 1), at::cuda::get_p2p_access(0, 1));
  EXPECT_THROW(at::cuda::canDeviceAccessPeer(0, 100), c10::Error);
}

TEST(CudaAllocator, HasLibTorchNames) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  const auto bytes = [] { return allocator::getDeviceStats(0).allocated_bytes[0].current; };
  const int64_t before = bytes();
  void* const memory = allocator::raw_alloc(1000);
  EXPECT_EQ(bytes() - before, 1024);
  allocator::recordStream(at::DataPtr(memory, torch::Device("cuda:0")),
                          at::cuda::getStreamFromPool());
  allocator::raw_delete(memory);
  allocator::raw_delete(nullptr);
  EXPECT_EQ(bytes(), before);
}

TEST(CudaGenerators, HaveLibTorchNames) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto& initial = at::cuda::detail::getDefaultCUDAGenerator();
  EXPECT_EQ(initial.device(), torch::Device("cuda:0"));
  auto generator = at::cuda::detail::createCUDAGenerator(1);
  EXPECT_EQ(generator.device(), torch::Device("cuda:1"));
  EXPECT_FALSE(generator == at::cuda::detail::getDefaultCUDAGenerator(1));
}

TEST(CudaGraphs, HaveLibTorchNames) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  auto x = torch::ones({3}, torch::kCUDA);
  at::cuda::CUDAGraph graph;
  {
    const auto stream = at::cuda::getStreamFromPool();
    stream.wait_stream(at::cuda::getCurrentCUDAStream());
    const at::cuda::CUDAStreamGuard guard(stream);
    graph.capture_begin(at::cuda::graph_pool_handle());
    EXPECT_TRUE(stream.is_capturing());
    x.mul_(2);
    graph.capture_end();
  }
  at::cuda::device_synchronize();
  for (int i = 0; i < 3; ++i) graph.replay();
  EXPECT_EQ(x.sum().item<float>(), 24);
  EXPECT_NE(graph.pool(), at::MempoolId_t());
  graph.reset();
  EXPECT_THROW(graph.replay(), c10::Error);
}

}  // namespace
#endif
