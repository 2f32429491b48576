// The time that the stages of a pipeline wait, measured on simulated GPUs. Stages sleep in place of
// computing, so that the number of cores does not matter.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "core/streams.h"
#include "hearth/custom_function.h"
#include "hearth/hearth.h"
#include "hearth/nn/pipeline.h"
#include "kernels/sim/stream.h"
#include "tests/nn/support.h"
#include "tests/support/devices.h"

namespace hearth::testing {
namespace {

using nn::PipelineSchedule;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kForwardTime{6}, kBackwardTime{12};

/// Keeps the current stream of the tensor's device busy.
void occupy(const Tensor& tensor, std::chrono::milliseconds time) {
  static_cast<sim::Stream*>(current_stream(tensor.device()))->submit([time] {
    std::this_thread::sleep_for(time);
  });
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

/// A layer that takes kForwardTime and kBackwardTime.
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

/// The shortest of several runs, in forward times: of the first ones until one takes at most
/// `enough`, because other programs can only make a run longer.
template <class F>
double shortest(double enough, const F& run) {
  double best = INFINITY;
  for (int round = 0; round < 60 && best > enough; ++round) {
    wait_for_all();
    const auto start = Clock::now();
    run();
    wait_for_all();
    const std::chrono::duration<double> time = Clock::now() - start;
    best = std::min(best, time / kForwardTime);
  }
  return best;
}

class PipelineBubble : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* lazy = std::getenv("HEARTH_SIM_LAZY");
    if (cuda::device_count() < 2 || is_real_gpu(last_gpu()) || (lazy && *lazy == '1'))
      GTEST_SKIP() << "needs two simulated GPUs that work without being waited for";
  }
};

TEST_F(PipelineBubble, IsThatOfTheTheory) {
  const std::vector<Device> devices{Device(DeviceType::CUDA, 0), Device(DeviceType::CUDA, 1)};
  const auto mean = [](const Tensor& y, const Tensor&) { return y.mean(); };
  for (const int64_t chunks : {2, 6}) {
    const double theory = 1. / double(chunks + 1);
    const Tensor x = rand({chunks, 3}, devices[0]);
    const auto expect_theory = [&](const char* what, const auto& run) {
      const double work = 3. * double(chunks), limit = theory + 0.2;
      const double waits = 1 - work / shortest(work / (1 - limit), run);
      EXPECT_GE(waits, theory - 1e-3) << what << ", " << chunks << " micro-batches";
      EXPECT_LE(waits, limit) << what << ", " << chunks << " micro-batches";
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
}

}  // namespace
}  // namespace hearth::testing
