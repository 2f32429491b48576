// The reports for hearth top, against a stopwatch.
#include "hearth/profiler/status_report.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "hearth/hearth.h"

namespace hearth::testing {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

/// Examples that take two milliseconds to prepare.
struct SleepyData : data::Dataset<SleepyData> {
  data::Example<> get(size_t) override {
    std::this_thread::sleep_for(milliseconds(2));
    return {ones({1}), ones({1})};
  }
  std::optional<size_t> size() const override { return 60; }
};

/// Steps that wait 4 ms for their two examples and compute for 12 ms; they report themselves unless
/// `step` is 0.
void train(optim::SGD& optimizer, int64_t& step) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      SleepyData().map(data::transforms::Stack<>()), data::DataLoaderOptions(2));
  for ([[maybe_unused]] const auto& batch : *loader) {
    std::this_thread::sleep_for(milliseconds(12));
    optimizer.step();
    if (step > 0) profiler::report_step(++step, 2);
  }
}

TEST(StatusReport, HasTheRatesAndSharesOfRecentSteps) {
  const Tensor w = ones({1}).requires_grad_();
  optim::SGD optimizer({w}, 0.1);
  profiler::detail::StatusReporter reporter;
  const auto report = [&] { return Json::parse(reporter.report(3)); };
  Json json = report();
  EXPECT_EQ(json["rank"], 3);
  EXPECT_EQ(json["process"], getpid());
  EXPECT_GT(json["memory"], 1 << 20);
  EXPECT_TRUE(json["shares"].is_null());
  EXPECT_TRUE(json["step_age"].is_null());
  int64_t step = 0;
  train(optimizer, step);
  const int64_t counted = report()["step"];
  EXPECT_GE(counted, 30);
  const auto start = std::chrono::steady_clock::now();
  train(optimizer, step);
  json = report();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(json["step"], counted + 30);
  EXPECT_TRUE(json["samples_per_second"].is_null()) << json;
  EXPECT_NEAR(json["steps_per_second"], 30 / seconds, 6 / seconds);
  EXPECT_GT(json["shares"]["data"], 0.15) << json;
  EXPECT_GT(json["shares"]["compute"], 0.4);
  double sum = 0;
  for (const Json& share : json["shares"]) sum += share.get<double>();
  EXPECT_NEAR(sum, 1, 1e-3);
  EXPECT_LT(json["step_age"], 5);

  // With the program's own step numbers, which begin at another number.
  step = 100;
  train(optimizer, step);
  report();
  train(optimizer, step);
  json = report();
  EXPECT_EQ(json["step"], 160);
  EXPECT_NEAR(json["samples_per_second"].get<double>(), 2 * json["steps_per_second"].get<double>(),
              1e-3);
  // Another run begins with step 1.
  profiler::report_step(1, 2);
  json = report();
  EXPECT_EQ(json["step"], 1);
  EXPECT_TRUE(json["steps_per_second"].is_null());
}

TEST(StatusReport, AnotherThreadMayCountTheSteps) {
  optim::SGD optimizer({ones({1}).requires_grad_()}, 0.1);
  profiler::detail::StatusReporter reporter;
  int64_t step = 50;
  const auto train_counted = [&] {
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
        SleepyData().map(data::transforms::Stack<>()), data::DataLoaderOptions(2));
    for ([[maybe_unused]] const auto& batch : *loader) {
      std::this_thread::sleep_for(milliseconds(12));
      optimizer.step();
      std::thread([&] { profiler::report_step(++step, 2); }).join();
    }
  };
  train_counted();
  reporter.report(0);
  train_counted();
  const Json json = Json::parse(reporter.report(0));
  EXPECT_EQ(json["step"], 110);
  EXPECT_NEAR(json["samples_per_second"].get<double>(), 2 * json["steps_per_second"].get<double>(),
              1e-3);
  EXPECT_GT(json["shares"]["data"], 0.15) << json;  // of the thread that trains
}

TEST(StatusReport, ShowsOneTrainingOfSeveral) {
  optim::SGD optimizer({ones({1}).requires_grad_()}, 0.1);
  profiler::detail::StatusReporter reporter;
  int64_t step = 1000;
  train(optimizer, step);
  std::atomic<bool> stops{false};
  std::atomic<int64_t> other_step{0};
  std::thread other([&] {
    optim::SGD second({ones({1}).requires_grad_()}, 0.1);
    while (!stops) {
      second.step();
      profiler::report_step(++other_step, 1000);
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  while (other_step == 0) std::this_thread::yield();
  reporter.report(0);
  train(optimizer, step);
  const Json json = Json::parse(reporter.report(0));
  stops = true;
  other.join();
  EXPECT_EQ(json["step"], 1060);
  EXPECT_NEAR(json["samples_per_second"].get<double>(), 2 * json["steps_per_second"].get<double>(),
              1e-3);
  EXPECT_GT(json["shares"]["data"], 0.15) << json;
}

TEST(StatusReport, FollowsTheThreadThatTrains) {
  profiler::detail::StatusReporter reporter;
  std::thread([&] {
    optim::SGD optimizer({ones({1}).requires_grad_()}, 0.1);
    int64_t step = 10;
    train(optimizer, step);
  }).join();
  EXPECT_EQ(Json::parse(reporter.report(0))["step"], 40);
  // A thread without an optimizer counts from its first step on.
  profiler::detail::StatusReporter another;
  std::thread([] { profiler::report_step(5, 1); }).join();
  EXPECT_EQ(Json::parse(another.report(0))["step"], 5);
}

TEST(StatusReport, NamesTheCurrentWait) {
  profiler::detail::StatusReporter reporter;
  Json json;
  struct AskingData : data::Dataset<AskingData> {
    explicit AskingData(std::function<void()> ask) : ask_(std::move(ask)) {}
    data::Example<> get(size_t) override {
      std::this_thread::sleep_for(milliseconds(20));
      ask_();
      return {ones({1}), ones({1})};
    }
    std::optional<size_t> size() const override { return 1; }
    std::function<void()> ask_;
  };
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      AskingData([&] {
        std::thread([&] { json = Json::parse(reporter.report(0)); }).join();
      }).map(data::transforms::Stack<>()),
      data::DataLoaderOptions(1));
  for ([[maybe_unused]] const auto& batch : *loader) {
  }
  EXPECT_EQ(json["waits_for"], "data");
  EXPECT_GE(json["wait"], 0.02);
  EXPECT_TRUE(Json::parse(reporter.report(0))["waits_for"].is_null());
}

}  // namespace
}  // namespace hearth::testing
