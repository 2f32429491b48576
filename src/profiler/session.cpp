#include "profiler/session.h"

#include "profiler/recorder.h"

namespace hearth::profiler {

namespace {

/// The running session; the mutex guards the pointer.
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

/// Passes the activities of devices to the running session.
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

DeviceSink& device_sink() {
  static DeviceSink& sink = *new DeviceSink;
  return sink;
}

/// This thread's recorder, which records for the running session; null if no session that records
/// the CPU runs.
Observer* join_session() {
  Running& state = running();
  const std::lock_guard lock(state.mutex);
  if (!state.session || !state.session->options.cpu) return nullptr;
  ThreadRecorder& recorder = ThreadRecorder::of_this_thread();
  recorder.join(*state.session, state.last_number);
  return &recorder;
}

/// Waits for all work of the devices, so that all activities have been added.
void synchronize_devices(Backend& backend) {
  for (int device = 0; device < backend.device_count(); ++device)
    backend.synchronize_device(device);
}

}  // namespace

std::shared_ptr<Session> start_session(const SessionOptions& options) {
  auto session = std::make_shared<Session>(options);
  Backend* const gpus = options.devices ? cuda_backend() : nullptr;
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
  if (options.cpu) observer_of_thread.store(&join_session);
  if (Observer* const observer = join_session(); observer && !observer->is_installed())
    observer->install();
  if (gpus) gpus->record_activities(&device_sink());
  return session;
}

std::exception_ptr end_session(const std::shared_ptr<Session>& session) {
  session->end = Moment::now();
  recording_session.store(0);
  observer_of_thread.store(nullptr);
  ThreadRecorder::of_this_thread().remove();
  Backend* const gpus = session->options.devices ? cuda_backend_in_use() : nullptr;
  std::exception_ptr failure;
  try {
    if (gpus) synchronize_devices(*gpus);
  } catch (...) {
    failure = std::current_exception();
  }
  if (gpus) gpus->record_activities(nullptr);
  {
    const std::lock_guard lock(running().mutex);
    running().session = nullptr;
  }
  return failure;
}

}  // namespace hearth::profiler
