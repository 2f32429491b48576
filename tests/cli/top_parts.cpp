// Parts of hearth top: the table, the ages of reports, the search for jobs, status files and their
// lock.
#include <atomic>
#include <nlohmann/json.hpp>

#include "apps/hearth/top/job_source.h"
#include "apps/hearth/top/rank_table.h"
#include "apps/hearth/top/running_jobs.h"
#include "apps/hearth/top/status_file.h"
#include "apps/hearth/top/writer_lock.h"
#include "hearth/error.h"
#include "tests/cli/top.h"
#include "tests/cli/train_processes.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using app::RankReport;
using Json = nlohmann::json;

/// A report like those that ranks write.
Json report(int step) {
  return {
      {"host", "node"},
      {"step", step},
      {"step_age", 0.1},
      {"steps_per_second", 12.34},
      {"samples_per_second", 1234.5},
      {"shares",
       {{"data", 0.25}, {"copies", 0}, {"communication", 0.1}, {"logging", 0}, {"compute", 0.65}}},
      {"memory", 3 << 20},
      {"gpu_memory", 0}};
}

TEST(TopTable, HasALineForEachRankAndTheirSum) {
  Json waits = report(7), other = report(9);
  waits["waits_for"] = "communication";
  waits["wait"] = 12.2;
  waits["shares"]["copies"] = 0.02;
  other["samples_per_second"] = 100;
  EXPECT_EQ(
      app::rank_table({{waits.dump(), 0.4}, {other.dump(), 7.6}, {"", 0}, {report(8).dump(), 1}}),
      "rank  host  step  steps/s  samples/s  data  copies  comm.  compute   memory  state\n"
      "0     node     7       12       1234  25 %     2 %   10 %     65 %  3.0 MiB  waits for "
      "communication, 12 s\n"
      "1     node     9       12        100  25 %     0 %   10 %     65 %  3.0 MiB  silent for "
      "8 s\n"
      "2                                                                            has not "
      "reported yet\n"
      "3     node     8       12       1234  25 %     0 %   10 %     65 %  3.0 MiB\n"
      "all                             2469                                6.0 MiB\n");
}

TEST(TopTable, NamesRanksThatMakeNoSteps) {
  Json stalled = report(7), young = report(0);
  stalled["steps_per_second"] = 0;
  stalled["step_age"] = 31.0;
  young["step_age"] = nullptr;
  const std::string table = app::rank_table({{stalled.dump(), 0}, {young.dump(), 0}});
  EXPECT_NE(table.find("no step for 31 s\n"), std::string::npos) << table;
  EXPECT_NE(table.find("no step yet\n"), std::string::npos) << table;
}

TEST(TopTable, DamagedReportsAreNamed) {
  EXPECT_ERROR(app::rank_table({{report(1).dump(), 0}, {"{\"step\":", 0}}),
               "the report of rank 1 is damaged: ");
  EXPECT_ERROR(app::rank_table({{"[1]", 0}}), "the report of rank 0 is damaged: ");
  // Values of wrong types are left out, and a host cannot control the terminal.
  const std::string table =
      app::rank_table({{R"({"host":"a\u001b[2J","step":"x","memory":[]})", 0}});
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_NE(table.find("a\\x1b[2J"), std::string::npos) << table;
}

TEST(TopAges, AreThoseOfTheLastChange) {
  app::ReportAges ages;
  const double now = double(std::time(nullptr));
  const auto at = [](double time) { return Json({{"time", time}}).dump(); };
  std::vector<RankReport> found = ages.update({at(now), at(now - 3600), ""});
  EXPECT_LT(found[0].age, 3);
  EXPECT_GT(found[1].age, 3500);
  EXPECT_TRUE(ages.has_doubtful_age());
  // The clock of rank 1 is an hour late.
  found = ages.update({at(now), at(now - 3599), at(now)});
  EXPECT_LT(found[1].age, 1);
  EXPECT_LT(found[2].age, 3);
  EXPECT_FALSE(ages.has_doubtful_age());
}

TEST(TopJobs, AreFoundInTheEnvironmentOfProcesses) {
  const TempFolder folder;
  const auto add = [&](const std::string& process, const std::string& environment) {
    std::filesystem::create_directory(folder.path(process));
    write_bytes(folder.path(process) + "/environ", environment);
    write_bytes(folder.path(process) + "/cmdline", std::string("./train\0-n\0", 11));
  };
  const std::string master = std::string("RANK=1\0MASTER_ADDR=10.0.0.1\0MASTER_PORT=", 40);
  add("17", master + std::string("29501\0HEARTH_RDZV_TOKEN=s=t\0", 28));
  add("18", master + std::string("29501\0", 6));
  add("19", master + "x");
  add("20", std::string("RANK=0\0MASTER_ADDR=::1\0MASTER_PORT=2\0", 37));
  add("21", std::string("MASTER_ADDR=10.0.0.1\0MASTER_PORT=3\0", 35));
  add("self", master + "4");
  std::vector<app::RunningJob> jobs = app::running_jobs(folder.str());
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.port > b.port; });
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].endpoint(), "10.0.0.1:29501");
  EXPECT_EQ(jobs[0].command, "./train -n");
  EXPECT_EQ(jobs[1].endpoint(), "[::1]:2");
  EXPECT_TRUE(app::running_jobs(folder.path("nothing")).empty());
}

TEST(TopFiles, AreWrittenWholeAndRemoved) {
  const TempFolder folder;
  const std::string path = app::status_file_in(folder.str());
  {
    const app::StatusFile file(path, [] { return std::vector<std::string>{"{}", ""}; });
    ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path); }));
    const app::Status status = app::read_status_file(path);
    ASSERT_EQ(status.ranks.size(), 2U);
    EXPECT_EQ(status.ranks[0].json, "{}");
    EXPECT_LT(status.ranks[0].age, 5);
    EXPECT_EQ(status.writer, app::StatusWriter::kExists);
    // A second writer leaves it alone.
    {
      const app::StatusFile second(path, [] { return std::vector<std::string>{"second"}; });
    }
    EXPECT_NE(bytes_of(path).find("{}"), std::string::npos);
    EXPECT_EQ(app::read_status_file(path).writer, app::StatusWriter::kExists);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.str()));
  const app::StatusFile unwritable(folder.path("no/folder"),
                                   []() -> std::vector<std::string> { throw Error("lost"); });
}

TEST(TopFiles, SayThatTheirWriterIsGone) {
  const TempFolder folder;
  const std::string path = app::status_file_in(folder.str());
  write_bytes(path, left_status(R"(,"locked":true)"));
  EXPECT_EQ(app::read_status_file(path).writer, app::StatusWriter::kNotFound);
  expect_failure(
      run({"top", folder.str()}), 1,
      "nothing trains in '" + folder.str() + "': its training has ended (it was killed)\n");
  // Somebody writes, whose lock is not seen on this machine.
  std::atomic<bool> stops{false};
  std::thread writer([&] {
    for (int i = 0; !stops; ++i) {
      write_bytes(path + ".2", R"({"format":1,"locked":true,"written":)" + std::to_string(i) +
                                   R"(,"ranks":[{"age":0,"report":"{}"}]})");
      std::filesystem::rename(path + ".2", path);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  EXPECT_EQ(run({"top", folder.str()}).status, 0);
  stops = true;
  writer.join();
  // File systems without locks, and former versions: only the ages tell.
  for (const char* fields : {R"(,"locked":false)", ""}) {
    write_bytes(path, left_status(fields));
    EXPECT_EQ(app::read_status_file(path).writer, app::StatusWriter::kUnknown);
    const RunResult table = run({"top", folder.str()});
    EXPECT_EQ(table.status, 0) << table.err;
    EXPECT_NE(table.out.find("silent for 6"), std::string::npos) << table.out;
  }
}

TEST(TopFiles, OneWriterAtATimeHoldsTheLock) {
  const TempFolder folder;
  const std::string path = folder.path("status.json");
  std::atomic<int> holders{0}, times_held{0}, times_shared{0};
  // Writers that come and go; each one that held the lock removes the lock's file at its end.
  const auto write = [&] {
    for (int i = 0; i < 5000; ++i) {
      const app::WriterLock lock(path);
      if (lock.state() != app::WriterLock::State::kHeld) continue;
      ++times_held;
      if (++holders > 1) ++times_shared;
      --holders;
    }
  };
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) writers.emplace_back(write);
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(times_held, 0);
  EXPECT_EQ(times_shared, 0);
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
}

}  // namespace
}  // namespace hearth::testing
