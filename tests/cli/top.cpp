// hearth top: jobs of several processes, trainings in a folder, and targets that are neither.
#include <pty.h>

#include <nlohmann/json.hpp>

#include "apps/hearth/top/job_source.h"
#include "apps/hearth/top/status_file.h"
#include "hearth/error.h"
#include "tests/cli/top.h"
#include "tests/cli/train_processes.h"
#include "tests/support/stranger.h"

namespace hearth::testing {
namespace {

using app::RankReport;
using Json = nlohmann::json;

/// The text with which a source's reports end, and the seconds until then.
std::pair<std::string, double> end_of(app::JobSource& source) {
  std::string text;
  const double seconds = seconds_of([&] {
    try {
      for (int i = 0; i < 1000; ++i) {
        source.look();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    } catch (const app::JobEnded& ended) {
      text = ended.what();
    }
  });
  return {text, seconds};
}

TEST(Top, SaysThatATrainingWasKilled) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  Program training(small_run(out, {"--epochs", "100000", "--batch-size", "4"}), kOneThread);
  ASSERT_TRUE(comes_true([&] { return run({"top", out}).status == 0; })) << training.err();
  ASSERT_NO_THROW(wait_for_epochs(out, 1));
  const auto source = app::open_job(out, "");
  // A stopped training is no dead one.
  training.kill(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(run({"top", out}).status, 0);
  EXPECT_EQ(source->look().size(), 1U);
  training.kill(SIGKILL);
  training.wait();
  const auto [text, seconds] = end_of(*source);
  EXPECT_EQ(text, "the training in '" + out + "' has ended (it was killed)");
  EXPECT_LT(seconds, 4);
  const std::string died =
      "nothing trains in '" + out + "': its training has ended (it was killed)";
  expect_failure(run({"top", out}), 1, died);

  Program next({"train", "--resume", out}, kOneThread);
  // After its first steps, it stops by SIGINT in an orderly way.
  EXPECT_TRUE(comes_true([&] {
    const RunResult ran = run({"top", out, "--json"});
    return ran.status == 0 && Json::parse(ran.out)["ranks"][0]["samples_per_second"].is_number();
  })) << next.err();
  next.kill(SIGINT);
  EXPECT_EQ(next.wait().status, 130);
  expect_failure(run({"top", out}), 1, "nothing trains in '" + out + "': its training has ended\n");
}

/// The store of a job with one rank, which has reported this.
std::unique_ptr<distributed::TCPStore> store_with(const std::string& report, uint16_t port) {
  distributed::TCPStoreOptions options;
  options.port = port;
  options.isServer = true;
  options.token = "sesame";
  auto store = std::make_unique<distributed::TCPStore>("127.0.0.1", options);
  if (report.empty()) return store;
  store->set("hearth/status/size", std::string("1"));
  store->set("hearth/status/0", report);
  return store;
}

TEST(Top, FollowsARestartAtTheSameAddress) {
  const auto port = static_cast<uint16_t>(std::stoi(own_port()));
  auto store = store_with("{\"step\":1}", port);
  const auto source = app::open_job("127.0.0.1:" + own_port(), "sesame");
  EXPECT_EQ(source->look().at(0).json, "{\"step\":1}");
  EXPECT_EQ(source->remark(), "");
  store->stop_server();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(source->look().at(0).json, "{\"step\":1}");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(source->remark().find("no answer for "), 0U) << source->remark();
  store = store_with("", port);  // its ranks have not met yet
  EXPECT_EQ(source->look().at(0).json, "{\"step\":1}");
  EXPECT_EQ(source->remark(), "");
  store->stop_server();
  store = store_with("{\"step\":2}", port);
  EXPECT_TRUE(comes_true([&] { return source->look().at(0).json == "{\"step\":2}"; }));
  store->stop_server();
  const auto [text, seconds] = end_of(*source);
  EXPECT_EQ(text,
            "the job at 127.0.0.1:" + own_port() + " has ended, or its rank 0 does not answer");
  EXPECT_NEAR(seconds, 10, 1.5);  // kPatience of job_source.cpp
}

TEST(Top, FollowsATrainingThatMayStartAgain) {
  const TempFolder folder;
  const std::string path = app::status_file_in(folder.str());
  const auto training_at = [&](const std::string& step) {
    const auto reports = [=] { return std::vector<std::string>{"{\"step\":" + step + "}"}; };
    return std::make_unique<app::StatusFile>(path, reports, /*may_start_again=*/true);
  };
  auto training = training_at("1");
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path); }));
  const auto source = app::open_job(folder.str(), "");
  EXPECT_EQ(source->look().at(0).json, "{\"step\":1}");
  EXPECT_EQ(source->remark(), "");
  training.reset();
  RankReport rank;
  for (int i = 0; i < 20; ++i) {
    rank = source->look().at(0);
    ASSERT_EQ(rank.json, "{\"step\":1}");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_GT(rank.age, 1.8);
  EXPECT_EQ(source->remark().find("no answer for "), 0U) << source->remark();
  training = training_at("2");
  EXPECT_TRUE(comes_true([&] { return source->look().at(0).json == "{\"step\":2}"; }));
  EXPECT_EQ(source->remark(), "");
  training.reset();
  write_bytes(path, left_status(R"(,"locked":true,"may_start_again":true)"));
  const auto [text, seconds] = end_of(*source);
  EXPECT_EQ(text, "the training in '" + folder.str() + "' has ended (it was killed)");
  EXPECT_NEAR(seconds, 11.5, 1.5);  // kPatience and kSecondLook of job_source.cpp
}

/// A training of two processes that lasts long, at a port with a token.
class TopOfAJob : public ProcessesTest {
 protected:
  static constexpr const char* kToken = "HEARTH_RDZV_TOKEN=sesame";

  void start(const Arguments& flags = {}) {
    Arguments line = launched(small_run(path("out"), {"--epochs", "100000", "--batch-size", "4"}));
    line.insert(line.begin() + 1, {"--rdzv-endpoint", endpoint()});
    line.insert(line.begin() + 1, flags.begin(), flags.end());
    job_ = std::make_unique<Program>(line, Arguments{"OMP_NUM_THREADS=1", kToken});
    ASSERT_NO_THROW(wait_for_epochs(path("out"), 1)) << job_->err();
  }
  static std::string endpoint() { return "127.0.0.1:" + own_port(); }
  static RunResult top(Arguments arguments, const Arguments& environment = {"HEARTH_RDZV_TOKEN"}) {
    arguments.insert(arguments.begin(), "top");
    return run(arguments, environment);
  }
  /// The ranks in the JSON that `hearth top` prints.
  static Json ranks(const std::string& target) {
    const RunResult ran = top({target, "--json"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return Json::parse(ran.out).at("ranks");
  }
  static bool has_rates(const Json& ranks) {
    return std::all_of(ranks.begin(), ranks.end(), [](const Json& rank) {
      return rank.contains("samples_per_second") && rank["samples_per_second"].is_number();
    });
  }

  std::unique_ptr<Program> job_;
};

void expect_training(const Json& ranks, size_t count) {
  ASSERT_EQ(ranks.size(), count);
  for (size_t i = 0; i < count; ++i) {
    const Json& rank = ranks[i];
    EXPECT_EQ(rank["rank"], i);
    EXPECT_FALSE(rank["silent"].get<bool>()) << rank;
    EXPECT_NE(rank["host"], "");
    EXPECT_GT(rank["step"], 0);
    EXPECT_GT(rank["memory"], 1 << 20);
    const double steps = rank["steps_per_second"], samples = rank["samples_per_second"];
    EXPECT_GT(steps, 0);
    // Batches have 4 images, a few have fewer.
    EXPECT_NEAR(samples / steps, 4, 0.5) << rank;
    double sum = 0;
    for (const Json& share : rank["shares"]) sum += share.get<double>();
    EXPECT_NEAR(sum, 1, 1e-3) << rank;
  }
}

TEST_F(TopOfAJob, ShowsTheRanksAtAnEndpointAndInTheFolder) {
  start();
  // hearth top reads the token from the environment of the job's processes, which are this user's.
  for (const std::string& target : {endpoint(), path("out")}) {
    Json found;
    ASSERT_TRUE(comes_true([&] { return has_rates(found = ranks(target)); })) << found;
    expect_training(found, 2);
    EXPECT_NE(found[0]["process"], found[1]["process"]);
    EXPECT_GT(found[0]["shares"]["communication"], 0);
  }
  const RunResult table = top({endpoint(), "--rdzv-token", "sesame"});
  EXPECT_EQ(table.status, 0);
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 4) << table.out;
  expect_failure(top({endpoint(), "--rdzv-token", "thirst"}), 1,
                 "the job at " + endpoint() + " has another token: give it with --rdzv-token");
}

TEST_F(TopOfAJob, MarksAStoppedRank) {
  start();
  const pid_t second = ranks(endpoint())[1]["process"];
  ::kill(second, SIGSTOP);
  Json found;
  EXPECT_TRUE(comes_true([&] {
    found = ranks(endpoint());
    return found[1]["silent"].get<bool>();
  })) << found;
  EXPECT_FALSE(found[0]["silent"].get<bool>());
  const RunResult table = top({endpoint()});
  EXPECT_NE(table.out.find("silent for "), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("waits for communication, "), std::string::npos) << table.out;
  ::kill(second, SIGCONT);
  EXPECT_TRUE(comes_true([&] { return !ranks(endpoint())[1]["silent"].get<bool>(); }));
  const pid_t first = ranks(endpoint())[0]["process"];
  ::kill(first, SIGSTOP);
  expect_failure(top({endpoint()}), 1, "does not answer: its rank 0 is stopped or cannot be");
  ::kill(first, SIGCONT);
}

TEST_F(TopOfAJob, ShowsTheNewRanksAfterARestart) {
  start({"--max-restarts", "1"});
  const auto source = app::open_job(endpoint(), "sesame"), folder = app::open_job(path("out"), "");
  const auto process_of = [](const RankReport& rank) -> pid_t {
    return rank.json.empty() ? 0 : Json::parse(rank.json)["process"].get<pid_t>();
  };
  const pid_t second = process_of(source->look().at(1));
  ::kill(second, SIGKILL);
  const auto shows_new_ranks = [&](app::JobSource& view) {
    const std::vector<RankReport> ranks = view.look();
    return ranks.size() == 2 && process_of(ranks[1]) != 0 && process_of(ranks[1]) != second;
  };
  EXPECT_TRUE(comes_true([&] {
    const bool at_endpoint = shows_new_ranks(*source), in_folder = shows_new_ranks(*folder);
    return at_endpoint && in_folder;
  })) << job_->err();
  EXPECT_EQ(source->remark(), "");
  EXPECT_EQ(folder->remark(), "");
}

TEST_F(TopOfAJob, IsRedrawnOnATerminalUntilTheJobEnds) {
  start();
  int terminal = -1, screen = -1;
  ASSERT_EQ(openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  std::string text;
  Program program({"top", endpoint()}, {"HEARTH_RDZV_TOKEN"}, terminal);
  close(terminal);
  const auto read_until = [&](const std::string& part) {
    char buffer[4096];
    for (ssize_t count = 1; count > 0 && text.find(part) == std::string::npos;) {
      count = read(screen, buffer, sizeof buffer);
      if (count > 0) text.append(buffer, size_t(count));
    }
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(read_until("\033[5A\r")) << text;  // title, head, two ranks and their sum
  EXPECT_EQ(text.find("the job at " + endpoint()), 0U) << text;
  job_->kill(SIGINT);
  EXPECT_TRUE(read_until(": no answer for ")) << text;
  EXPECT_TRUE(read_until("has ended")) << text;
  EXPECT_EQ(program.wait().status, 0);
  close(screen);
}

TEST(Top, ShowsATrainingOfOneProcess) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  Program training(small_run(out, {"--epochs", "100000", "--batch-size", "4"}), kOneThread);
  Json found;
  const bool has_rates = comes_true([&] {
    const RunResult ran = run({"top", out, "--json"});
    if (ran.status != 0) return false;
    found = Json::parse(ran.out)["ranks"];
    return found[0]["samples_per_second"].is_number();
  });
  ASSERT_TRUE(has_rates) << found;
  expect_training(found, 1);
  EXPECT_EQ(found[0]["shares"]["communication"], 0);
  training.kill(SIGINT);
  EXPECT_EQ(training.wait().status, 130);
  expect_failure(run({"top", out}), 1, "nothing trains in '" + out + "': its training has ended");
}

TEST(Top, MistakesAreExplained) {
  const TempFolder folder;
  const auto fails = [&](const std::string& target, const std::string& error, int status = 1) {
    const double seconds = seconds_of([&] {
      expect_failure(run({"top", target}), status, "hearth: " + error);
    });
    EXPECT_LT(seconds, 8) << target;
  };
  fails("127.0.0.1:1",
        "no job runs at 127.0.0.1:1: cannot connect to port 1 of '127.0.0.1' before "
        "the time-out: Connection refused\n");
  fails("no-such-host.invalid:1",
        "no job runs at no-such-host.invalid:1: the host "
        "'no-such-host.invalid' is unknown: ");
  fails(folder.str(), "nothing trains in '" + folder.str() + "': it is not the folder of a hearth");
  fails("nowhere", "'nowhere' is neither a folder nor HOST:PORT of a job", 2);
  fails("run/s:1", "'run/s:1' is neither a folder nor HOST:PORT of a job", 2);
  fails("host:99999", "'host:99999' is neither a folder nor HOST:PORT of a job", 2);
  const Stranger stranger("SSH-2.0-OpenSSH_9.2\r\n");
  fails("127.0.0.1:" + std::to_string(stranger.port()),
        "at 127.0.0.1:" + std::to_string(stranger.port()) +
            " runs another program than a job of this version of Hearth: give ");
  const std::string file = app::status_file_in(folder.str());
  for (const char* content : {"", "{\"format\":1,\"written\":1,\"ra", "{\"format\":2}", "[]",
                              "{\"format\":1,\"written\":1,\"ranks\":[{\"age\":\"x\"}]}"}) {
    write_bytes(file, content);
    fails(folder.str(), "'" + file + "' is damaged: ");
  }
  EXPECT_EQ(run({"top", "--rdzv-token", ""}).status, 2);
  EXPECT_EQ(run({"top", "a", "b"}).status, 2);
}

}  // namespace
}  // namespace hearth::testing
