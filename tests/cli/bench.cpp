#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hearth/about.h"
#include "program.h"

namespace hearth::testing {

namespace {

using Json = nlohmann::json;

const std::vector<std::string> kSmall{
    "bench", "--size", "16,32", "--transfer-size", "8", "--repeats", "3", "--steps", "1"};

std::vector<std::string> with_argument(std::vector<std::string> arguments,
                                       const std::string& more) {
  arguments.push_back(more);
  return arguments;
}

TEST(Bench, JsonComparesCpuAndSimulatedGpu) {
  const RunResult ran = run(with_argument(kSmall, "--json"), {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["hearth"], about().version);
  EXPECT_EQ(json["cpu"]["name"], about().processor);
  EXPECT_GT(json["cpu"]["threads"], 0);
  EXPECT_EQ(json["gpu"]["name"], "Simulated GPU 0");
  EXPECT_EQ(json["gpu"]["simulated"], true);
  const Json& measurements = json["measurements"];
  ASSERT_EQ(measurements.size(), 5);
  const auto expect_measurement = [](const Json& measurement, const char* kind, int size, int times,
                                     const char* baseline, const char* alternative) {
    EXPECT_EQ(measurement["kind"], kind);
    EXPECT_EQ(measurement["size"], size);
    EXPECT_EQ(measurement["repetitions"], times);
    EXPECT_EQ(measurement["baseline"]["name"], baseline);
    EXPECT_EQ(measurement["alternative"]["name"], alternative);
  };
  expect_measurement(measurements[0], "matmul", 16, 1, "cpu", "cuda:0");
  expect_measurement(measurements[1], "matmul", 32, 1, "cpu", "cuda:0");
  expect_measurement(measurements[2], "rows", 8, 1, "row by row", "whole");
  expect_measurement(measurements[3], "transfers", 1000, 3, "moved each time", "moved once");
  expect_measurement(measurements[4], "training", 1000, 1, "cpu", "cuda:0");
  for (const Json& measurement : measurements) {
    const double baseline = measurement["baseline"]["seconds"],
                 alternative = measurement["alternative"]["seconds"];
    EXPECT_GT(alternative, 0) << measurement;
    EXPECT_DOUBLE_EQ(measurement["ratio"], baseline / alternative) << measurement;
    EXPECT_LT(measurement["largest_difference"], 1e-5) << measurement;
  }
}

TEST(Bench, TableSaysThatTheGpuIsSimulated) {
  const RunResult ran = run(kSmall, {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.find("cuda:0 is Simulated GPU 0, run by this CPU.\n"), 0) << ran.out;
  EXPECT_NE(ran.out.find("largest difference"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST(Bench, MeasuresTheCpuAloneWithoutAGpu) {
  const Json json = Json::parse(run(with_argument(kSmall, "--json"), {"HEARTH_SIM_GPUS"}).out);
  if (!json["gpu"].is_null()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FALSE(json["why_not"].get<std::string>().empty());
  ASSERT_EQ(json["measurements"].size(), 3);
  for (const Json& measurement : json["measurements"]) {
    EXPECT_FALSE(measurement.contains("alternative")) << measurement;
    EXPECT_EQ(measurement["baseline"]["name"], "cpu") << measurement;
    EXPECT_GT(measurement["baseline"]["seconds"], 0) << measurement;
  }
  const RunResult ran = run(kSmall, {"HEARTH_SIM_GPUS"});
  EXPECT_EQ(ran.out.find("No GPU: "), 0) << ran.out;
  EXPECT_NE(ran.out.find("HEARTH_SIM_GPUS=1"), std::string::npos) << ran.out;
}

TEST(Bench, FailedMeasurementsAreReportedAndTheOthersRun) {
  const std::vector<std::string> little_memory{"HEARTH_SIM_GPUS=1",
                                               "HEARTH_SIM_GPU_MEMORY=50331648"};
  std::vector<std::string> arguments{
      "bench", "--size", "16,2100", "--transfer-size", "8", "--repeats", "1", "--steps", "1"};
  const RunResult ran = run(arguments, little_memory);
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.out.find("\nmatmul of 2100 x 2100"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("out of memory"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nmove 8 x 8 to the GPU"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nscale 1000 x 1000, 1 time"), std::string::npos) << ran.out;
  arguments.push_back("--json");
  const RunResult as_json = run(arguments, little_memory);
  EXPECT_EQ(as_json.status, 1);
  const Json measurements = Json::parse(as_json.out)["measurements"];
  ASSERT_EQ(measurements.size(), 5);
  EXPECT_NE(measurements[1]["error"].get<std::string>().find("out of memory"), std::string::npos);
  EXPECT_FALSE(measurements[1].contains("baseline"));
  EXPECT_GT(measurements[2]["ratio"], 0);
}

// The training step runs out of memory, so the program ends while a kernel runs.
TEST(Bench, ExitsCleanlyWhileAKernelRuns) {
  const std::vector<std::string> little_memory{"HEARTH_SIM_GPUS=1",
                                               "HEARTH_SIM_GPU_MEMORY=33554432"};
  const std::vector<std::string> arguments{
      "bench", "--size", "16", "--transfer-size", "8", "--repeats", "1", "--steps", "1"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(arguments, little_memory).status, 1);
}

TEST(Bench, MissingGpusAreErrors) {
  const RunResult ran = run(with_argument(kSmall, "--gpu=1"), {"HEARTH_SIM_GPUS=1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "hearth: there is no device cuda:1: the number of GPUs is 1\n");
  const RunResult disabled = run(with_argument(kSmall, "--gpu=9"), {"HEARTH_CUDA=0"});
  EXPECT_EQ(disabled.status, 1);
  EXPECT_EQ(disabled.err, "hearth: there is no device cuda:9: HEARTH_CUDA=0 switches CUDA off.\n");
  EXPECT_EQ(disabled.out, "");
}

}  // namespace

}  // namespace hearth::testing
