// The reports for hearth top, against a stopwatch.
#include "hearth/profiler/status_report.h"

#include <gtest/gtest.h>

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

/// Steps that wait 4 ms for their two examples and compute for 12 ms.
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
