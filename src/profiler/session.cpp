#include "profiler/session.h"

#include <utility>

#include "hearth/error.h"
#include "profiler/recorder.h"

namespace hearth::profiler {

namespace {

/// The running session; the mutex guards the other members.
struct Running {
  std::mutex mutex;
  std::shared_ptr<Session> session;
  uint64_t last_number = 0;

  std::shared_ptr<Session> get() {
    const std::lock_guard lock(mutex);
    return session;
  }
};

Running& running() {
  static Running& result = *new Running;  // never destroyed: threads may use it until the end
  return result;
}

class DeviceSink final : public ActivitySink {
 public:
  uint64_t current_event() override { return ThreadRecorder::innermost_event(); }
  void add(const DeviceActivity& activity) override {
    const std::shared_ptr<Session> session = running().get();
    if (!session) return;
    const std::lock_guard lock(session->mutex);
    session->activities.push_back(activity);
  }
};

/// This thread's recorder, which records for the running session; null if no session is running or
/// it does not record the CPU.
Observer* join_session() {
  Running& state = running();
  const std::lock_guard lock(state.mutex);
  if (!state.session || !state.session->options.cpu) return nullptr;
  ThreadRecorder& recorder = ThreadRecorder::of_this_thread();
  recorder.join(*state.session, state.last_number);
  return &recorder;
}

/// Appends this thread's warnings to a list during its lifetime.
class KeptWarnings {
 public:
  explicit KeptWarnings(std::vector<std::string>& texts)
      : former_texts_(std::exchange(list(), &texts)),
        former_sink_(set_warning_sink([](const std::string& text) { list()->push_back(text); })) {}
  ~KeptWarnings() {
    set_warning_sink(former_sink_);
    list() = former_texts_;
  }
  KeptWarnings(const KeptWarnings&) = delete;
  KeptWarnings& operator=(const KeptWarnings&) = delete;

 private:
  static std::vector<std::string>*& list() {
    thread_local std::vector<std::string>* texts = nullptr;
    return texts;
  }
  std::vector<std::string>* former_texts_;
  WarningSink former_sink_;
};

/// Begins (or ends, if the sink is null) to record the devices' activities.
void record_activities(Session& session, ActivitySink* sink) {
  if (!session.gpus) return;
  const KeptWarnings kept(session.warnings);
  session.gpus->record_activities(sink);
}

/// Waits for all work of the devices, so that all activities have been added.
void synchronize_devices(const Session& session) {
  for (int device = 0; session.gpus && device < session.gpus->device_count(); ++device)
    session.gpus->synchronize_device(device);
}

}  // namespace

ActivitySink& device_sink() {
  static DeviceSink& sink = *new DeviceSink;
  return sink;
}

std::shared_ptr<Session> start_session(const SessionOptions& options, Backend* gpus) {
  auto session = std::make_shared<Session>(options, gpus);
  Running& state = running();
  {
    const std::lock_guard lock(state.mutex);
    HEARTH_CHECK(!state.session,
                 "Profiler is already enabled: there is one profile at a time in a process; stop "
                 "the other one first");
    session->begin = Moment::now();
    session->kept_from = session->begin.ticks;
    state.session = session;
    recording_session.store(++state.last_number);
  }
  try {
    if (options.cpu) observer_of_thread.store(&join_session);
    if (Observer* const observer = join_session(); observer && !observer->is_installed())
      observer->install();
    record_activities(*session, &device_sink());
  } catch (...) {
    end_session(session);
    throw;
  }
  return session;
}

std::exception_ptr end_session(const std::shared_ptr<Session>& session) {
  session->end = Moment::now();
  recording_session.store(0);
  observer_of_thread.store(nullptr);
  ThreadRecorder::of_this_thread().remove();
  std::exception_ptr failure;
  try {
    synchronize_devices(*session);
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    record_activities(*session, nullptr);
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  {
    const std::lock_guard lock(running().mutex);
    running().session = nullptr;
  }
  return failure;
}

}  // namespace hearth::profiler
