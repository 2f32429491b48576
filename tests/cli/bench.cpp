#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

TEST(Bench, OnASimulatedGpuBothWaysAndTheirDifference) {
  const Ran ran = run(with(kSmall, "--json"), {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["gpu"]["name"], "Simulated GPU 0");
  EXPECT_EQ(json["gpu"]["simulated"], true);
  const Json& all = json["measurements"];
  ASSERT_EQ(all.size(), 5);
  EXPECT_EQ(all[0]["name"], "matmul of 16 x 16");
  EXPECT_EQ(all[1]["name"], "matmul of 32 x 32");
  for (const Json& one : all) {
    ASSERT_EQ(one["seconds"].size(), 2) << one;
    for (const Json& seconds : one["seconds"]) EXPECT_GT(seconds, 0) << one;
    EXPECT_LT(one["largest_difference"], 1e-5) << one;
  }
  const auto ratio = [](const Json& one, const char* baseline, const char* instead) {
    return one["seconds"][baseline].get<double>() / one["seconds"][instead].get<double>();
  };
  EXPECT_DOUBLE_EQ(all[0]["ratio"], ratio(all[0], "cpu", "cuda:0"));
  EXPECT_DOUBLE_EQ(all[2]["ratio"], ratio(all[2], "row by row", "whole"));
}

TEST(Bench, TheTableSaysThatTheGpuIsSimulated) {
  const Ran ran = run(kSmall, {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.find("cuda:0 is Simulated GPU 0: this CPU in its place.\n"), 0) << ran.out;
  EXPECT_NE(ran.out.find("largest difference"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST(Bench, WithoutAGpuTheCpuAlone) {
  const Json json = Json::parse(run(with(kSmall, "--json"), {"HEARTH_SIM_GPUS"}).out);
  if (!json["gpu"].is_null()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FALSE(json["why_not"].get<std::string>().empty());
  ASSERT_EQ(json["measurements"].size(), 3);
  for (const Json& one : json["measurements"]) {
    EXPECT_EQ(one["seconds"].size(), 1) << one;
    EXPECT_GT(one["seconds"]["cpu"], 0) << one;
  }
  const Ran ran = run(kSmall, {"HEARTH_SIM_GPUS"});
  EXPECT_EQ(ran.out.find("No GPU: "), 0) << ran.out;
  EXPECT_NE(ran.out.find("HEARTH_SIM_GPUS=1"), std::string::npos) << ran.out;
}

TEST(Bench, AGpuThatIsNotThere) {
  const Ran ran = run(with(kSmall, "--gpu=1"), {"HEARTH_SIM_GPUS=1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "hearth: there is no cuda:1: the number of GPUs is 1\n");
}

}  // namespace

}  // namespace hearth::testing
