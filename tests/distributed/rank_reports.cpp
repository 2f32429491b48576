#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "hearth/profiler/status_report.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"
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

const RankFunction stopped_store("stopped_store", [] {
  in_group([](int rank, int) {
    dist::barrier();
    if (rank == 0) return;
    // The end of a group does not wait for the store, here that of rank 0, which has ended.
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  });
});
TEST(RankReports, EndWithTheGroup) {
  for (const RankResult& result : run_ranks_well(stopped_store, 2)) EXPECT_LT(result.seconds, 5);
}

TEST(RankReports, NeedAJobOfAValidSize) {
  EXPECT_ERROR(dist::get_default_store(), "Default process group has not been initialized");
  dist::HashStore store;
  EXPECT_ERROR(dist::get_rank_reports(store), "the ranks of no job report to this store");
  for (const char* size : {"", "x", "0", "-1", "2000000000", "3 "}) {
    store.set("hearth/status/size", std::string(size));
    EXPECT_ERROR(dist::get_rank_reports(store), "malformed number of ranks");
  }
}

}  // namespace
}  // namespace hearth::testing
