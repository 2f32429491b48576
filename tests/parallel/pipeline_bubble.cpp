// The time that the stages of a pipeline wait, measured on simulated GPUs by the clock of the
// simulation, so that neither the number of cores nor other programs matter.
#include "core/streams.h"
#include "hearth/custom_function.h"
#include "hearth/hearth.h"
#include "hearth/nn/pipeline.h"
#include "kernels/sim/stream.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using nn::PipelineSchedule;
using sim::Clock;

constexpr std::chrono::milliseconds kForwardTime{1}, kBackwardTime{2};

/// Keeps the current stream of the tensor's device busy.
void occupy(const Tensor& tensor, Clock::Time time) {
  static_cast<sim::Stream*>(current_stream(tensor.device()))->submit([time] { Clock::pass(time); });
}

struct Occupy : autograd::Function<Occupy> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) {
    occupy(x, kForwardTime);
    return x.clone();
  }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list gradients) {
    occupy(gradients[0], kBackwardTime);
    return gradients;
  }
};

/// A layer whose forward takes kForwardTime and whose backward takes kBackwardTime.
struct BusyImpl : nn::Cloneable<BusyImpl> {
  BusyImpl() { reset(); }
  void reset() override { weight = register_parameter("weight", ones({1})); }
  Tensor forward(Tensor x) { return Occupy::apply(x * weight); }
  Tensor weight;
};
HEARTH_MODULE(Busy);

void wait_for_all() {
  for (int i = 0; i < cuda::device_count(); ++i) cuda::synchronize(i);
}

/// The time that the devices need for a call, in units of kForwardTime.
template <class F>
double duration(const F& run) {
  wait_for_all();
  const Clock::Time start = Clock::now();
  run();
  wait_for_all();
  return std::chrono::duration<double>(Clock::now() - start) / kForwardTime;
}

class PipelineBubble : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2 || is_real_gpu(last_gpu()))
      GTEST_SKIP() << "needs two simulated GPUs";
  }
};

TEST_P(PipelineBubble, MatchesTheTheory) {
  const std::vector<Device> devices{Device(DeviceType::CUDA, 0), Device(DeviceType::CUDA, 1)};
  const int64_t chunks = GetParam();
  const Tensor x = rand({chunks, 3}, devices[0]);
  const auto mean = [](const Tensor& y, const Tensor&) { return y.mean(); };
  const auto expect_theory = [&](const char* what, const auto& run) {
    const double bubble = 1 - 3. * double(chunks) / duration(run);
    EXPECT_NEAR(bubble, 1. / double(chunks + 1), 1e-9) << what;
  };
  const auto pipeline = [&](PipelineSchedule schedule) {
    return nn::Pipeline(nn::Sequential(Busy(), Busy()),
                        nn::PipelineOptions(devices).chunks(chunks).schedule(schedule));
  };
  nn::Pipeline gpipe = pipeline(PipelineSchedule::GPipe),
               one_f_one_b = pipeline(PipelineSchedule::OneFOneB);
  expect_theory("GPipe", [&] { gpipe->step(x, x, mean); });
  expect_theory("1F1B", [&] { one_f_one_b->step(x, x, mean); });
  expect_theory("forward and backward", [&] { gpipe->forward(x).sum().backward(); });
}

INSTANTIATE_TEST_SUITE_P(MicroBatches, PipelineBubble, ::testing::Values(1, 2, 6));

}  // namespace
}  // namespace hearth::testing
