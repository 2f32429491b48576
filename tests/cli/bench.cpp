#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hearth/about.h"
#include "program.h"

namespace hearth::testing {

namespace {

using Json = nlohmann::json;

const std::vector<std::string> kSmall{
    "bench", "--size", "16,32", "--transfer-size", "8", "--repeats", "3", "--steps", "1"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& more) {
  arguments.push_back(more);
  return arguments;
}

TEST(Bench, JsonComparesCpuAndSimulatedGpu) {
  const Ran ran = run(with(kSmall, "--json"), {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["hearth"], about().version);
  EXPECT_EQ(json["cpu"]["name"], about().processor);
  EXPECT_GT(json["cpu"]["threads"], 0);
  EXPECT_EQ(json["gpu"]["name"], "Simulated GPU 0");
  EXPECT_EQ(json["gpu"]["simulated"], true);
  const Json& all = json["measurements"];
  ASSERT_EQ(all.size(), 5);
  const auto is = [](const Json& one, const char* kind, int size, int times, const char* baseline,
                     const char* instead) {
    EXPECT_EQ(one["kind"], kind);
    EXPECT_EQ(one["size"], size);
    EXPECT_EQ(one["times"], times);
    EXPECT_EQ(one["baseline"]["name"], baseline);
    EXPECT_EQ(one["instead"]["name"], instead);
  };
  is(all[0], "matmul", 16, 1, "cpu", "cuda:0");
  is(all[1], "matmul", 32, 1, "cpu", "cuda:0");
  is(all[2], "rows", 8, 1, "row by row", "whole");
  is(all[3], "transfers", 1000, 3, "moved each time", "moved once");
  is(all[4], "training", 1000, 1, "cpu", "cuda:0");
  for (const Json& one : all) {
    const double baseline = one["baseline"]["seconds"], instead = one["instead"]["seconds"];
    EXPECT_GT(instead, 0) << one;
    EXPECT_DOUBLE_EQ(one["ratio"], baseline / instead) << one;
    EXPECT_LT(one["largest_difference"], 1e-5) << one;
  }
}

TEST(Bench, TableSaysThatTheGpuIsSimulated) {
  const Ran ran = run(kSmall, {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.find("cuda:0 is Simulated GPU 0, run by this CPU.\n"), 0) << ran.out;
  EXPECT_NE(ran.out.find("largest difference"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST(Bench, MeasuresTheCpuAloneWithoutAGpu) {
  const Json json = Json::parse(run(with(kSmall, "--json"), {"HEARTH_SIM_GPUS"}).out);
  if (!json["gpu"].is_null()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FALSE(json["why_not"].get<std::string>().empty());
  ASSERT_EQ(json["measurements"].size(), 3);
  for (const Json& one : json["measurements"]) {
    EXPECT_FALSE(one.contains("instead")) << one;
    EXPECT_EQ(one["baseline"]["name"], "cpu") << one;
    EXPECT_GT(one["baseline"]["seconds"], 0) << one;
  }
  const Ran ran = run(kSmall, {"HEARTH_SIM_GPUS"});
  EXPECT_EQ(ran.out.find("No GPU: "), 0) << ran.out;
  EXPECT_NE(ran.out.find("HEARTH_SIM_GPUS=1"), std::string::npos) << ran.out;
}

TEST(Bench, FailedMeasurementsAreReportedAndTheRestRuns) {
  const std::vector<std::string> little_memory{"HEARTH_SIM_GPUS=1",
                                               "HEARTH_SIM_GPU_MEMORY=50331648"};
  std::vector<std::string> arguments{
      "bench", "--size", "16,2100", "--transfer-size", "8", "--repeats", "1", "--steps", "1"};
  const Ran ran = run(arguments, little_memory);
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.out.find("\nmatmul of 2100 x 2100"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("out of memory"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nmove 8 x 8 to the GPU"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\n1 product of 1000 x 1000"), std::string::npos) << ran.out;
  arguments.push_back("--json");
  const Ran as_json = run(arguments, little_memory);
  EXPECT_EQ(as_json.status, 1);
  const Json all = Json::parse(as_json.out)["measurements"];
  ASSERT_EQ(all.size(), 5);
  EXPECT_NE(all[1]["error"].get<std::string>().find("out of memory"), std::string::npos);
  EXPECT_FALSE(all[1].contains("baseline"));
  EXPECT_GT(all[2]["ratio"], 0);
}

// The training step runs out of memory, so the program ends while a kernel runs. A race at that
// point once crashed every second run.
TEST(Bench, ExitsCleanlyWhileAKernelRuns) {
  const std::vector<std::string> little_memory{"HEARTH_SIM_GPUS=1",
                                               "HEARTH_SIM_GPU_MEMORY=33554432"};
  const std::vector<std::string> arguments{
      "bench", "--size", "16", "--transfer-size", "8", "--repeats", "1", "--steps", "1"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(arguments, little_memory).status, 1);
}

TEST(Bench, MissingGpusAreErrors) {
  const Ran ran = run(with(kSmall, "--gpu=1"), {"HEARTH_SIM_GPUS=1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "hearth: there is no device cuda:1: the number of GPUs is 1\n");
  const Ran none = run(with(kSmall, "--gpu=9"), {"HEARTH_CUDA=0"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err, "hearth: there is no device cuda:9: HEARTH_CUDA=0 switches CUDA off.\n");
  EXPECT_EQ(none.out, "");
}

}  // namespace

}  // namespace hearth::testing
