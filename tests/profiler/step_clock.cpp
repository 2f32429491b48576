// The waits of training steps, against a stopwatch.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "hearth/hearth.h"
#include "hearth/profiler.h"

namespace hearth::testing {
namespace {

using profiler::StepClock;
using profiler::StepTimes;
using std::chrono::milliseconds;

/// Examples that take a while to prepare.
struct SlowData : data::Dataset<SlowData> {
  data::Example<> get(size_t) override {
    std::this_thread::sleep_for(milliseconds(3));
    return {ones({1}), ones({1})};
  }
  std::optional<size_t> size() const override { return 12; }
};

StepTimes times_of(size_t workers, milliseconds compute) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      SlowData().map(data::transforms::Stack<>()), data::DataLoaderOptions(2).workers(workers));
  const Tensor w = ones({1}).requires_grad_();
  optim::SGD optimizer({w}, 0.1);
  const StepClock clock;
  for ([[maybe_unused]] const auto& batch : *loader) {
    std::this_thread::sleep_for(compute);
    optimizer.step();
  }
  return clock.times();
}

TEST(StepClock, CountsTheTimeOfTheLoader) {
  const StepTimes times = times_of(0, milliseconds(2));
  EXPECT_EQ(times.steps, 6);
  EXPECT_GE(times.data, 0.036);
  EXPECT_GE(times.compute(), 0.012);
  EXPECT_NEAR(times.data + times.compute(), times.total, 1e-9);
  EXPECT_LT(times.data, times.total);
  EXPECT_EQ(times.verdict().substr(0, 13), "input-bound: ");
}

TEST(StepClock, CountsTheWaitForWorkers) {
  const StepTimes slow = times_of(1, milliseconds(0)), fast = times_of(2, milliseconds(20));
  EXPECT_GT(slow.data, 0.8 * slow.total);
  EXPECT_LT(fast.data, 0.2 * fast.total);
  EXPECT_EQ(fast.verdict().substr(0, 15), "compute-bound: ");
}

TEST(StepClock, NamesTheLongestWait) {
  StepTimes times;
  EXPECT_EQ(times.verdict(), "no step was measured");
  times.total = 10;
  times.data = 6.1;
  EXPECT_EQ(times.verdict(), "input-bound: 61 % of the step waits for the data loader");
  times.communication = 6.5;
  EXPECT_EQ(times.verdict(), "communication-bound: 65 % of the step waits for other processes");
  times.data = times.communication = 1;
  EXPECT_EQ(times.verdict(), "compute-bound: 80 % of the step computes");
}

TEST(StepClock, ComputesTheNumberOfWorkersNeeded) {
  StepTimes times;
  times.total = 10;
  times.data = 6;  // without workers: 6 s to prepare data and 4 s to compute
  EXPECT_EQ(times.workers_needed(0), 2);
  EXPECT_EQ(times.workers_needed(1), 3);  // with one worker, which needs 10 s to prepare data
  times.data = 0.1;
  EXPECT_EQ(times.workers_needed(0), 1);
}

TEST(StepClock, CountsCopiesToTheGpu) {
  const StepClock clock;
  const Tensor host = ones({1 << 20});
  if (!cuda::is_available()) {
    host.clone();
    EXPECT_EQ(clock.times().copies, 0);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  host.to(kCUDA);
  const std::chrono::duration<double> stopwatch = std::chrono::steady_clock::now() - start;
  EXPECT_GT(clock.times().copies, 0.2 * stopwatch.count());
  EXPECT_LE(clock.times().copies, stopwatch.count());
}

}  // namespace
}  // namespace hearth::testing
