// Schedules of profiles, and when on_trace_ready is called; the expected values are PyTorch's.
#include <gtest/gtest.h>

#include "hearth/hearth.h"
#include "hearth/profiler.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using profiler::profile;
using profiler::ProfileOptions;
using profiler::ProfilerAction;
using profiler::ScheduleOptions;

/// The actions of the first 16 steps as digits.
std::string phases(const ScheduleOptions& options) {
  const Warnings warnings;
  const profiler::Schedule schedule = profiler::schedule(options);
  std::string text;
  for (int64_t step = 0; step < 16; ++step) text += char('0' + int(schedule(step)));
  return text;
}

TEST(Schedule, HasThePhasesOfPyTorch) {
  const ScheduleOptions options;
  EXPECT_EQ(phases(ScheduleOptions().wait(1).warmup(1).active(2).repeat(2)), "0123012300000000");
  EXPECT_EQ(phases(options), "3333333333333333");
  EXPECT_EQ(phases(ScheduleOptions().wait(2).warmup(1).active(3).skip_first(1)),
            "0001223001223001");
  EXPECT_EQ(
      phases(ScheduleOptions().wait(2).warmup(1).active(1).repeat(1).skip_first(3).skip_first_wait(
          true)),
      "0001300000000000");
}

TEST(Schedule, RefusesImpossibleCycles) {
  EXPECT_ERROR(profiler::schedule(ScheduleOptions().active(0)),
               "Invalid profiler schedule arguments. Got wait=0 (need >= 0), warmup=0 (need >= 0), "
               "active=0 (need > 0), repeat=0 (need >= 0), skip_first=0 (need >= 0).");
}

TEST(Schedule, CallsOnTraceReadyAfterEachCycle) {
  std::vector<std::vector<int64_t>> calls;  // step_num, counts of ProfilerStep* and aten::mul
  profile recorded(
      ProfileOptions()
          .schedule(profiler::schedule(ScheduleOptions().wait(1).warmup(1).active(2).repeat(2)))
          .on_trace_ready([&](profile& ready) {
            const auto rows = ready.key_averages();
            calls.push_back(
                {ready.step_num(), rows.at("ProfilerStep*").count, rows.at("aten::mul").count});
          }));
  const Tensor x = ones({2});
  for (int i = 0; i < 12; ++i) {
    mul(x, x);
    recorded.step();
  }
  recorded.stop();
  const std::vector<std::vector<int64_t>> expected{{4, 2, 2}, {8, 2, 2}};
  EXPECT_EQ(calls, expected);
}

TEST(Schedule, CallsOnTraceReadyAtTheEndOfAnUnscheduledProfile) {
  int calls = 0;
  {
    profile recorded(ProfileOptions().on_trace_ready([&](profile&) { ++calls; }));
    recorded.step();
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hearth::testing
