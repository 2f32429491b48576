// hearth plot-memory.
#include "apps/hearth/plot_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hearth/hearth.h"
#include "program.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// A recording of a step of training on the CPU.
std::string recording() {
  record_memory_history();
  nn::Linear layer(256, 256);
  layer(ones({256, 256})).sum().backward();
  std::string json = memory_snapshot();
  record_memory_history(false);
  return json;
}

TEST(PlotMemory, ChartsHaveTheTags) {
  const std::vector<app::Chart> charts = app::memory_charts(recording(), "x");
  ASSERT_GE(charts.size(), 1u);
  EXPECT_EQ(charts[0].title, "memory of cpu");
  const std::vector<app::Series>& series = charts[0].series;
  EXPECT_EQ(series[0].name, "total");
  for (const char* const name : {"parameter", "gradient", "activation"})
    EXPECT_TRUE(std::ranges::any_of(series, [&](const auto& each) { return each.name == name; }))
        << name;
  for (size_t i = 0; i < series[0].y.size(); ++i) {
    double sum = 0;
    for (size_t s = 1; s < series.size(); ++s) sum += series[s].y[i];
    EXPECT_NEAR(series[0].y[i], sum, 1e-9);
    if (i > 0) {
      EXPECT_GE(series[0].x[i], series[0].x[i - 1]);
    }
  }
}

TEST(PlotMemory, DrawsAPicture) {
  const TempFolder folder;
  const std::string json = folder.path("memory.json");
  write_bytes(json, recording());
  const RunResult ran = run({"plot-memory", json});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(bytes_of(folder.path("memory.png")).substr(1, 3), "PNG");
}

TEST(PlotMemory, NeverOverwritesTheRecording) {
  const TempFolder folder;
  const std::string file = folder.path("m.png"), json = recording();
  write_bytes(file, json);
  using Command = std::vector<std::string>;
  for (const Command& command : {Command{"plot-memory", file}, Command{"plot-memory", file, file},
                                 Command{"plot-memory", file, folder.path("./m.png")}}) {
    const RunResult ran = run(command);
    EXPECT_EQ(ran.status, 1);
    EXPECT_NE(ran.err.find("would overwrite the recording; name another file for it"),
              std::string::npos)
        << ran.err;
    EXPECT_EQ(bytes_of(file), json);
  }
}

TEST(PlotMemory, AnEmptyFileIsNoRecording) {
  const TempFolder folder;
  write_bytes(folder.path("empty.json"), "");
  const RunResult ran = run({"plot-memory", folder.path("empty.json")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("empty.json' is not a recording of memory_snapshot()"), std::string::npos)
      << ran.err;
}

TEST(PlotMemory, PathsCannotControlTheTerminal) {
  const TempFolder folder;
  write_bytes(folder.path("m\x1b.json"), recording());
  RunResult ran = run({"plot-memory", folder.path("m\x1b.json")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("m\\x1b.png\n"), std::string::npos) << ran.out;
  ran = run({"plot-memory", folder.path("none\x1b.json")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("none\\x1b.json'"), std::string::npos) << ran.err;
}

TEST(PlotMemory, TooManyDevicesAreRefused) {
  const TempFolder folder;
  std::string json = R"({"format": 1, "tags": ["a"], "devices": [)";
  for (int i = 0; i < 200; ++i)
    json += std::string(i > 0 ? "," : "") + R"({"device": "cuda", "points": [[0, 1], [1, 2]]})";
  write_bytes(folder.path("memory.json"), json + "]}");
  const RunResult ran = run({"plot-memory", folder.path("memory.json")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("a picture has at most 29 charts, but there are 200"), std::string::npos)
      << ran.err;
}

TEST(PlotMemory, RefusesOtherFiles) {
  const auto charts = [](const std::string& json) { return app::memory_charts(json, "x.json"); };
  for (const char* const json :
       {"", "[]", "{}", R"({"format": 2})", R"({"format": 1, "tags": ["a"], "devices": [{}]})",
        R"({"format": 1, "tags": ["a"], "devices": [{"device": "cpu", "points": [[1]]}]})"})
    EXPECT_ERROR(charts(json), "'x.json' is not a recording of memory_snapshot()");
  EXPECT_ERROR(charts(memory_snapshot()), "has no memory in it");
}

}  // namespace
}  // namespace hearth::testing
