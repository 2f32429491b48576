// hearth launch --cluster: connections that break or are silent, machines that cannot be reached.
#include "apps/hearth/launch/protocol.h"
#include "tests/cli/launch_site.h"

namespace hearth::testing {
namespace {

TEST(LaunchLinks, LongLinesArriveWhole) {
  const Site site("[[host]]\naddress = \"127.0.0.1\"\n");
  const RunResult ran =
      site.launch("head -c 9000000 /dev/zero | tr '\\0' x; echo", {"--no-prefix"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), 'x'), 9'000'000);
}

TEST(LaunchLinks, SilentConnectionIsCut) {
  const TempFolder folder;
  const std::string relays = folder.path("relays");
  RunningCluster running("echo $$ >> $FILE; exec sleep 60", {"--heartbeat-timeout", "1"},
                         {"SSH_RELAY=" + relays});
  const std::vector<pid_t> processes = processes_in(relays);
  ASSERT_EQ(processes.size(), 4U);
  // More than the time-out without output is no reason to end.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(running.program.err(), "");
  for (const pid_t process : processes) ::kill(process, SIGSTOP);
  RunResult ran;
  EXPECT_LT(seconds_of([&] { ran = running.program.wait(); }), 15);
  EXPECT_EQ(ran.status, 255) << ran.err;
  EXPECT_NE(ran.err.find("hearth: the connection to "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("    hearth: nothing was heard from this machine for 1 s\n"),
            std::string::npos)
      << ran.err;
  EXPECT_TRUE(comes_true([&] { return all_gone(processes_in(running.site.record)); }));
}

TEST(LaunchLinks, MachineThatNeverAnswersIsSaidToBeSilent) {
  const Site site("[[host]]\naddress = \"127.0.0.5\"\n");
  RunResult ran;
  EXPECT_LT(seconds_of([&] { ran = site.launch("true", {"--heartbeat-timeout", "1"}); }), 15);
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_NE(
      ran.err.find("\n  127.0.0.5: nothing was heard from it for 1 s (--heartbeat-timeout)\n"),
      std::string::npos)
      << ran.err;
}

/// An agent that gets a question, a task, `lines` and, when both ranks have written to the file
/// `record`, `later`; then nothing more.
struct LoneAgent {
  TempFolder folder;
  std::string record = folder.path("record"), output = folder.path("output");
  int status = -1;
  double seconds = 0;

  LoneAgent(const std::string& timeout, const std::string& lines,
            const std::string& script = "echo $$ >> record; exec sleep 60",
            const std::string& later = "") {
    app::Question question;
    question.program = "sh";
    question.processes = "2";
    question.master_addr = "127.0.0.1";
    app::Task task;
    task.job.command = {"sh", "-c", script};
    task.job.local_size = task.job.world_size = 2;
    task.grace = 30;
    write_bytes(folder.path("lines"), encode(question) + "\n" + encode(task) + "\n" + lines);
    write_bytes(folder.path("later"), later);
    write_bytes(record, "");
    const std::string append =
        "(for i in $(seq 500); do [ $(wc -l < record) = 2 ] && break; sleep 0.02; done; "
        "cat later >&9) &\n";
    const std::string command =
        "cd " + folder.str() + " && mkfifo in && exec 9<>in && cat lines >&9 || exit\n" +
        (later.empty() ? "" : append) +
        "exec " HEARTH_PROGRAM " launch --agent --heartbeat-timeout " + timeout + " <&9 >" + output;
    seconds = seconds_of([&] { status = std::system(command.c_str()); });
  }
};

TEST(LaunchLinks, AgentWithoutLauncherEndsItsRanks) {
  const LoneAgent agent("1", "");
  EXPECT_EQ(agent.status, 0);
  EXPECT_LT(agent.seconds, 15);
  EXPECT_EQ(processes_in(agent.record).size(), 2U);
  EXPECT_TRUE(all_gone(processes_in(agent.record)));
}

TEST(LaunchLinks, SignalThatArrivesWithTheTaskEndsTheRanks) {
  const LoneAgent agent("600", app::signal_line(SIGINT) + "\n");
  EXPECT_EQ(agent.status, 0);
  EXPECT_LT(agent.seconds, 15);
  EXPECT_TRUE(bytes_of(agent.output)
                  .ends_with("\x1e"
                             "d\n"));
}

TEST(LaunchLinks, LossOfTheLauncherIsNoSecondSignalOfTheUser) {
  // At a second signal, a training would end without saving.
  const LoneAgent agent("1", "",
                        "trap 'echo $RANK >> signals' INT TERM; echo $$ >> record; i=0; "
                        "while [ $i -lt 150 ]; do sleep 0.02; i=$((i+1)); done",
                        app::signal_line(SIGINT) + "\n");
  EXPECT_EQ(agent.status, 0);
  EXPECT_GT(agent.seconds, 2);
  EXPECT_EQ(sorted_lines(bytes_of(agent.folder.path("signals"))),
            (std::vector<std::string>{"0", "1"}));
}

/// A launch on two machines; the second one answers the question with `answer`.
RunResult with_answer(const app::Answer& answer) {
  const Site site(R"(
[[host]]
address = "localhost"
[[host]]
name = "other"
address = "127.0.0.6"
)");
  std::vector<std::string> environment = site.environment();
  environment.push_back("SSH_ANSWER=" + encode(answer));
  return run(site.line("echo started"), environment);
}

TEST(LaunchLinks, MasterWhoseNameMeansDifferentAddressesIsRefused) {
  app::Answer answer;
  answer.version = app::kVersion;
  answer.master_addresses = {"192.0.2.7"};
  const RunResult ran = with_answer(answer);
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("\n  other (127.0.0.6): 'localhost' is 192.0.2.7 here, but rank 0 on "
                         "localhost listens on "),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("; use an address in place of the name\n"), std::string::npos);
}

TEST(LaunchLinks, ProgramsThatDifferAreNamed) {
  app::Answer answer;
  answer.version = app::kVersion;
  answer.processes = 1;
  answer.master_addresses = {"::1", "127.0.0.1"};
  answer.program = "another";
  const RunResult ran = with_answer(answer);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "[rank 0] started\n");
  EXPECT_EQ(ran.err, "hearth: the program 'sh' on other differs from that on localhost\n");
}

pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string word; file >> word;)
    if (pid_t parent; word == "PPid:" && file >> parent) return parent;
  return 0;
}

TEST(LaunchLinks, AgentThatIsStoppedOnItsMachineIsAFailure) {
  RunningCluster running("echo $$ >> $FILE; exec sleep 60");
  const pid_t agent = parent_of(processes_in(running.site.record)[0]);
  ASSERT_GT(agent, 1);
  RunResult ran;
  EXPECT_LT(seconds_of([&] {
              ::kill(agent, SIGTERM);
              ran = running.program.wait();
            }),
            15);
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("hearth: hearth launch on "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("    hearth: stopped by SIGTERM on this machine\n"), std::string::npos)
      << ran.err;
  EXPECT_TRUE(all_gone(processes_in(running.site.record)));
}

TEST(LaunchLinks, MachinesThatCannotBeReachedAreLeftOut) {
  const Site site(kThreeHosts);
  const std::string script = "echo $RANK/$WORLD_SIZE at $MASTER_ADDR";
  using Lines = std::vector<std::string>;
  EXPECT_EQ(sorted_lines(site.launch(script, {"--nnodes", "2"}).out),
            (Lines{"[rank 0] 0/2 at 127.0.0.1", "[rank 1] 1/2 at 127.0.0.1"}));
  write_bytes(site.gone, "127.0.0.1\n");
  const RunResult ran = site.launch(script, {"--nnodes", "2:3"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(sorted_lines(ran.out),
            (Lines{"[rank 0] 0/2 at 127.0.0.2", "[rank 1] 1/2 at 127.0.0.2"}));
  EXPECT_EQ(ran.err, "hearth: continuing without the machines that cannot be reached: 127.0.0.1\n");
  write_bytes(site.gone, "127.0.0.1\n127.0.0.3\n");
  const RunResult refused = site.launch(script, {"--nnodes", "2:3"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.out, "");
  for (const char* address : {"\n  127.0.0.1: cannot connect", "\n  127.0.0.3: cannot connect"})
    EXPECT_NE(refused.err.find(address), std::string::npos) << refused.err;
}

TEST(LaunchLinks, RestartContinuesOnTheRemainingMachines) {
  const Site site(kThreeHosts);
  const RunResult ran = site.launch(
      "[ $HEARTH_RESTART_COUNT = 1 ] && { echo $RANK/$WORLD_SIZE; exit; }; "
      "[ $RANK = 1 ] || exec sleep 60; echo 127.0.0.2 > $SSH_GONE; exit 3",
      {"--nnodes", "1:3", "--max-restarts", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(sorted_lines(ran.out), (std::vector<std::string>{"[rank 0] 0/2", "[rank 1] 1/2"}));
}

TEST(LaunchLinks, RestartWaitsForAMachineThatIsNotReady) {
  const Site site;
  Program program(site.line("[ $HEARTH_RESTART_COUNT = 0 ] || exit 0; [ $RANK = 2 ] || exec sleep "
                            "60; echo 127.0.0.2 > $SSH_GONE; exit 3",
                            {"--max-restarts", "3", "--heartbeat-timeout", "1"}),
                  site.environment());
  const std::string refusal = "beta (127.0.0.2): cannot connect";
  EXPECT_TRUE(comes_true([&] { return program.err().find(refusal) != std::string::npos; }));
  std::filesystem::remove(site.gone);
  const RunResult ran = program.wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("(restart 2 of 3)\n"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace hearth::testing
