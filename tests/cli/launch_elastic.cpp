// hearth launch --nnodes MIN:MAX: machines that meet, join, are lost, fail or are refused.
#include <fcntl.h>

#include <set>

#include "apps/hearth/launch/address.h"
#include "apps/hearth/launch/protocol.h"
#include "apps/hearth/launch/rendezvous_host.h"
#include "tests/cli/launch_elastic.h"
#include "tests/cli/train_processes.h"

namespace hearth::testing {
namespace {

TEST_F(Elastic, LaunchersShareTheRanks) {
  // All ranks print the same line, except for its last two numbers.
  const std::string script =
      "echo $MASTER_ADDR $MASTER_PORT $HEARTH_RDZV_TOKEN "
      "$TORCHELASTIC_RUN_ID $HEARTH_LAUNCH_ID $LOCAL_RANK $LOCAL_WORLD_SIZE";
  const auto host = start("host", {"--nnodes", "2:2", "--nproc-per-node", "2"}, script);
  await_host();
  const auto other = start("other", {"--nnodes", "2:2"}, script);
  const RunResult first = host->wait(), second = other->wait();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.status, 0) << second.err;
  // The launcher that hosts the rendezvous has rank 0.
  EXPECT_EQ(lines_of("host"), (std::vector<std::string>{"0 0 3 0 2", "0 1 3 0 2"}));
  EXPECT_EQ(lines_of("other"), std::vector<std::string>{"0 2 3 1 2"});
  // Address, port, token, name of the job and id of the launch are the same.
  std::set<std::string> shared;
  std::istringstream lines(first.out + second.out);
  for (std::string line; std::getline(lines, line);) shared.insert(line.substr(0, line.size() - 4));
  ASSERT_EQ(shared.size(), 1U) << first.out << second.out;
  EXPECT_EQ(shared.begin()->find("127.0.0.1 "), 0U);
  // The token, the name and the id have 32 characters each.
  EXPECT_GT(shared.begin()->size(), 3 * 32U) << *shared.begin();
}

TEST_F(Elastic, ALauncherThatComesWhenTheJobHasEndedIsToldSo) {
  using Kind = app::RendezvousMessage::Kind;
  app::EventLoop loop;
  std::string problem;
  const int listener = app::open_listener("127.0.0.1", std::stoi(own_port()), problem);
  ASSERT_GE(listener, 0) << problem;
  app::RendezvousHost::Settings settings;
  settings.heartbeat_timeout = std::chrono::seconds(20);
  app::RendezvousHost host(loop, listener, settings);
  host.quit(7, "the reason");
  const int file = connect_to_host();
  ASSERT_GE(file, 0);
  fcntl(file, F_SETFL, O_NONBLOCK);
  app::RendezvousMessage answer;
  app::RendezvousLink link(
      loop, file, settings.heartbeat_timeout,
      {[&](const app::RendezvousMessage& message) { answer = message; }, [] {}});
  app::RendezvousMessage hello;
  hello.kind = Kind::kHello;
  hello.version = app::kVersion;
  hello.processes = 1;
  link.send(hello);
  const auto end = app::EventLoop::Clock::now() + std::chrono::seconds(3);
  while (answer.kind == Kind::kNone && app::EventLoop::Clock::now() < end) loop.run_once(end);
  EXPECT_EQ(answer.kind, Kind::kQuit);
  EXPECT_EQ(answer.status, 7);
  EXPECT_EQ(answer.text, "the reason");
}

TEST_F(Elastic, TheLeastNumberOfMachinesStartsAfterAShortWait) {
  const auto host = start("host", {"--nnodes", "1:2"}, "true");
  RunResult ran;
  const double seconds = seconds_of([&] { ran = host->wait(); });
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(lines_of("host"), std::vector<std::string>{"0 0 1 0 1"});
  EXPECT_GT(seconds, 2.5);
  EXPECT_LT(seconds, 8);
}

TEST_F(Elastic, ALostMachineMakesTheOthersStartAgain) {
  const std::vector<std::string> flags{"--nnodes", "2:3", "--max-restarts", "1"};
  const auto host = start("host", flags);
  await_host();
  auto second = start("second", flags), third = start("third", flags);
  ASSERT_TRUE(notes("host", "0 0 3 0 3"));
  ASSERT_TRUE(notes("second", "0 1 3 1 3") || notes("second", "0 2 3 2 3"));
  ASSERT_TRUE(comes_true([&] { return processes_of("third").size() == 1; }));
  third->kill(SIGKILL);
  third->wait();
  EXPECT_TRUE(notes("host", "1 0 2 0 2"));
  EXPECT_TRUE(notes("second", "1 1 2 1 2"));
  EXPECT_TRUE(all_gone(processes_of("third")));
  go();
  const RunResult ran = host->wait(), other = second->wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(other.status, 0) << other.err;
  for (const RunResult& result : {ran, other})
    EXPECT_NE(result.err.find(" was lost (restart 1 of 1), 2 machines, 2 ranks\n"),
              std::string::npos)
        << result.err;
}

TEST_F(Elastic, AMachineThatJoinsMakesTheRanksStartAgain) {
  const std::vector<std::string> flags{"--nnodes", "1:3"};
  const auto host = start("host", flags);
  ASSERT_TRUE(notes("host", "0 0 1 0 1"));
  const auto second = start("second", flags);
  EXPECT_TRUE(notes("host", "1 0 2 0 2"));
  EXPECT_TRUE(notes("second", "1 1 2 1 2"));
  // Joining is no failure, so it does not count as a restart.
  const auto third = start("third", flags);
  EXPECT_TRUE(notes("third", "2 2 3 2 3"));
  go();
  for (const auto* launcher : {&host, &second, &third}) {
    const RunResult ran = (*launcher)->wait();
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  EXPECT_NE(host->err().find("hearth: all ranks are started again: 1 machine joined, 3 machines"),
            std::string::npos)
      << host->err();
}

TEST_F(Elastic, SurplusMachinesWaitForAPlace) {
  const std::vector<std::string> flags{"--nnodes", "1:1", "--max-restarts", "1"};
  const auto host = start("host", {"--nnodes", "2:2", "--max-restarts", "1"});
  await_host();
  const auto second = start("second", flags);
  ASSERT_TRUE(notes("second", "0 1 2 1 2"));
  const auto spare = start("spare", flags);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_TRUE(lines_of("spare").empty());
  second->kill(SIGKILL);
  EXPECT_TRUE(notes("spare", "1 1 2 1 2"));
  go();
  const RunResult ran = host->wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(spare->wait().status, 0);
}

TEST_F(Elastic, FailuresCountAndEndTheJob) {
  const std::vector<std::string> flags{"--nnodes", "2:2", "--max-restarts", "1"};
  const auto host = start("host", flags);
  const auto second = start("second", flags, "sleep 0.3; echo broken >&2; exit 3");
  const RunResult ran = host->wait(), failed = second->wait();
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_EQ(failed.status, 3) << failed.err;
  EXPECT_EQ(lines_of("host").size(), 2U);
  EXPECT_EQ(lines_of("second").size(), 2U);
  EXPECT_NE(ran.err.find(" failed with exit code 3 (restart 1 of 1), 2 machines, 2 ranks\n"),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find(" failed with exit code 3, so all ranks were ended\n"), std::string::npos)
      << ran.err;
  EXPECT_NE(failed.err.find("    broken\n"), std::string::npos) << failed.err;
  EXPECT_TRUE(all_gone(processes_of("host")));
}

TEST_F(Elastic, TheEndOfTheHostEndsTheJob) {
  const std::vector<std::string> flags{"--nnodes", "2:2", "--max-restarts", "5"};
  for (const int signal : {SIGKILL, SIGINT}) {
    const std::string name = std::to_string(signal);
    const auto host = start("host" + name, flags);
    await_host();
    const auto second = start("second" + name, flags);
    ASSERT_TRUE(notes("host" + name, "0 0 2 0 2"));
    ASSERT_TRUE(notes("second" + name, "0 1 2 1 2"));
    host->kill(signal);
    EXPECT_EQ(host->wait().status, signal == SIGINT ? 130 : -SIGKILL);
    const RunResult ran = second->wait();
    EXPECT_EQ(ran.status, 255) << ran.err;
    EXPECT_NE(ran.err.find(signal == SIGINT ? "hearth: the launcher at 127.0.0.1 has ended\n"
                                            : " was lost, so all ranks were ended\n"),
              std::string::npos)
        << ran.err;
    EXPECT_TRUE(all_gone(processes_of("second" + name)));
    EXPECT_TRUE(comes_true([&] { return all_gone(processes_of("host" + name)); }));
  }
}

TEST_F(Elastic, StrangersAreRefused) {
  const std::vector<std::string> flags{"--nnodes", "2:2"};
  const auto host = start("host", flags, "true", {"HEARTH_RDZV_TOKEN=sesame"});
  await_host();
  const RunResult wrong = start("wrong", flags, "true", {"HEARTH_RDZV_TOKEN=thirst"})->wait();
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("hearth: the launcher at " + endpoint() +
                           " refused this one: the token is wrong; "),
            std::string::npos)
      << wrong.err;
  app::RendezvousMessage old;
  old.kind = app::RendezvousMessage::Kind::kHello;
  old.token = "sesame";
  old.version = "0.0.1";
  old.processes = 1;
  std::vector<int> sockets;
  for (const std::string& text :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(1 << 20, 'x'), std::string("{}\n"),
        std::string("{\"kind\":1e99}\n"), std::string("[[[[\n"), encode(old) + "\n"}) {
    const int stranger = connect_to_host();
    ASSERT_GE(stranger, 0);
    (void)!send(stranger, text.data(), text.size(), MSG_NOSIGNAL);
    sockets.push_back(stranger);
  }
  char answer[4096] = "";
  EXPECT_GT(recv(sockets.back(), answer, sizeof answer - 1, 0), 0);
  EXPECT_NE(std::string(answer).find("this machine has 0.0.1; install"), std::string::npos);
  const auto second = start("second", flags, "true", {"HEARTH_RDZV_TOKEN=sesame"});
  const RunResult ran = host->wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(second->wait().status, 0);
  for (const int file : sockets) close(file);
}

TEST_F(Elastic, AnEndpointThatOtherMachinesCannotReachIsNoted) {
  const auto err_of = [&](const std::string& host, const std::string& range) {
    return run(launch_line({"--nnodes", range, "--rdzv-endpoint", host + ":" + own_port()}, "true"),
               clean_environment())
        .err;
  };
  const std::string rest =
      ", which other machines cannot reach; give --rdzv-endpoint an address of this machine that "
      "they reach\n";
  for (const char* host : {"127.0.0.1", "127.0.1.1"})
    EXPECT_EQ(err_of(host, "1:2"), std::string("hearth: the launchers meet at ") + host + rest);
  EXPECT_EQ(err_of("localhost", "1:2").find("hearth: the launchers meet at "), 0U);
  EXPECT_EQ(err_of("0.0.0.0", "1:2"), "");
  EXPECT_EQ(err_of("127.0.0.1", "1:1"), "");
}

TEST_F(Elastic, RanksKnowWhetherMachinesMayJoin) {
  const std::string script = "echo range:$HEARTH_NNODES";
  const auto out_of = [&](const std::string& range, const std::vector<std::string>& environment) {
    return start("host", {"--nnodes", range}, script, environment)->wait().out;
  };
  EXPECT_EQ(out_of("1:2", {}), "range:1:2\n");
  EXPECT_EQ(out_of("1:1", {}), "range:\n");
  // The variable of a launcher that started this one.
  EXPECT_EQ(out_of("1:1", {"HEARTH_NNODES=1:3"}), "range:\n");
}

TEST_F(Elastic, ATrainingThatMachinesMayJoinNeedsAFolder) {
  const std::string training = "cd " + folder_.str() +
                               " && exec " HEARTH_PROGRAM
                               " train --data synthetic --limit 100 --epochs 1 --model mlp";
  const auto run_on = [&](const std::string& range, const std::string& more) {
    return start("host", {"--nnodes", range}, training + more)->wait();
  };
  const RunResult nameless = run_on("1:2", "");
  EXPECT_EQ(nameless.status, 1);
  EXPECT_NE(nameless.err.find("(--max-restarts, --nnodes MIN:MAX) need --out FOLDER"),
            std::string::npos)
      << nameless.err;
  const RunResult ran = run_on("1:2", " --out out");
  EXPECT_EQ(ran.status, 0) << ran.err;
  // No machine can join this job.
  const RunResult fixed = run_on("1:1", "");
  EXPECT_EQ(fixed.status, 0) << fixed.err;
}

/// A training on two machines that goes on when one is lost.
TEST_F(Elastic, ATrainingContinuesWithoutALostMachine) {
  if (!distributed::is_gloo_available()) GTEST_SKIP() << distributed::why_no_gloo();
  const std::string out = path("out");
  Arguments line{
      "launch", "--no-prefix",     "--nnodes", "1:2", "--max-restarts", "1", "--shutdown-timeout",
      "2",      "--rdzv-endpoint", endpoint(), "--",  HEARTH_PROGRAM};
  const Arguments training = small_run(out, {"--epochs", "30", "--batch-size", "4"});
  line.insert(line.end(), training.begin(), training.end());
  Program host(line, clean_environment());
  await_host();
  Program second(line, clean_environment());
  ASSERT_NO_THROW(wait_for_epochs(out, 2)) << host.err();
  second.kill(SIGKILL);
  second.wait();
  const RunResult ran = host.wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("(restart 1 of 1), 1 machine, 1 rank"), std::string::npos) << ran.err;
  EXPECT_EQ(rows_of_csv(out + "/results.csv").size(), 30U);
}

}  // namespace
}  // namespace hearth::testing
