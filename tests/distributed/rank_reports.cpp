#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "hearth/profiler/status_report.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"
#include "tests/support/listener.h"
#include "tests/support/throws.h"

// The reports that the ranks of a job write into its store.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using Json = nlohmann::json;

Json report_of(size_t rank) {
  const std::vector<std::string> reports = dist::get_rank_reports(*dist::get_default_store());
  return reports.at(rank).empty() ? Json() : Json::parse(reports[rank]);
}

/// Waits until the condition holds, at most five seconds.
template <class F>
void await(const F& condition, const char* what) {
  for (int i = 0; i < 500 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  require(condition(), what);
}

const RankFunction reports("reports", [] {
  in_group([](int rank, int size) {
    dist::barrier();
    REQUIRE(int(dist::get_rank_reports(*dist::get_default_store()).size()) == size);
    for (int other = 0; other < size; ++other) {
      await([&] { return !report_of(size_t(other)).is_null(); }, "there is no report");
      REQUIRE(report_of(size_t(other))["rank"] == other);
    }
    REQUIRE(report_of(size_t(rank))["process"] == getpid());
    // The other ranks wait for rank 1, and say so.
    dist::barrier();
    if (rank == 1) {
      profiler::report_step(17, 4);
      await(
          [] {
            return report_of(0)["waits_for"] == "communication" && report_of(0)["wait"] > 0.5 &&
                   report_of(1)["waits_for"].is_null() && report_of(1)["step"] == 17;
          },
          "rank 0 does not wait");
    }
    dist::barrier();
  });
});
TEST(RankReports, SayWhatEachRankDoes) { run_ranks_well(reports, 3); }

double steady_seconds() {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count();
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  return stat.substr(stat.rfind(')') + 1, 2) == " T";
}

/// Rank 0, which serves the store, is stopped. Rank 1 ends in the middle of a report.
const RankFunction stopped_store("stopped_store", [] {
  dist::init_process_group(test_backend());
  const auto store = dist::get_default_store();
  if (dist::get_rank() == 0) {
    store->get("stop");
    raise(SIGSTOP);
    return;
  }
  await([] { return !report_of(0).is_null() && !report_of(1).is_null(); }, "there is no report");
  const pid_t first = report_of(0)["process"];
  const int64_t number = report_of(1)["report"];
  await([&] { return report_of(1)["report"] > number; }, "there is no second report");
  store->set("stop", std::string("now"));
  await([&] { return is_stopped(first); }, "rank 0 runs");
  // The next report begins within a second, and waits two seconds for the store.
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  std::printf("after %.3f s\n", steady_seconds());
});
TEST(RankReports, EndWithTheGroup) {
  RankOptions options;
  options.endless_rank = 0;
  const double start = steady_seconds();
  const RankResult result = run_ranks(stopped_store, 2, options)[1];
  EXPECT_EQ(result.exit_code, 0) << result.output;
  // 0.2 s for the report, and 1 s in which the others can leave, too.
  EXPECT_LT(start + result.seconds - seconds_in(result.output), 1.9) << result.output;
}

/// Passes on one connection to a store, and counts the client's requests.
class CountingRelay {
 public:
  explicit CountingRelay(uint16_t port) : thread_([this, port] { relay(port); }) {}
  ~CountingRelay() {
    listener_.stop();
    thread_.join();
  }
  uint16_t port() const { return listener_.port(); }
  /// The frames of the client so far; each begins with its length.
  size_t requests() {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (size_t at = 0; at + 4 <= sent_.size(); ++count) {
      uint32_t length = 0;
      std::memcpy(&length, sent_.data() + at, sizeof length);
      at += 4 + length;
    }
    return count;
  }

 private:
  void relay(uint16_t port) {
    const int client = listener_.accept_client();
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      while (pass_on(client, server)) {
      }
    close(client);
    close(server);
  }
  bool pass_on(int client, int server) {
    pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    poll(ends, 2, -1);
    char buffer[1 << 16];
    for (const int i : {0, 1}) {
      if (!ends[i].revents) continue;
      const ssize_t count = recv(ends[i].fd, buffer, sizeof buffer, 0);
      if (count <= 0) return false;
      if (i == 0) {
        const std::lock_guard lock(mutex_);
        sent_.append(buffer, size_t(count));
      }
      if (send(ends[1 - i].fd, buffer, size_t(count), MSG_NOSIGNAL) != count) return false;
    }
    return true;
  }

  const Listener listener_;
  std::mutex mutex_;
  std::string sent_;
  std::thread thread_;
};

TEST(RankReports, NeedOneRequestForAllRanks) {
  dist::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  dist::TCPStore server("127.0.0.1", options);
  CountingRelay relay(server.getPort());
  options.isServer = false;
  options.port = relay.port();
  {
    dist::TCPStore client("127.0.0.1", options);
    server.set("hearth/status/size", std::string("100"));
    server.set("hearth/status/another", std::string("no rank"));
    std::vector<std::string> expected(100);
    for (size_t rank = 0; rank < expected.size(); rank += 3) {
      expected[rank] = "report " + std::to_string(rank);
      server.set("hearth/status/" + std::to_string(rank), expected[rank]);
    }
    const size_t before = relay.requests();
    EXPECT_EQ(dist::get_rank_reports(client), expected);
    EXPECT_EQ(relay.requests() - before, 1U);
    EXPECT_EQ(dist::get_rank_reports(server), expected);
    dist::PrefixStore other("other", client.clone());
    EXPECT_THROW(dist::get_rank_reports(other), dist::NoRankReportsError);
  }
}

TEST(RankReports, NeedAJobOfAValidSize) {
  EXPECT_ERROR(dist::get_default_store(), "Default process group has not been initialized");
  dist::HashStore store;
  EXPECT_ERROR(
      dist::get_rank_reports(store),
      "no ranks report to this store; after init_process_group, ranks report to the TCPStore "
      "in which they met, and to no other kind of store");
  for (const char* size : {"", "x", "0", "-1", "2000000000", "3 "}) {
    store.set("hearth/status/size", std::string(size));
    EXPECT_ERROR(dist::get_rank_reports(store), "malformed number of ranks");
  }
}

}  // namespace
}  // namespace hearth::testing
