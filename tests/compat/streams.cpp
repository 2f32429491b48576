// Streams, events and guards of devices of any type, and the precision of matrix products. The
// expected results are LibTorch's.
#include <ATen/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>
#include <unordered_set>
#include <vector>

namespace {

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.msg();
  }
  return "no error";
}

const c10::Stream cpu_stream(c10::Stream::DEFAULT, torch::kCPU);

TEST(Streams, OfTheCpu) {
  EXPECT_EQ(cpu_stream.id(), 0);
  EXPECT_EQ(cpu_stream.device_type(), torch::kCPU);
  EXPECT_TRUE(cpu_stream.query());
  cpu_stream.synchronize();
  std::ostringstream text;
  text << cpu_stream;
  EXPECT_EQ(text.str(), "stream 0 on device cpu");
  const auto parts = cpu_stream.pack3();
  EXPECT_EQ(c10::Stream::unpack3(parts.stream_id, parts.device_index, parts.device_type),
            cpu_stream);
  EXPECT_EQ(std::unordered_set<c10::Stream>({cpu_stream, cpu_stream}).size(), 1U);
  EXPECT_NE(c10::Stream(c10::Stream::UNSAFE, torch::kCPU, 3), cpu_stream);
}

TEST(Streams, GuardsOfTheCpu) {
  c10::StreamGuard guard(cpu_stream);
  EXPECT_EQ(guard.original_stream(), cpu_stream);
  EXPECT_EQ(guard.current_stream(), cpu_stream);
  EXPECT_EQ(guard.original_device(), torch::Device("cpu"));
  guard.reset_stream(cpu_stream);
  c10::OptionalStreamGuard optional;
  EXPECT_FALSE(optional.original_stream().has_value());
  optional.reset_stream(cpu_stream);
  EXPECT_EQ(*optional.current_stream(), cpu_stream);
  optional.reset();
  EXPECT_FALSE(optional.current_stream().has_value());
  const std::vector<c10::Stream> streams(2, cpu_stream);
  const c10::MultiStreamGuard several(streams);
}

TEST(Events, DoNotExistOnTheCpu) {
  c10::Event event(torch::kCPU);
  EXPECT_TRUE(event.query());
  EXPECT_FALSE(event.was_marked_for_recording());
  EXPECT_EQ(event.device(), torch::Device("cpu"));
  EXPECT_EQ(event.flag(), c10::EventFlag::PYTORCH_DEFAULT);
  EXPECT_EQ(event.eventId(), nullptr);
  event.synchronize();
  event.block(cpu_stream);
  EXPECT_EQ(error_of([&] { event.record(cpu_stream); }), "cpu backend doesn't support events.");
  EXPECT_EQ(error_of([&] { event.elapsedTime(c10::Event(torch::kCPU)); }),
            "Both events must be created with argument 'enable_timing=True'.");
  c10::Event of_gpu(torch::kCUDA);
  EXPECT_EQ(error_of([&] { of_gpu.recordOnce(cpu_stream); }),
            "Event device type CUDA does not match recording stream's device type CPU.");
  EXPECT_EQ(error_of([&] { of_gpu.elapsedTime(event); }),
            "Event device type CUDA does not match other's device type CPU.");
}

TEST(DeviceGuards, OfTheCpu) {
  EXPECT_EQ(at::device_of(torch::ones({1})), torch::Device("cpu"));
  EXPECT_FALSE(at::device_of(torch::Tensor()).has_value());
  EXPECT_FALSE(at::device_of(std::optional<torch::Tensor>()).has_value());
  const c10::DeviceGuard guard(torch::Device("cpu"));
  EXPECT_EQ(guard.original_device(), torch::Device("cpu"));
  c10::OptionalDeviceGuard optional;
  EXPECT_FALSE(optional.current_device().has_value());
  optional.reset_device(torch::Device("cpu"));
  EXPECT_EQ(*optional.current_device(), torch::Device("cpu"));
}

TEST(MatmulPrecision, HasLibTorchNames) {
  at::Context& context = at::globalContext();
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST);
  context.setFloat32MatmulPrecision("medium");
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::MEDIUM);
  EXPECT_TRUE(context.allowTF32CuBLAS());
  context.setFloat32MatmulPrecision("highest");
  context.setAllowTF32CuBLAS(true);
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGH);
  context.setAllowTF32CuBLAS(false);
  const at::NoTF32Guard guard;
  EXPECT_TRUE(at::NoTF32Guard::should_disable_tf32());
}

}  // namespace
