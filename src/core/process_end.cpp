#include "core/process_end.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

#include "core/threads.h"
#include "hearth/error.h"

namespace hearth {

namespace {

using namespace std::chrono_literals;

constexpr auto kMaxWaitForCalls = 10s;
constexpr auto kMaxWaitForEnd = 3s;
constexpr auto kPollInterval = 1ms;

std::atomic<uint64_t> calls_begun{0};
std::atomic<int> active_calls{0};
std::atomic<int> active_creating_calls{0};  // the active calls that may create static objects
std::atomic<bool> process_ends{false};      // a thread has begun to end the process
std::atomic<bool> creating_calls_blocked{false};
std::atomic<bool> calls_blocked{false};
/// A function registered with stop_at_process_end, and the one registered before it.
struct StopFunction {
  void (*stop)();
  StopFunction* previous;
};
constinit std::atomic<StopFunction*> last_stop_function{nullptr};
constinit thread_local bool thread_ends_process = false;
constinit thread_local int call_depth = 0;
constinit thread_local bool has_active_call = false;  // of this thread
constinit thread_local bool has_active_creating_call = false;

/// Waits until no calls are active, except one of this thread if has_own, or until the time limit.
void wait_for(const std::atomic<int>& active, bool has_own) {
  const auto limit = std::chrono::steady_clock::now() + kMaxWaitForCalls;
  while (active.load() > int{has_own} && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(kPollInterval);
}

/// Whether to assume that a new call creates static objects: true for the first calls, then ever
/// more rarely.
bool may_create_statics() {
  constexpr uint64_t kFirstCalls = 64;
  const uint64_t before = calls_begun.fetch_add(1, std::memory_order_relaxed);
  return before < kFirstCalls || std::has_single_bit(before);
}

/// Declares that this thread ends the process, and calls the registered functions, the last one
/// first.
void call_stop_functions() {
  begin_process_end();
  for (StopFunction* next = last_stop_function.exchange(nullptr); next;) {
    const std::unique_ptr<StopFunction> current(next);
    current->stop();
    next = current->previous;
  }
}

/// When the main thread ends the process, its thread-local objects are destroyed before all static
/// ones, including those that another thread is creating. So this destructor blocks new calls that
/// may create static objects and waits for the active ones.
struct MainThreadExit {
  ~MainThreadExit() {
    if (gettid() != getpid()) return;
    call_stop_functions();
    creating_calls_blocked.store(true);
    wait_for(active_creating_calls, has_active_creating_call);
  }
};

void register_main_thread_exit() { thread_local const MainThreadExit main_thread_exit; }
[[maybe_unused]] const bool is_main_thread_exit_registered = (register_main_thread_exit(), true);

/// Calls the stop functions, blocks new calls and waits for the active ones; registered with
/// atexit. exit() runs such functions and the destructors of static objects in reverse order of
/// registration, so this one runs before the destructors of all objects created before its
/// registration.
void finish_calls() {
  call_stop_functions();
  if (!calls_blocked.exchange(true)) wait_for(active_calls, has_active_call);
}

/// A forked child does not have the other threads of its parent, so their calls would never end.
[[maybe_unused]] const int resets_calls_after_fork = pthread_atfork(nullptr, nullptr, [] {
  active_calls.store(0);
  active_creating_calls.store(0);
});

}  // namespace

void LibraryCall::cover_this_thread() { ++call_depth; }

LibraryCall::LibraryCall() : may_create_statics_(call_depth == 0 && may_create_statics()) {
  if (call_depth++ > 0) return;
  if (may_create_statics_) {
    begin_creating();
    has_active_creating_call = true;
  }
  ++active_calls;
  has_active_call = true;
  if (!calls_blocked.load() || thread_ends_process) [[likely]]
    return;
  end();
  --call_depth;
  wait_while_process_ends();
  detail::fail<Error>("the process is ending: its compute libraries have been shut down");
}

void LibraryCall::begin_creating() {
  ++active_creating_calls;
  if (!creating_calls_blocked.load() || thread_ends_process) return;
  --active_creating_calls;
  wait_while_process_ends();
  // The process still runs, so the main thread has ended without ending it.
  creating_calls_blocked.store(false);
  ++active_creating_calls;
}

LibraryCall::~LibraryCall() {
  if (--call_depth > 0) return;
  if (may_create_statics_) protect_new_statics();
  end();
}

void LibraryCall::end() const {
  --active_calls;
  has_active_call = false;
  if (!may_create_statics_) return;
  --active_creating_calls;
  has_active_creating_call = false;
}

void protect_new_statics() { std::atexit(finish_calls); }

namespace {

/// Calls protect_new_statics at doubling intervals, until a stop is requested.
void protect_repeatedly(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  for (auto pause = 100us; !stop.stop_requested(); pause *= 2) {
    protect_new_statics();
    stopped.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace

ProtectedStatics::ProtectedStatics() {
  try {
    protector_ = std::jthread(protect_repeatedly);
  } catch (const std::system_error&) {
  }
}

ProtectedStatics::~ProtectedStatics() {
  protector_ = {};
  protect_new_statics();
}

void stop_at_process_end(void (*stop)()) {
  auto* const added = new StopFunction{stop, last_stop_function.load()};
  while (!last_stop_function.compare_exchange_weak(added->previous, added)) {
  }
  protect_new_statics();
}

void begin_process_end() {
  thread_ends_process = true;
  process_ends.store(true);
  compute_serially_from_now_on();  // since helper threads would block
}

void wait_while_process_ends() {
  if (process_ends.load() && !thread_ends_process) std::this_thread::sleep_for(kMaxWaitForEnd);
}

}  // namespace hearth
