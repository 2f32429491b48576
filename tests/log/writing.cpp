// SummaryWriter's thread and files: several threads, kills, full disks, resuming.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "hearth/error.h"
#include "hearth/utils/tensorboard.h"
#include "tests/log/reader.h"
#include "tests/support/files.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using utils::tensorboard::SummaryWriter;
using utils::tensorboard::SummaryWriterOptions;

constexpr int kThreads = 4, kPerThread = 10000;

/// Adds scalars "t0" to "t3" from four threads, each with the steps 0, 1, …
void add_from_threads(SummaryWriter& writer, int per_thread) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&writer, t, per_thread] {
      const std::string tag = "t" + std::to_string(t);
      for (int step = 0; step < per_thread; ++step) writer.add_scalar(tag, step, step);
    });
  for (std::thread& thread : threads) thread.join();
}

/// Starts one of this program's disabled tests in a folder.
pid_t start_test(const char* name, const std::string& folder) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const std::string filter = std::string("--gtest_filter=Writing.DISABLED_") + name;
  if (::chdir(folder.c_str()) == 0)
    ::execl("/proc/self/exe", "test_log", filter.c_str(), "--gtest_also_run_disabled_tests",
            "--gtest_brief=1", nullptr);
  ::_exit(127);
}

int status_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Writing, SeveralThreadsUseOneWriter) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    add_from_threads(writer, kPerThread);
  }
  for (int t = 0; t < kThreads; ++t) {
    const auto values = values_in(folder.str(), "t" + std::to_string(t));
    ASSERT_EQ(values.size(), size_t(kPerThread));
    for (int step = 0; step < kPerThread; ++step) {
      ASSERT_EQ(values[size_t(step)].step, step);
      ASSERT_EQ(values[size_t(step)].fields.real32(2), float(step));
    }
  }
}

TEST(Writing, DISABLED_EndlessScalars) {
  SummaryWriter writer(".");
  for (int round = 0; round < 1000; ++round) {
    add_from_threads(writer, 100);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(Writing, AKilledProgramLosesAtMostASecond) {
  const TempFolder folder;
  const pid_t child = start_test("EndlessScalars", folder.str());
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const double killed =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  ::kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status_of(child)));
  const auto values = values_in(folder.str(), "", /*may_be_cut=*/true);
  ASSERT_GT(values.size(), 100u);
  EXPECT_GT(values.back().time, killed - 1.2);
}

TEST(Writing, AResumedRunHidesLaterSteps) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    for (int step = 0; step < 10; ++step) writer.add_scalar("loss", step, step);
  }
  {
    SummaryWriter writer(SummaryWriterOptions().log_dir(folder.str()).purge_step(6));
    for (int step = 6; step < 12; ++step) writer.add_scalar("loss", -step, step);
  }
  ASSERT_EQ(event_files(folder.str()).size(), 2u);
  const auto events = events_in(folder.str());
  std::vector<int64_t> starts;  // the steps of SessionLog.START
  for (const LoggedEvent& event : events)
    if (event.fields.has(7) && event.fields.message(7).integer(1) == 1)
      starts.push_back(event.step);
  EXPECT_EQ(starts, std::vector<int64_t>{6});
  EXPECT_EQ(values_in(folder.str(), "loss").size(), 16u);
}

TEST(Writing, AClosedWriterOpensANewFile) {
  const TempFolder folder;
  SummaryWriter writer(SummaryWriterOptions().log_dir(folder.str()).filename_suffix(".mine"));
  writer.add_scalar("a", 1);
  writer.close();
  writer.close();
  writer.flush();
  EXPECT_EQ(event_files(folder.str()).size(), 1u);
  writer.add_scalar("a", 2);
  writer.flush();
  ASSERT_EQ(event_files(folder.str()).size(), 2u);
  EXPECT_TRUE(event_files(folder.str())[1].ends_with(".mine"));
  EXPECT_EQ(values_in(folder.str(), "a").size(), 2u);
}

TEST(Writing, RecordsReachTheFileWithoutAFlush) {
  const TempFolder folder;
  SummaryWriter writer(SummaryWriterOptions().log_dir(folder.str()).flush_secs(0.01));
  writer.add_scalar("a", 1);
  for (int i = 0; i < 500 && values_in(folder.str()).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(values_in(folder.str()).size(), 1u);
}

TEST(Writing, AnUnwritableFolderIsOneWarning) {
  const TempFolder folder;
  write_bytes(folder.path("file"), "");
  const Warnings warnings;
  {
    SummaryWriter writer(folder.path("file/run"));
    EXPECT_EQ(warnings.said().size(), 1u);
    EXPECT_TRUE(Warnings::contains("cannot write to the folder " + folder.path("file/run")));
    for (int i = 0; i < 1000; ++i) writer.add_scalar("a", i, i);
    writer.flush();
  }
  EXPECT_EQ(warnings.said().size(), 1u);
}

// The limit of a file's size stands for a full disk: a write is cut, and the next one fails.
TEST(Writing, DISABLED_FullDisk) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{5000, 5000};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const Warnings warnings;
  SummaryWriter writer(".");
  for (int i = 0; i < 1000; ++i) {
    writer.add_scalar("a", i, i);
    if (i % 10 == 9) writer.flush();
  }
  EXPECT_EQ(warnings.said().size(), 1u);
  EXPECT_TRUE(Warnings::contains("File too large"));
}

TEST(Writing, AFullDiskLeavesWholeRecords) {
  const TempFolder folder;
  EXPECT_EQ(status_of(start_test("FullDisk", folder.str())), 0);
  const auto values = values_in(folder.str(), "a");
  ASSERT_GT(values.size(), 50u);
  std::set<int64_t> steps;
  for (const LoggedValue& value : values) steps.insert(value.step);
  EXPECT_EQ(steps.size(), values.size());
  EXPECT_LT(values.size(), 1000u);
}

TEST(Writing, TheFileOfATagOrderIsThatOfTheCalls) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    for (const int64_t step : {5, 3, 4}) writer.add_scalar("back", double(step), step);
  }
  const auto values = values_in(folder.str(), "back");
  EXPECT_EQ(values[1].step, 3);
}

}  // namespace
}  // namespace hearth::testing
