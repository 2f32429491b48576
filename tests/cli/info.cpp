#include <gtest/gtest.h>
#include <sched.h>

#include <nlohmann/json.hpp>

#include "hearth/about.h"
#include "hearth/threads.h"
#include "program.h"

namespace hearth::testing {

namespace {

using Json = nlohmann::json;
const std::string kUnsetSimGpus = "HEARTH_SIM_GPUS";  // a name without a value unsets the variable

TEST(Info, JsonAgreesWithTheLibrary) {
  const RunResult ran = run({"info", "--json"}, {kUnsetSimGpus, "OMP_NUM_THREADS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  const About facts = about();
  EXPECT_EQ(json["version"], facts.version);
  EXPECT_EQ(json["cpu"]["name"], facts.processor);
  EXPECT_EQ(json["cpu"]["features"], facts.features);
  EXPECT_EQ(json["cpu"]["instruction_set"], facts.instruction_set);
  EXPECT_EQ(json["cpu"]["cores"], facts.cores);
  EXPECT_EQ(json["cpu"]["threads"], 1);
  EXPECT_EQ(json["cpu"]["memory_total"], facts.memory_total);
  EXPECT_TRUE(json["libraries"].contains("oneDNN"));
}

TEST(Info, CountsTheCoresThatItMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // the program inherits it
  const Json json = Json::parse(run({"info", "--json"}).out);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(json["cpu"]["cores"], 1);
}

TEST(Info, MarksSimulatedGpus) {
  const std::vector<std::string> two_gpus{"HEARTH_SIM_GPUS=2", "HEARTH_SIM_GPU_MEMORY=1073741824"};
  const Json cuda = Json::parse(run({"info", "--json"}, two_gpus).out)["cuda"];
  EXPECT_EQ(cuda["available"], true);
  ASSERT_EQ(cuda["devices"].size(), 2);
  EXPECT_EQ(cuda["devices"][1]["name"], "Simulated GPU 1");
  EXPECT_EQ(cuda["devices"][1]["simulated"], true);
  EXPECT_EQ(cuda["devices"][1]["capability"], nullptr);
  EXPECT_EQ(cuda["devices"][1]["memory_total"], 1073741824);
  EXPECT_FALSE(cuda.contains("why_not"));
  const std::string text = run({"info"}, two_gpus).out;
  EXPECT_NE(text.find("cuda:1     Simulated GPU 1, 1.0 GiB, 1.0 GiB free\n"), std::string::npos)
      << text;
}

TEST(Info, SaysWhyThereIsNoGpu) {
  const Json cuda = Json::parse(run({"info", "--json"}, {kUnsetSimGpus}).out)["cuda"];
  if (cuda["available"]) GTEST_SKIP() << "this machine has a GPU";
  const std::string why = cuda["why_not"];
  EXPECT_FALSE(why.empty());
  const std::string text = run({"info"}, {kUnsetSimGpus}).out;
  EXPECT_NE(text.find("CUDA       off: " + why), std::string::npos) << text;
}

}  // namespace

}  // namespace hearth::testing
