// Sinks of warnings that throw or use the profile that warns.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "hearth/hearth.h"
#include "hearth/profiler.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using profiler::profile;
using profiler::ProfileOptions;
using Action = profiler::ProfilerAction;

class SinkGuard {
 public:
  explicit SinkGuard(WarningSink sink) : former_(set_warning_sink(sink)) {}
  ~SinkGuard() { set_warning_sink(former_); }
  SinkGuard(const SinkGuard&) = delete;
  SinkGuard& operator=(const SinkGuard&) = delete;

 private:
  WarningSink former_;
};

/// Two successive steps whose actions PyTorch warns of.
struct Wrong {
  Action first, second;
  const char* warning;
};
constexpr Wrong kWrong[] = {
    {Action::Record, Action::None, "Incorrect schedule: RECORD followed by NONE"},
    {Action::Record, Action::Warmup, "Incorrect schedule: RECORD followed by WARMUP"},
    {Action::Warmup, Action::None, "Incorrect schedule: WARMUP followed by NONE"}};

ProfileOptions options_of(const Wrong& wrong) {
  return ProfileOptions().schedule(
      [wrong](int64_t step) { return step == 0 ? wrong.first : wrong.second; });
}

/// Fails the test if the session of another profile still runs.
void expect_free_profiler(const char* after) {
  try {
    profile next;
    ones({2}).add_(1);
    next.stop();
    EXPECT_EQ(next.key_averages().at("aten::add_").count, 1) << after;
  } catch (const Error& error) {
    ADD_FAILURE() << after << ": " << error.what();
  }
}

TEST(ProfileWarnings, ASinkMayThrow) {
  for (const Wrong& wrong : kWrong) {
    {
      const SinkGuard guard([](const std::string& text) { throw std::runtime_error(text); });
      profile recorded(options_of(wrong));
      ones({2}).mul_(1);
      EXPECT_ERROR(recorded.step(), wrong.warning);
      EXPECT_EQ(recorded.current_action(), wrong.second);
      recorded.stop();
      if (wrong.second == Action::None && wrong.first == Action::Record) {
        EXPECT_EQ(recorded.key_averages().at("aten::mul_").count, 1);
      }
    }
    expect_free_profiler(wrong.warning);
  }
}

profile* warned = nullptr;

TEST(ProfileWarnings, ASinkMayStopTheProfile) {
  for (const Wrong& wrong : kWrong) {
    const SinkGuard guard([](const std::string&) { warned->stop(); });
    profile recorded(options_of(wrong));
    warned = &recorded;
    recorded.step();
    EXPECT_ERROR(recorded.step(), "profile::step() after stop()");
    expect_free_profiler(wrong.warning);
  }
}

TEST(ProfileWarnings, ASinkMayGoOnToTheNextStep) {
  for (const Wrong& wrong : kWrong) {
    static bool has_stepped;
    has_stepped = false;
    const SinkGuard guard([](const std::string&) {
      if (!std::exchange(has_stepped, true)) warned->step();
    });
    profile recorded(options_of(wrong));
    warned = &recorded;
    recorded.step();
    EXPECT_EQ(recorded.step_num(), 2);
    EXPECT_EQ(recorded.current_action(), wrong.second);
    recorded.stop();
    expect_free_profiler(wrong.warning);
  }
}

// The destructor's warning must not end the process.
TEST(ProfileWarnings, ASinkMayThrowInTheDestructor) {
  {
    const SinkGuard guard([](const std::string& text) { throw std::runtime_error(text); });
    const profile recorded(ProfileOptions().on_trace_ready(
        [](profile&) { throw std::runtime_error("the function failed"); }));
  }
  expect_free_profiler("a throwing destructor");
}

}  // namespace
}  // namespace hearth::testing
