// The table, the Chrome trace and TensorBoard's file of a profile.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "hearth/hearth.h"
#include "hearth/profiler.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using profiler::EventList;
using profiler::FunctionEventAvg;
using profiler::profile;
using profiler::ProfileOptions;
using Json = nlohmann::json;

FunctionEventAvg row(const std::string& key, int64_t count, double self, double total) {
  FunctionEventAvg result;
  result.key = key;
  result.count = count;
  result.self_cpu_time_total = self;
  result.cpu_time_total = total;
  return result;
}

TEST(Table, HasThePyTorchLayout) {
  FunctionEventAvg mm = row("aten::mm", 2, 2500, 2500), block = row("block", 1, 0.25, 2500250.25);
  mm.flops = 240;
  mm.cpu_memory_usage = mm.self_cpu_memory_usage = 2048;
  block.cpu_memory_usage = -80;
  const EventList rows({block, mm}, true);
  // Python's _build_table printed this for these numbers.
  EXPECT_EQ(
      rows.table("self_cpu_time_total"),
      R"(------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg       CPU Mem  Self CPU Mem    # of Calls   Total FLOPs  
------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
    aten::mm        99.99%       2.500ms        99.99%       2.500ms       1.250ms       2.00 KB       2.00 KB             2       240.000  
       block         0.01%       0.250us    100000.01%        2.500s        2.500s         -80 B           0 B             1            --  
------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 2.500ms
)");
  EXPECT_NE(rows.table("count", 1).find("aten::mm"), std::string::npos);
  EXPECT_EQ(rows.table("count", 1).find("block"), std::string::npos);
  EXPECT_ERROR(rows.table("speed"), "a table of a profile cannot be sorted by 'speed'");
  EXPECT_EQ(EventList({}, false).table(), "");
}

TEST(Table, ShowsShapesAndShortensNames) {
  FunctionEventAvg mm = row(std::string(60, 'x'), 1, 1, 1);
  mm.input_shapes = {{2, 3}, {}, {3, 4}};
  const std::string text = EventList({mm}, false).table();
  EXPECT_NE(text.find("\n" + std::string(52, 'x') + "...  "), std::string::npos);
  EXPECT_NE(text.find("  [[2, 3], [], [3, 4]]  "), std::string::npos);
}

/// Fails the test unless the trace follows the rules of Google's "Trace Event Format".
void check_trace(const Json& trace) {
  std::map<std::pair<Json, Json>, std::vector<std::pair<double, double>>> slices;
  std::map<std::pair<std::string, int64_t>, std::string> flows;
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE(event.at("name").is_string() && event.at("pid").is_number_integer() &&
                event.at("tid").is_number_integer() && event.at("ts").is_number());
    const double start = event.at("ts");
    if (phase == "X") {
      const double length = event.at("dur");
      ASSERT_GE(length, 0);
      slices[{event.at("pid"), event.at("tid")}].emplace_back(start, start + length);
    } else if (phase == "s" || phase == "f") {
      flows[{event.at("cat"), event.at("id")}] += phase;
    } else {
      ASSERT_EQ(phase, "M");
      ASSERT_TRUE(event.at("args").at("name").is_string());
    }
  }
  for (const auto& [id, phases] : flows) ASSERT_EQ(phases, "sf") << id.first << id.second;
  for (auto& [place, list] : slices) {  // the slices of one thread must be nested
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> ends;
    for (const auto& [start, end] : list) {
      while (!ends.empty() && ends.back() <= start) ends.pop_back();
      ASSERT_TRUE(ends.empty() || end <= ends.back() + 1e-3);
      ends.push_back(end);
    }
  }
}

void train_a_step() {
  const profiler::record_function range("a \"step\"\n");
  const Device device(cuda::is_available() ? kCUDA : kCPU);
  const Tensor x = randn({4, 3}).to(device), w = randn({3, 2}).to(device).requires_grad_();
  x.mm(w).relu().sum().backward();
}

TEST(Trace, FollowsTheFormat) {
  const TempFolder folder;
  profile recorded(ProfileOptions().record_shapes(true).with_flops(true));
  train_a_step();
  recorded.stop();
  recorded.export_chrome_trace(folder.path("trace.json"));
  const Json trace = Json::parse(bytes_of(folder.path("trace.json")));
  EXPECT_EQ(trace.at("schemaVersion"), 1);
  check_trace(trace);
  std::set<std::string> names, flows;
  for (const Json& event : trace.at("traceEvents")) {
    names.insert(event.at("name"));
    if (event.at("ph") == "s") flows.insert(event.at("cat"));
    const bool is_forward =
        event.at("name") == "aten::mm" && event.at("args").contains("Sequence number");
    if (is_forward) {
      EXPECT_EQ(event.at("args").at("Input Dims"), Json::parse("[[4, 3], [3, 2]]"));
      EXPECT_EQ(event.at("args").at("flops"), 48);
    }
  }
  EXPECT_TRUE(names.contains("a \"step\"\n") && names.contains("MmBackward0"));
  EXPECT_TRUE(flows.contains("fwdbwd"));
  EXPECT_EQ(flows.contains("ac2g"), cuda::is_available());
}

TEST(Trace, HandlerWritesFilesForTensorBoard) {
  const TempFolder folder;
  const std::string logs = folder.path("a/logs");
  {
    const profile recorded(
        ProfileOptions().on_trace_ready(profiler::tensorboard_trace_handler(logs, "worker0")));
    train_a_step();
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(logs))
    files.push_back(entry.path().filename());
  ASSERT_EQ(files.size(), 1u);
  // The pattern of file names that TensorBoard's plugin reads.
  EXPECT_TRUE(std::regex_match(files[0], std::regex(R"(^worker0(\.\d+)\.pt\.trace\.json$)")));
  check_trace(Json::parse(bytes_of(logs + "/" + files[0])));
  EXPECT_ERROR(
      {
        profile recorded;
        recorded.stop();
        profiler::tensorboard_trace_handler("/dev/null/logs")(recorded);
      },
      "Can't create directory: /dev/null/logs");
}

}  // namespace
}  // namespace hearth::testing
