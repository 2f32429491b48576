// Sessions of the profiler on devices whose recording warns or fails.
#include "profiler/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "hearth/error.h"
#include "kernels/sim/sim_backend.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using profiler::end_session;
using profiler::start_session;

/// A simulated GPU that calls a function when a recording begins or ends.
struct Gpus final : sim::SimBackend {
  explicit Gpus(std::function<void(bool begins)> function_)
      : SimBackend({1, size_t{1} << 20, false}), function(std::move(function_)) {}
  void record_activities(ActivitySink* sink) override { function(sink != nullptr); }
  std::function<void(bool begins)> function;
};

/// Expects that no session runs, so that a new one can start.
void expect_no_session() {
  try {
    end_session(start_session({}, nullptr));
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(ProfilerSession, KeepsTheWarningsOfDevices) {
  Gpus gpus([](bool begins) { warn(begins ? "begin" : "end"); });
  const WarningSink former =
      set_warning_sink([](const std::string& text) { throw std::runtime_error(text); });
  const auto session = start_session({}, &gpus);
  EXPECT_EQ(end_session(session), nullptr);
  EXPECT_EQ(session->warnings, (std::vector<std::string>{"begin", "end"}));
  EXPECT_ERROR(warn("mine"), "mine");  // the sink is set again
  set_warning_sink(former);
  expect_no_session();
}

TEST(ProfilerSession, EndsIfDevicesCannotRecord) {
  Gpus gpus([](bool begins) {
    if (begins) throw Error("no recording");
  });
  EXPECT_ERROR(start_session({}, &gpus), "no recording");
  expect_no_session();
}

TEST(ProfilerSession, EndsIfDevicesCannotEndTheirRecording) {
  Gpus gpus([](bool begins) {
    if (!begins) throw Error("no end");
  });
  const std::exception_ptr failure = end_session(start_session({}, &gpus));
  EXPECT_ERROR(std::rethrow_exception(failure), "no end");
  expect_no_session();
}

}  // namespace
}  // namespace hearth::testing
