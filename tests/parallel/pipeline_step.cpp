// Pipeline's step(): modules that work in place, its memory, copies that do not wait, and errors.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <stdexcept>

#include "core/streams.h"
#include "hearth/custom_function.h"
#include "hearth/hearth.h"
#include "hearth/nn/pipeline.h"
#include "kernels/sim/stream.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Options = nn::PipelineOptions;

struct StashHereImpl : nn::Cloneable<StashHereImpl> {
  void reset() override {}
  Tensor forward(Tensor x) {
    nn::skip::stash("here", x);
    return x;
  }
};
HEARTH_MODULE(StashHere);
/// Modifies the popped tensor in place.
struct PopHereImpl : nn::Cloneable<PopHereImpl> {
  void reset() override {}
  Tensor forward(Tensor x) { return nn::skip::pop("here").mul_(3) + x; }
};
HEARTH_MODULE(PopHere);
struct AddHereImpl : nn::Cloneable<AddHereImpl> {
  void reset() override {}
  Tensor forward(Tensor x) { return x + nn::skip::pop("here"); }
};
HEARTH_MODULE(AddHere);
struct DoubleInPlaceImpl : nn::Cloneable<DoubleInPlaceImpl> {
  void reset() override {}
  Tensor forward(Tensor x) { return x.mul_(2); }
};
HEARTH_MODULE(DoubleInPlace);

std::vector<Device> devices_of(size_t stages) {
  std::vector<Device> devices(stages, Device(kCPU));
  for (size_t i = 0; i < stages && cuda::is_available(); ++i)
    devices[i] = Device(DeviceType::CUDA, DeviceIndex(i % size_t(cuda::device_count())));
  return devices;
}

Tensor step_loss(const Tensor& y, const Tensor& target) { return mse_loss(y, target); }

TEST(PipelineSteps, StagesThatBeginWithAnInPlaceOp) {
  const auto make = [] {
    manual_seed(3);
    const auto half = [](const Tensor& x) { return x * 0.5; };
    return nn::Sequential(nn::Linear(4, 4), StashHere(), nn::Functional(half),
                          nn::ReLU(nn::ReLUOptions(true)), nn::Linear(4, 4), DoubleInPlace(),
                          PopHere(), nn::Linear(4, 1));
  };
  const std::vector<Device> stages = devices_of(3);
  const Tensor x = rand({4, 4}, stages[0]), target = rand({4, 1}, stages[0]);
  const nn::Sequential plain = make();
  plain.ptr()->to(stages[0]);
  Tensor loss;
  const auto xs = x.tensor_split(2), targets = target.tensor_split(2);
  for (size_t i = 0; i < 2; ++i) {
    const Tensor part = mse_loss(plain.ptr()->forward(xs[i]), targets[i]) * 0.5;
    part.backward();
    loss = loss.defined() ? loss + part.detach() : part.detach();
  }
  nn::Pipeline pipeline(make(), Options(stages).balance({3, 2, 3}).chunks(2));
  EXPECT_TRUE(pipeline->step(x, target, step_loss).loss.cpu().equal(loss.cpu()));
  const auto parameters = pipeline->parameters(), expected = plain.ptr()->parameters();
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(parameters[i].grad().cpu().equal(expected[i].grad().cpu())) << i;
}

TEST(PipelineSteps, InPlaceOnATensorStashedByThePreviousStageThrows) {
  nn::Pipeline pipeline(nn::Sequential(nn::Linear(4, 4), StashHere(), DoubleInPlace(), AddHere()),
                        Options(devices_of(2)).balance({2, 2}).chunks(2));
  const Tensor x = rand({4, 4}, devices_of(1)[0]);
  EXPECT_ERROR(pipeline->step(x, x, step_loss), "stashed the same tensor as 'here'");
}

/// The peak of the memory that a step allocates, in bytes.
int64_t peak_of_step(int64_t chunks, bool return_outputs) {
  nn::Sequential net(nn::Linear(256, 256), StashHere(), nn::Linear(256, 256), AddHere(),
                     nn::Linear(256, 256));
  nn::Pipeline pipeline(net, Options(std::vector<Device>(2, Device(kCPU)))
                                 .balance({2, 3})
                                 .chunks(chunks)
                                 .return_outputs(return_outputs));
  const Tensor x = rand({chunks * 64, 256});
  pipeline->step(x, x, step_loss);
  const int64_t before = memory_stats(kCPU).allocated_bytes.current;
  reset_peak_memory_stats(Device(kCPU));
  const nn::PipelineResult result = pipeline->step(x, x, step_loss);
  EXPECT_EQ(result.output.defined(), return_outputs);
  return memory_stats(kCPU).allocated_bytes.peak - before;
}

TEST(PipelineSteps, MemoryDoesNotGrowWithTheMicroBatches) {
  const int64_t one_output = 64 * 256 * 4;
  EXPECT_LE(peak_of_step(24, false), peak_of_step(4, false) + 2 * one_output);
  EXPECT_GE(peak_of_step(24, true), 24 * one_output);
}

/// Backward keeps the device busy until `released` is ready, at most five seconds.
struct BlockingBackward : autograd::Function<BlockingBackward> {
  static inline std::shared_future<void> released;
  static inline std::atomic<bool> waited_in_vain = false;
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x.clone(); }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list gradients) {
    static_cast<sim::Stream*>(current_stream(gradients[0].device()))->submit([f = released] {
      if (f.wait_for(std::chrono::seconds(5)) != std::future_status::ready) waited_in_vain = true;
    });
    return gradients;
  }
};
struct BlockingImpl : nn::Cloneable<BlockingImpl> {
  BlockingImpl() { reset(); }
  void reset() override { weight = register_parameter("weight", ones({1})); }
  Tensor forward(Tensor x) { return BlockingBackward::apply(x * weight); }
  Tensor weight;
};
HEARTH_MODULE(Blocking);

TEST(PipelineSteps, TargetsDoNotWaitForTheFirstStage) {
  const char* lazy = std::getenv("HEARTH_SIM_LAZY");
  if (cuda::device_count() < 2 || is_real_gpu(last_gpu()) || (lazy && *lazy == '1'))
    GTEST_SKIP() << "needs two simulated GPUs without lazy streams (HEARTH_SIM_LAZY)";
  std::promise<void> release;
  BlockingBackward::released = release.get_future();
  BlockingBackward::waited_in_vain = false;
  nn::Pipeline pipeline(nn::Sequential(Blocking(), nn::Linear(3, 1)),
                        Options(devices_of(2)).chunks(2));
  const Tensor x = rand({2, 3}, Device("cuda:0")), target = rand({2, 1}, Device("cuda:0"));
  int calls = 0;
  const auto loss = [&](const Tensor& y, const Tensor& t) {
    const Tensor result = mse_loss(y, t);
    if (++calls == 2) {  // the first stage's backward of the first micro-batch is queued
      cuda::synchronize(1);
      release.set_value();
    }
    return result;
  };
  pipeline->step(x, target, loss);
  cuda::synchronize(0);
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(BlockingBackward::waited_in_vain);
}

struct StandardErrorImpl : nn::Cloneable<StandardErrorImpl> {
  void reset() override {}
  Tensor forward(Tensor) { throw std::out_of_range("not in my range"); }
};
HEARTH_MODULE(StandardError);

TEST(PipelineSteps, ErrorsNameStageOrLoss) {
  const std::vector<Device> two(2, Device(kCPU));
  const Tensor x = ones({4, 2});
  nn::Pipeline foreign(nn::Sequential(nn::Linear(2, 2), StandardError()), Options(two));
  EXPECT_ERROR(foreign(x), "not in my range\nin stage 1 on device cpu, micro-batch 0");
  nn::Pipeline undefined(
      nn::Sequential(nn::Linear(2, 2), nn::Functional([](const Tensor&) { return Tensor(); })),
      Options(two));
  EXPECT_ERROR(undefined(x), "the last module of stage 1 returned an undefined tensor");
  nn::Pipeline pipeline(nn::Sequential(nn::Linear(2, 2), nn::Linear(2, 2)), Options(two));
  const auto without_graph = [](const Tensor& y, const Tensor&) { return y.detach().sum(); };
  EXPECT_ERROR(pipeline->step(x, x, without_graph),
               "element 0 of tensors does not require grad and does not have a grad_fn");
  const auto nothing = [](const Tensor&, const Tensor&) { return Tensor(); };
  EXPECT_ERROR(pipeline->step(x, x, nothing), "the loss function returned an undefined tensor");
  const auto fails = [](const Tensor& y, const Tensor&) -> Tensor {
    if (y.size(0) > 0) throw std::runtime_error("no loss today");
    return y;
  };
  EXPECT_ERROR(pipeline->step(x, x, fails), "no loss today\nin the loss of micro-batch 0");
}

TEST(PipelineSteps, StagesMustNotShareModulesOrParameters) {
  const std::vector<Device> two(2, Device(kCPU));
  nn::Linear layer(2, 2), other(2, 2);
  EXPECT_ERROR(nn::Pipeline(nn::Sequential(layer, nn::Tanh(), layer), Options(two)),
               "the module '2' of stage 1 is also '0' of stage 0");
  other->unregister_parameter("weight");
  other->weight = other->register_parameter("weight", layer->weight);
  EXPECT_ERROR(nn::Pipeline(nn::Sequential(layer, other), Options(two)),
               "the parameter '1.weight' of stage 1 is also '0.weight' of stage 0");
  nn::Pipeline one_stage(nn::Sequential(layer, layer, nn::Linear(2, 1)),
                         Options(two).balance({2, 1}));
  EXPECT_EQ(one_stage(ones({2, 2})).size(1), 1);
  EXPECT_ERROR(nn::Pipeline(nn::Sequential(nn::Linear(2, 2), nn::Linear(2, 2)),
                            Options(two).balance({INT64_MAX, 3})),
               "balance is for");
}

}  // namespace
}  // namespace hearth::testing
