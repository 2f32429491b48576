// hearth launch: signals, and processes that must not be left behind.
#include "tests/cli/launch_support.h"

namespace hearth::testing {
namespace {

/// A launcher whose script has written `count` process ids to a file.
struct Running {
  TempFolder folder;
  std::string file = folder.path("file");
  Program program;

  Running(std::vector<std::string> flags, const std::string& script, size_t count)
      : program(launch_line(std::move(flags), script), clean_environment({"FILE=" + file})) {
    EXPECT_TRUE(comes_true([&] { return processes_in(file).size() >= count; })) << program.err();
  }
};

TEST(LaunchSignals, AreForwardedToRanksAndTheirChildren) {
  for (const auto& [signal, name] :
       {std::pair(SIGINT, "INT"), std::pair(SIGTERM, "TERM"), std::pair(SIGHUP, "HUP")}) {
    // The child of a rank gets the signal, too. The rank's trap runs when its child has ended.
    const std::string trap = std::string("trap 'echo rank $RANK; exit 0' ") + name;
    const std::string script = trap + "; echo $$ >> $FILE; sh -c \"trap 'echo child; exit 0' " +
                               name + "; echo \\$\\$ >> $FILE; while :; do sleep 0.01; done\"";
    Running running({"--nproc-per-node", "2"}, script, 4);
    running.program.kill(signal);
    const RunResult ran = running.program.wait();
    EXPECT_EQ(ran.status, 128 + signal) << ran.err;
    EXPECT_EQ(sorted_lines(ran.out),
              (std::vector<std::string>{"[rank 0] child", "[rank 0] rank 0", "[rank 1] child",
                                        "[rank 1] rank 1"}));
    // Before this line, the shell may print that its `sleep` was terminated.
    EXPECT_TRUE(ran.err.ends_with(std::string("hearth: stopped by SIG") + name + "\n")) << ran.err;
    EXPECT_TRUE(all_gone(processes_in(running.file)));
  }
}

TEST(LaunchSignals, UserSignalsDoNotEndTheRanks) {
  Running running(
      {}, "trap 'echo got it; exit 0' USR1; echo $$ > $FILE; while :; do sleep 0.01; done", 1);
  running.program.kill(SIGUSR1);
  const RunResult ran = running.program.wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "[rank 0] got it\n");
}

TEST(LaunchSignals, IgnoringRanksAreKilledAfterTheGracePeriod) {
  Running running({"--nproc-per-node", "2", "--shutdown-timeout", "1"},
                  "trap '' TERM; echo $$ >> $FILE; while :; do sleep 0.01; done", 2);
  const double seconds = seconds_of([&] {
    running.program.kill(SIGTERM);
    EXPECT_EQ(running.program.wait().status, 128 + SIGTERM);
  });
  EXPECT_GT(seconds, 0.9);
  EXPECT_LT(seconds, 15);
  EXPECT_TRUE(all_gone(processes_in(running.file)));
}

TEST(LaunchSignals, ThirdSignalKillsAtOnce) {
  Running running({}, "trap '' INT; echo $$ >> $FILE; while :; do sleep 0.01; done", 1);
  for (int i = 0; i < 3; ++i) {
    running.program.kill(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const double seconds =
      seconds_of([&] { EXPECT_EQ(running.program.wait().status, 128 + SIGINT); });
  EXPECT_LT(seconds, 15);
}

TEST(LaunchSignals, StoppedRanksEnd) {
  Running running({"--nproc-per-node", "2"},
                  "echo $$ >> $FILE; [ $RANK = 0 ] && kill -STOP $$; exec sleep 60", 2);
  const double seconds = seconds_of([&] {
    running.program.kill(SIGTERM);
    EXPECT_EQ(running.program.wait().status, 128 + SIGTERM);
  });
  EXPECT_LT(seconds, 15);
}

TEST(LaunchSignals, KilledLauncherLeavesNoProcess) {
  Running running({"--nproc-per-node", "2"},
                  "trap '' TERM HUP; sleep 60 & echo $! >> $FILE; "
                  "sh -c 'trap \"\" TERM HUP; echo $$ >> $FILE; sleep 60; :' & "
                  "echo $$ >> $FILE; wait",
                  6);
  const std::vector<pid_t> processes = processes_in(running.file);
  for (const pid_t process : processes) EXPECT_TRUE(is_running(process));
  running.program.kill(SIGKILL);
  EXPECT_EQ(running.program.wait().status, -SIGKILL);
  EXPECT_TRUE(comes_true([&] { return all_gone(processes); }));
}

TEST(LaunchSignals, ChildrenOfARankEndWithIt) {
  const TempFolder folder;
  const std::string file = folder.path("file");
  const RunResult ran =
      launch({}, "sleep 60 & echo $! > $FILE", clean_environment({"FILE=" + file}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  ASSERT_EQ(processes_in(file).size(), 1U);
  EXPECT_TRUE(comes_true([&] { return all_gone(processes_in(file)); }));
}

TEST(LaunchSignals, RanksAreNotRestartedAfterASignal) {
  Running running({"--max-restarts", "5"}, "echo $$ >> $FILE; exec sleep 60", 1);
  running.program.kill(SIGTERM);
  const RunResult ran = running.program.wait();
  EXPECT_EQ(ran.status, 128 + SIGTERM);
  EXPECT_EQ(processes_in(running.file).size(), 1U);
  EXPECT_EQ(ran.err, "hearth: stopped by SIGTERM\n");
}

}  // namespace
}  // namespace hearth::testing
