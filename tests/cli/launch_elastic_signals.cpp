// hearth launch --nnodes MIN:MAX: signals of the user, and ranks that need time to end.
#include <filesystem>

#include "tests/cli/launch_elastic.h"

namespace hearth::testing {
namespace {

TEST_F(Elastic, AStoppedLauncherLeavesTheJob) {
  const std::vector<std::string> flags{"--nnodes", "1:2", "--max-restarts", "1"};
  const auto host = start("host", flags);
  ASSERT_TRUE(comes_true([&] { return !lines_of("host").empty(); }));
  const auto second = start("second", flags);
  ASSERT_TRUE(notes("second", "1 1 2 1 2"));
  second->kill(SIGINT);
  EXPECT_EQ(second->wait().status, 130);
  EXPECT_TRUE(notes("host", "2 0 1 0 1"));
  go();
  EXPECT_EQ(host->wait().status, 0);
}

constexpr const char* kForever = "while :; do sleep 0.02; done";

/// Runs these commands at the first SIGINT or SIGTERM, and ignores later ones.
std::string at_signal(const std::string& commands) {
  return "trap \"trap '' INT TERM; " + commands + "\" INT TERM; ";
}

TEST_F(Elastic, ASignalOfTheUserEndsTheJobThoughOtherRanksFail) {
  // As in a training, the ranks of both machines stop together, and one of them takes longer.
  const std::vector<std::string> flags{"--nnodes", "2:2", "--max-restarts", "3"};
  const auto host = start("host", flags, kForever, {},
                          at_signal("touch " + path("stop") + "; sleep 2; exit 130"));
  await_host();
  const auto second =
      start("second", flags, "while [ ! -e " + path("stop") + " ]; do sleep 0.02; done; exit 130");
  ASSERT_TRUE(notes("host", "0 0 2 0 2"));
  ASSERT_TRUE(notes("second", "0 1 2 1 2"));
  host->kill(SIGINT);
  const RunResult ran = host->wait(), other = second->wait();
  EXPECT_EQ(ran.status, 130) << ran.err;
  EXPECT_NE(ran.err.find("hearth: stopped by SIGINT\n"), std::string::npos) << ran.err;
  EXPECT_EQ(other.status, 255) << other.err;
  EXPECT_EQ(lines_of("host").size(), 1U);
  EXPECT_EQ(lines_of("second").size(), 1U);
}

TEST_F(Elastic, ASignalOfTheUserCountsWhileTheRanksAreEnded) {
  const std::vector<std::string> flags{"--nnodes", "2:2", "--max-restarts", "3"};
  const auto host = start("host", flags, kForever, {},
                          at_signal("touch " + path("ending") + "; sleep 1; exit 1"));
  await_host();
  const auto second =
      start("second", flags, "while [ ! -e " + path("host") + " ]; do sleep 0.02; done; exit 3");
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path("ending")); }));
  host->kill(SIGINT);
  const RunResult ran = host->wait();
  EXPECT_EQ(ran.status, 130) << ran.err;
  EXPECT_EQ(second->wait().status, 255);
  EXPECT_EQ(lines_of("host").size(), 1U);
}

TEST_F(Elastic, RanksThatAreSavingHaveTheirTime) {
  for (const bool is_host_first : {true, false}) {
    const std::string name = is_host_first ? "first" : "last", saved = path("saved-" + name);
    const auto host = start("host-" + name, {"--nnodes", "2:2"});
    await_host();
    const auto second = start("second-" + name, {"--nnodes", "2:2"}, kForever, {},
                              at_signal("sleep 1.5; touch " + saved + "; exit 0"));
    ASSERT_TRUE(notes("host-" + name, "0 0 2 0 2"));
    ASSERT_TRUE(notes("second-" + name, "0 1 2 1 2"));
    // The second launcher gets a signal too, and notices that the host ends and is disconnected.
    if (!is_host_first) second->kill(SIGTERM);
    host->kill(SIGTERM);
    EXPECT_EQ(host->wait().status, 143);
    if (is_host_first) second->kill(SIGTERM);
    const RunResult ran = second->wait();
    EXPECT_EQ(ran.status, 143) << ran.err;
    EXPECT_TRUE(std::filesystem::exists(saved)) << ran.err;
  }
}

TEST_F(Elastic, TheFirstSignalOfTheUserDoesNotReachRanksThatEnd) {
  // A training saves after one signal, and ends without saving at the second.
  const auto host = start("host", {"--nnodes", "2:2"});
  await_host();
  const std::string counts =
      "trap 'echo $(($(cat " + path("count") + ")+1)) > " + path("count") + "' INT TERM; ";
  write_bytes(path("count"), "0");
  const auto second = start("second", {"--nnodes", "2:2"}, "", {}, counts);
  const auto has_count = [&](const std::string& count) {
    return comes_true([&] { return bytes_of(path("count")) == count + "\n"; });
  };
  ASSERT_TRUE(notes("second", "0 1 2 1 2"));
  host->kill(SIGTERM);
  EXPECT_EQ(host->wait().status, 143);
  EXPECT_TRUE(has_count("1"));
  second->kill(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(has_count("1"));
  second->kill(SIGTERM);
  EXPECT_TRUE(has_count("2"));
  go();
  EXPECT_EQ(second->wait().status, 143);
}

}  // namespace
}  // namespace hearth::testing
