#include "hearth/profiler/profile.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/backends.h"
#include "hearth/error.h"
#include "hearth/io/file.h"
#include "hearth/profiler/record_function.h"
#include "profiler/averages.h"
#include "profiler/chrome_trace.h"
#include "profiler/collect.h"

namespace hearth::profiler {

namespace {

bool has(const ProfileOptions& options, ProfilerActivity activity) {
  const auto& wanted = options.activities();
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), activity) != wanted.end();
}

SessionOptions session_options(const ProfileOptions& options) {
  SessionOptions result;
  result.cpu = has(options, ProfilerActivity::CPU);
  result.shapes = options.record_shapes();
  result.memory = options.profile_memory();
  result.flops = options.with_flops();
  result.modules = options.with_modules();
  return result;
}

bool records(ProfilerAction action) {
  return action == ProfilerAction::Record || action == ProfilerAction::RecordAndSave;
}

/// Passes a text to the sink of warnings, or prints it if the sink throws.
void warn_without_throwing(const std::string& text) {
  try {
    warn(text);
  } catch (...) {
    print_warning(text);
  }
}

}  // namespace

struct profile::State {
  ProfileOptions options;
  std::shared_ptr<Session> session;  // while it records
  std::vector<FunctionEvent> events;
  std::optional<record_function> step_range;
  std::vector<std::string> warnings;  // not yet passed on
  ProfilerAction action = ProfilerAction::None;
  int64_t step = 0;
  bool is_running = false;
  bool is_in_function = false;  // on_trace_ready is running

  ProfilerAction action_at(int64_t number) const {
    return options.schedule() ? options.schedule()(number) : ProfilerAction::Record;
  }

  void begin_session() {
    if (session) return;
    Backend* const gpus = has(options, ProfilerActivity::CUDA) ? cuda_backend() : nullptr;
    session = start_session(session_options(options), gpus);
    take_warnings(*session);
  }
  void end_session() {
    step_range.reset();
    if (!session) return;
    const std::shared_ptr<Session> ended = std::exchange(session, nullptr);
    const std::exception_ptr failure = profiler::end_session(ended);
    take_warnings(*ended);
    events = collect(*ended);
    if (failure) std::rethrow_exception(failure);
  }

  /// Ends the session, if there is one, without a result.
  void abandon() {
    is_running = false;
    step_range.reset();
    if (session) profiler::end_session(std::exchange(session, nullptr));
  }

  void take_warnings(Session& from) {
    for (std::string& text : std::exchange(from.warnings, {})) warnings.push_back(std::move(text));
  }

  /// Calls a function that changes the profile, then passes the warnings on: a sink of warnings may
  /// throw or use the profile, so it is called when the change is complete.
  template <class F>
  void run(const F& change) {
    if (is_in_function) return change();  // the outer call passes them on
    std::exception_ptr failure;
    try {
      change();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::vector<std::string> texts = std::exchange(warnings, {});
    for (const std::string& text : texts) failure ? warn_without_throwing(text) : warn(text);
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
  /// starts one if the next step needs it. `ends`: there is no next step, the profile stops.
  void change_action(profile& owner, ProfilerAction next, bool ends) {
    const ProfilerAction former = std::exchange(action, next);
    const bool continues = former == ProfilerAction::Record && records(next);
    if (former == ProfilerAction::RecordAndSave || (records(former) && ends)) {
      end_session();
      call_on_trace_ready(owner);
      if (!ends && !is_running) return;  // on_trace_ready has stopped the profile
    } else if (records(former) && !records(next)) {
      warnings.push_back(next == ProfilerAction::None
                             ? "Incorrect schedule: RECORD followed by NONE"
                             : "Incorrect schedule: RECORD followed by WARMUP");
      end_session();
    } else if (former == ProfilerAction::Warmup && next == ProfilerAction::None) {
      if (!ends) warnings.push_back("Incorrect schedule: WARMUP followed by NONE");
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
  try {
    start();
  } catch (...) {
    state_->abandon();  // no destructor will run
    throw;
  }
}

profile::~profile() {
  try {
    stop();
  } catch (const std::exception& error) {
    warn_without_throwing(std::string("profile: ") + error.what());
  } catch (...) {
    warn_without_throwing("profile: an unknown error at its end");
  }
}

void profile::start() {
  if (state_->is_running) return;
  state_->run([this] {
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
  });
}

void profile::stop() {
  if (!state_->is_running) return;
  state_->run([this] {
    state_->is_running = false;
    if (state_->is_in_function) {  // between two sessions
      state_->action = ProfilerAction::None;
      return;
    }
    state_->step_range.reset();
    state_->change_action(*this, ProfilerAction::None, true);
  });
}

void profile::step() {
  HEARTH_CHECK(state_->is_running, "profile::step() after stop(): call start() first");
  state_->run([this] {
    state_->step_range.reset();
    ++state_->step;
    state_->change_action(*this, state_->action_at(state_->step), false);
    if (state_->is_running) state_->name_step();
  });
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
