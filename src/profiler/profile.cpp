#include "hearth/profiler/profile.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "hearth/error.h"
#include "hearth/io/file.h"
#include "hearth/profiler/record_function.h"
#include "profiler/averages.h"
#include "profiler/chrome_trace.h"
#include "profiler/collect.h"

namespace hearth::profiler {

namespace {

SessionOptions session_options(const ProfileOptions& options) {
  const auto& wanted = options.activities();
  const auto has = [&](ProfilerActivity activity) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), activity) != wanted.end();
  };
  SessionOptions result;
  result.cpu = has(ProfilerActivity::CPU);
  result.devices = has(ProfilerActivity::CUDA);
  result.shapes = options.record_shapes();
  result.memory = options.profile_memory();
  result.flops = options.with_flops();
  result.modules = options.with_modules();
  return result;
}

bool records(ProfilerAction action) {
  return action == ProfilerAction::Record || action == ProfilerAction::RecordAndSave;
}

}  // namespace

struct profile::State {
  ProfileOptions options;
  std::shared_ptr<Session> session;  // while it records
  std::vector<FunctionEvent> events;
  std::optional<record_function> step_range;
  ProfilerAction action = ProfilerAction::None;
  int64_t step = 0;
  bool is_running = false;
  bool is_in_function = false;  // on_trace_ready is running

  ProfilerAction action_at(int64_t number) const {
    return options.schedule() ? options.schedule()(number) : ProfilerAction::Record;
  }

  void begin_session() {
    if (!session) session = start_session(session_options(options));
  }
  void end_session() {
    step_range.reset();
    if (!session) return;
    const std::shared_ptr<Session> ended = std::exchange(session, nullptr);
    const std::exception_ptr failure = profiler::end_session(ended);
    events = collect(*ended);
    if (failure) std::rethrow_exception(failure);
  }

  void call_on_trace_ready(profile& owner) {
    if (!options.on_trace_ready()) return;
    is_in_function = true;
    try {
      options.on_trace_ready()(owner);
    } catch (...) {
      is_in_function = false;
      throw;
    }
    is_in_function = false;
  }

  /// Changes to the next step's action: ends the session unless the next step continues it, and
  /// starts one if the next step needs it.
  void change_action(profile& owner, ProfilerAction next, bool ends) {
    const ProfilerAction former = std::exchange(action, next);
    const bool continues = former == ProfilerAction::Record && records(next);
    if (former == ProfilerAction::RecordAndSave || (records(former) && ends)) {
      end_session();
      call_on_trace_ready(owner);
      if (!ends && !is_running) return;  // on_trace_ready has stopped the profile
    } else if (records(former) && !records(next)) {
      warn(next == ProfilerAction::None ? "Incorrect schedule: RECORD followed by NONE"
                                        : "Incorrect schedule: RECORD followed by WARMUP");
      end_session();
    } else if (former == ProfilerAction::Warmup && next == ProfilerAction::None) {
      if (!ends) warn("Incorrect schedule: WARMUP followed by NONE");
      end_session();
      events.clear();
    }
    if (next == ProfilerAction::None) return;
    begin_session();
    if (records(next) && !continues) session->kept_from = ticks();
  }

  void name_step() {
    step_range.reset();
    if (options.schedule() && action != ProfilerAction::None)
      step_range.emplace(hearth::detail::str("ProfilerStep#", step));
  }
};

profile::profile(ProfileOptions options) : state_(new State) {
  state_->options = std::move(options);
  start();
}

profile::~profile() {
  try {
    stop();
  } catch (const std::exception& error) {
    warn(std::string("profile: ") + error.what());
  }
}

void profile::start() {
  if (state_->is_running) return;
  state_->step = 0;
  state_->events.clear();
  state_->is_running = true;
  try {
    state_->change_action(*this, state_->action_at(0), false);
  } catch (...) {
    state_->is_running = false;
    throw;
  }
  state_->name_step();
}

void profile::stop() {
  if (!state_->is_running) return;
  state_->is_running = false;
  if (state_->is_in_function) {  // between two sessions
    state_->action = ProfilerAction::None;
    return;
  }
  state_->step_range.reset();
  state_->change_action(*this, ProfilerAction::None, true);
}

void profile::step() {
  HEARTH_CHECK(state_->is_running, "profile::step() after stop(): call start() first");
  state_->step_range.reset();
  ++state_->step;
  state_->change_action(*this, state_->action_at(state_->step), false);
  if (state_->is_running) state_->name_step();
}

int64_t profile::step_num() const { return state_->step; }
ProfilerAction profile::current_action() const { return state_->action; }

const std::vector<FunctionEvent>& profile::events() const {
  HEARTH_CHECK(!state_->session, "the profile is running: call stop() before reading it");
  return state_->events;
}

EventList profile::key_averages(bool group_by_input_shape) const {
  return averages_by_name(events(), group_by_input_shape, state_->options.profile_memory());
}

EventList profile::module_averages() const {
  HEARTH_CHECK(state_->options.with_modules(),
               "module_averages() needs ProfileOptions().with_modules(true)");
  return averages_by_module(events(), state_->options.profile_memory());
}

void profile::export_chrome_trace(const std::string& path) const {
  io::write_file(path, chrome_trace(events()));
}

std::function<void(profile&)> tensorboard_trace_handler(const std::string& dir_name,
                                                        std::string worker_name) {
  if (worker_name.empty()) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    worker_name = hearth::detail::str(host.data(), "_", ::getpid());
  }
  return [dir_name, worker_name](profile& profile) {
    std::error_code failure;
    std::filesystem::create_directories(dir_name, failure);
    HEARTH_CHECK(!failure, "Can't create directory: ", dir_name, " (", failure.message(), ")");
    const auto ns = std::chrono::system_clock::now().time_since_epoch().count();
    profile.export_chrome_trace(
        hearth::detail::str(dir_name, "/", worker_name, ".", ns, ".pt.trace.json"));
  };
}

}  // namespace hearth::profiler
