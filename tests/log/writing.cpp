// SummaryWriter's thread and files: several threads, kills, forks, full disks, resuming, the order
// of steps. The numbers of fields are those of TensorBoard's messages: in an Event, 7 is
// session_log; in a Summary.Value, 2 is simple_value and 5 is histo; in a HistogramProto, 7 is
// bucket.
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

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "hearth/utils/tensorboard.h"
#include "tests/log/reader.h"
#include "tests/support/files.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using utils::tensorboard::SummaryWriter;
using utils::tensorboard::SummaryWriterOptions;

constexpr int kThreads = 4, kPerThread = 10000;

/// Adds scalars "t0" to "t3" from four threads, each with the steps from `begin` to before `end`.
void add_from_threads(SummaryWriter& writer, int begin, int end) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&writer, t, begin, end] {
      const std::string tag = "t" + std::to_string(t);
      for (int step = begin; step < end; ++step) writer.add_scalar(tag, step, step);
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
    add_from_threads(writer, 0, kPerThread);
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

// tests/oracle/read_by_tensorboard.py runs ResumedScalars, and EndlessScalars as well.
TEST(Writing, DISABLED_EndlessScalars) {
  SummaryWriter writer(".");
  for (int round = 0; round < 1000; ++round) {
    add_from_threads(writer, 100 * round, 100 * (round + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(Writing, DISABLED_ResumedScalars) {
  SummaryWriter writer(SummaryWriterOptions().log_dir(".").purge_step(50));
  add_from_threads(writer, 50, 10000);
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

TEST(Writing, AnUnwritableFolderGivesOneWarning) {
  const TempFolder folder;
  write_bytes(folder.path("file"), "");
  const Warnings warnings;
  {
    SummaryWriter writer(folder.path("file/run"));
    EXPECT_EQ(warnings.said().size(), 1u);
    EXPECT_TRUE(Warnings::contains("cannot write to the folder " + folder.path("file/run")));
    for (int i = 0; i < 1000; ++i) writer.add_scalar("a", i, i);
    for (const char* name : {"one", "two"}) writer.add_scalars("b", {{name, 1}});
    writer.add_hparams({{"lr", 0.1}}, {});
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

TEST(Writing, DISABLED_StaticWriter) {
  static SummaryWriter writer(".");  // its thread works while static objects are destroyed
  writer.add_histogram("last", tensor({-1., 2., 2.}));
}

TEST(Writing, AStaticWriterWritesAtExit) {
  const TempFolder folder;
  EXPECT_EQ(status_of(start_test("StaticWriter", folder.str())), 0);
  const auto values = values_in(folder.str(), "last");
  ASSERT_EQ(values.size(), 1u);
  const auto counts = values[0].fields.message(5).packed<double>(7);
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts.back(), 2);
}

TEST(Writing, SlowRecordsDoNotDelayTheOthers) {
  const TempFolder folder;
  SummaryWriter writer(SummaryWriterOptions().log_dir(folder.str()).flush_secs(0.02));
  const Tensor noise = randint(256, {3, 500, 500}).to(kByte);  // cannot be compressed
  const std::string file = event_files(folder.str()).at(0);
  writer.add_scalar("first", 1);
  for (int step = 0; step < 20; ++step) writer.add_image("slow", noise, step);
  constexpr size_t kHeader = 100;  // more than the file's first record
  size_t size = 0;
  while (size <= kHeader) size = std::filesystem::file_size(file);
  EXPECT_LT(size, 20 * noise.nbytes());
}

TEST(Writing, AResumedRunHidesLaterStepsOfSubfolders) {
  const TempFolder folder;
  {
    SummaryWriter writer(folder.str());
    for (int step = 0; step < 10; ++step) writer.add_scalars("loss", {{"train", 1}}, step);
  }
  SummaryWriter writer(SummaryWriterOptions().log_dir(folder.str()).purge_step(6));
  writer.add_scalars("loss", {{"train", 1}}, 6);
  writer.close();
  writer.add_scalars("loss", {{"train", 1}}, 7);  // must not hide step 6
  writer.close();
  std::vector<int64_t> starts;
  for (const LoggedEvent& event : events_in(folder.path("loss_train")))
    if (event.fields.has(7)) starts.push_back(event.step);
  EXPECT_EQ(starts, std::vector<int64_t>{6});
}

TEST(Writing, ThreadsMayCloseAWriterAtOnce) {
  const TempFolder folder;
  SummaryWriter writer(folder.str());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < 300; ++i)
        if (t < 2)
          writer.close();
        else
          writer.add_scalar(t == 2 ? "a" : "b", i, i);
    });
  for (std::thread& thread : threads) thread.join();
  writer.close();
  EXPECT_EQ(values_in(folder.str()).size(), 600u);
}

TEST(Writing, AFileOfTheSameNameIsKept) {
  const TempFolder folder;
  { const SummaryWriter first(folder.str()); }
  // Takes the names events.out.tfevents.<seconds>.<host>.<process>.<number> that the next file can
  // get.
  const std::string name = event_files(folder.str()).at(0);
  const size_t last_dot = name.rfind('.'), begin = name.find("tfevents.") + 9, end = begin + 10;
  const int64_t seconds = std::stoll(name.substr(begin, end - begin));
  for (int64_t later = 0; later < 20; ++later)
    write_bytes(name.substr(0, begin) + std::to_string(seconds + later) +
                    name.substr(end, last_dot - end) + "." +
                    std::to_string(std::stoi(name.substr(last_dot + 1)) + 1),
                "");
  const Warnings warnings;
  {
    SummaryWriter second(folder.str());
    second.add_scalar("a", 1);
  }
  EXPECT_TRUE(warnings.said().empty());
  EXPECT_EQ(values_in(folder.str()).size(), 1u);
}

/// Uses the parent's writer in a child process; returns the number of the child's warnings,
/// or 100 if none says that the process was forked.
size_t use_in_child(SummaryWriter writer) {
  const Warnings warnings;
  writer.add_scalar("child", 1);
  writer.add_scalar("child", 2);
  writer.flush();
  writer.close();
  return Warnings::contains("forked") ? warnings.said().size() : 100;
}

TEST(Writing, AForkedChildDoesNotWaitForTheParentsThread) {
  const TempFolder folder;
  SummaryWriter writer(folder.str());
  writer.add_scalar("parent", 1);
  writer.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);  // ends a child that hangs
    ::_exit(static_cast<int>(use_in_child(std::move(writer))));
  }
  const int status = status_of(child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  writer.add_scalar("parent", 2);
  writer.flush();
  EXPECT_EQ(values_in(folder.str(), "parent").size(), 2u);
  EXPECT_EQ(values_in(folder.str(), "child").size(), 0u);
}

TEST(Writing, StepsThatGoBackGiveOneWarning) {
  const TempFolder folder;
  const Warnings warnings;
  SummaryWriter writer(folder.str());
  for (const int64_t step : {5, 5, 7}) writer.add_scalar("a", 1, step);
  writer.add_scalar("b", 1, 1);
  writer.add_scalars("a", {{"x", 1}}, 2);
  EXPECT_TRUE(warnings.said().empty());
  writer.add_scalar("a", 1, 3);
  writer.add_scalar("b", 1, 0);
  writer.add_scalar("b", 1, -1);
  writer.flush();
  ASSERT_EQ(warnings.said().size(), 1u);
  EXPECT_TRUE(Warnings::contains("the step of 'a' goes back from 7 to 3"));
  EXPECT_EQ(values_in(folder.str()).size(), 7u);
}

TEST(Writing, RecordsKeepTheOrderOfTheCalls) {
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
