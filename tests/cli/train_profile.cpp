// hearth train --profile.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

TEST(TrainProfile, WritesATraceAndAVerdict) {
  const TempFolder folder;
  const std::string trace = folder.path("trace.json");
  const RunResult ran = train({"--out", folder.path("out"), "--limit", "1000", "--epochs", "1",
                               "--model", "mlp", "--profile", trace});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("-bound: "), std::string::npos) << ran.err;
  std::set<std::string> steps;
  const auto json = nlohmann::json::parse(bytes_of(trace));
  for (const auto& event : json.at("traceEvents"))
    if (const std::string name = event.at("name"); name.starts_with("ProfilerStep"))
      steps.insert(name);
  EXPECT_EQ(steps, (std::set<std::string>{"ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5",
                                          "ProfilerStep#6", "ProfilerStep#7"}));
}

TEST(TrainProfile, GoesOnIfTheTraceCannotBeWritten) {
  const TempFolder folder;
  const RunResult ran = train({"--out", folder.path("out"), "--limit", "1000", "--epochs", "1",
                               "--model", "mlp", "--profile", folder.path("none/trace.json")});
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("--profile: cannot write"), std::string::npos) << ran.err;
}

TEST(TrainProfile, RefusesGrids) {
  const RunResult ran = train({"--lr", ".1,.2", "--profile", "trace.json"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("--profile needs a single run, without lists of settings"),
            std::string::npos)
      << ran.err;
}

}  // namespace
}  // namespace hearth::testing
