// hearth train under a launcher when a machine is lost or the disk is full.
#include <csignal>
#include <fstream>
#include <iostream>

#include "tests/cli/launch_site.h"
#include "tests/cli/train_processes.h"
#include "tests/support/small_disk.h"

namespace hearth::testing {
namespace {

class TrainFaults : public ProcessesTest {};

/// A script for `sh -c` that appends its process id to $FILE.$GROUP_RANK and becomes hearth train.
std::string recorded_run(const Arguments& arguments) {
  std::string script = "echo $$ >> $FILE.$GROUP_RANK; exec " HEARTH_PROGRAM;
  for (const std::string& argument : arguments) script += " '" + argument + "'";
  return script;
}

pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string word; file >> word;)
    if (pid_t parent; word == "PPid:" && file >> parent) return parent;
  return 0;
}

/// Waits until the program's stderr has the text; returns the seconds that this took.
double seconds_until(const Program& program, const std::string& text) {
  return seconds_of([&] {
    EXPECT_TRUE(comes_true([&] { return program.err().find(text) != std::string::npos; }))
        << program.err();
  });
}

TEST_F(TrainFaults, AfterAMachineIsLostTheJobContinuesOnTheOthers) {
  const Site site(kThreeHosts);
  const Arguments changes{"--epochs", "12", "--limit", "400", "--batch-size", "4"};
  const std::string out = path("out");
  Program program(site.line(recorded_run(small_run(out, changes)),
                            {"--nnodes", "1:3", "--max-restarts", "1", "--no-prefix"}),
                  site.environment());
  wait_for_epochs(out, 2);
  // The machine's agent dies, and its address refuses connections.
  write_bytes(site.gone, "127.0.0.3\n");
  const std::vector<pid_t> ranks = processes_in(site.record + ".2");
  ASSERT_EQ(ranks.size(), 1U);
  ::kill(parent_of(ranks[0]), SIGKILL);
  std::cout << "a lost machine: noticed after " << seconds_until(program, "so all ranks were ended")
            << " s\n";
  const RunResult ran = program.wait();
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string note =
      "hearth: continuing without the machines that cannot be reached: "
      "127.0.0.3\n";
  const size_t cut = ran.err.find(note);
  ASSERT_NE(cut, std::string::npos) << ran.err;
  EXPECT_NE(ran.err.substr(0, cut).find(" 3 processes"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.substr(cut).find(" 2 processes"), std::string::npos) << ran.err;
  EXPECT_TRUE(all_gone(ranks));

  // The same by hand: three processes up to that epoch, then two.
  const size_t epochs = count_of(ran.err.substr(0, cut), "/12  loss");
  ASSERT_GE(epochs, 2U);
  ASSERT_LT(epochs, 12U);
  EXPECT_EQ(count_of(ran.err, "/12  loss"), 12U) << ran.err;
  const std::string by_hand = path("by_hand");
  Arguments first = changes;
  first[1] = std::to_string(epochs);
  ASSERT_EQ(run(launched(small_run(by_hand, first), "3"), kOneThread).status, 0);
  ASSERT_EQ(run(launched({"train", "--resume", by_hand, "--epochs", "12"}), kOneThread).status, 0);
  expect_same_files(out, by_hand);
}

TEST_F(TrainFaults, TheCheckpointSurvivesAFullDisk) {
  const SmallDisk disk("16m");
  if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
  const Arguments changes{"--epochs", "12", "--limit", "400", "--batch-size", "4"};
  const std::string out = disk.path("out");
  Program program(launched(small_run(out, changes)), kOneThread);
  wait_for_epochs(out, 2);
  disk.fill();
  const double seconds = seconds_until(program, "No space left on device");
  const RunResult ran = program.wait();
  std::cout << "a full disk: noticed after " << seconds << " s\n";
  expect_failure(ran, 1, "rank 0 on ");
  EXPECT_NE(ran.err.find("To resume from the last checkpoint: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("'" + out + "/"), std::string::npos) << ran.err;  // names the file
  disk.make_space();
  ASSERT_EQ(run(launched({"train", "--resume", out}), kOneThread).status, 0);
  const std::string whole = path("whole");
  ASSERT_EQ(run(launched(small_run(whole, changes)), kOneThread).status, 0);
  expect_same_files(out, whole);
}

}  // namespace
}  // namespace hearth::testing
