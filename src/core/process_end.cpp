#include "core/process_end.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

#include "core/threads.h"
#include "hearth/error.h"

namespace hearth {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestCall = 10s;  // that the exit waits for
constexpr auto kLongestRest = 3s;
constexpr auto kBetweenLooks = 1ms;

std::atomic<uint64_t> calls_ever{0};
std::atomic<int> calls{0};           // that have begun and not ended
std::atomic<int> first_calls{0};     // those of them that may make static objects
std::atomic<bool> is_ending{false};  // a thread has begun to end the process
std::atomic<bool> first_calls_rest{false};
std::atomic<bool> calls_rest{false};
constinit std::array<std::atomic<void (*)()>, 4> stops{};
constinit thread_local bool is_ender = false;
constinit thread_local int call_depth = 0;
constinit thread_local bool has_call = false;  // of this thread that has begun and not ended
constinit thread_local bool has_first_call = false;

/// Returns when there are none but this thread's own, or they take too long.
void wait_for(const std::atomic<int>& count, bool one_is_own) {
  const auto limit = std::chrono::steady_clock::now() + kLongestCall;
  while (count.load() > int{one_is_own} && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(kBetweenLooks);
}

/// Whether a call makes static objects is not known; the first ones and then ever fewer may.
bool may_make_statics() {
  constexpr uint64_t kFirst = 64;
  const uint64_t before = calls_ever.fetch_add(1, std::memory_order_relaxed);
  return before < kFirst || std::has_single_bit(before);
}

void stop_what_runs() {
  begin_process_end();
  for (auto& stop : stops)
    if (const auto function = stop.exchange(nullptr)) function();
}

/// When the main thread ends the process, its thread-local objects go before all static ones, those
/// that another thread is making, too.
struct MainThread {
  ~MainThread() {
    if (gettid() != getpid()) return;
    stop_what_runs();
    first_calls_rest.store(true);
    wait_for(first_calls, has_first_call);
  }
};

void watch_main_thread() { thread_local const MainThread main_thread; }
[[maybe_unused]] const bool watches_main_thread = (watch_main_thread(), true);

/// Exit runs such functions and destructors of static objects in the reverse order of their
/// registration, so that this one comes before those of the objects that were made before it.
void end_calls() {
  stop_what_runs();
  if (!calls_rest.exchange(true)) wait_for(calls, has_call);
}

/// The calls of threads that a forked child does not have never end.
[[maybe_unused]] const int forgets_calls_after_fork = pthread_atfork(nullptr, nullptr, [] {
  calls.store(0);
  first_calls.store(0);
});

}  // namespace

void LibraryCall::cover_this_thread() { ++call_depth; }

LibraryCall::LibraryCall() : is_first_(call_depth == 0 && may_make_statics()) {
  if (call_depth++ > 0) return;
  if (is_first_) {
    begin_first();
    has_first_call = true;
  }
  ++calls;
  has_call = true;
  if (!calls_rest.load() || is_ender) [[likely]]
    return;
  end();
  --call_depth;
  rest_until_process_ends();
  detail::fail<Error>("the process is ending: the libraries that compute are gone");
}

void LibraryCall::begin_first() {
  ++first_calls;
  if (!first_calls_rest.load() || is_ender) return;
  --first_calls;
  rest_until_process_ends();
  // The main thread has ended alone.
  first_calls_rest.store(false);
  ++first_calls;
}

LibraryCall::~LibraryCall() {
  if (--call_depth > 0) return;
  if (is_first_) protect_new_statics();
  end();
}

void LibraryCall::end() const {
  --calls;
  has_call = false;
  if (!is_first_) return;
  --first_calls;
  has_first_call = false;
}

void protect_new_statics() { std::atexit(end_calls); }

namespace {

/// Ever more rarely, until it is told to stop.
void protect_again_and_again(const std::stop_token& stop) {
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
    protector_ = std::jthread(protect_again_and_again);
  } catch (const std::system_error&) {
  }
}

ProtectedStatics::~ProtectedStatics() {
  protector_ = {};
  protect_new_statics();
}

void stop_at_process_end(void (*stop)()) {
  for (auto& place : stops) {
    void (*none)() = nullptr;
    if (place.compare_exchange_strong(none, stop)) break;
  }
  protect_new_statics();
}

void begin_process_end() {
  is_ender = true;
  is_ending.store(true);
  compute_serially_from_now_on();  // helpers would rest
}

void rest_until_process_ends() {
  if (is_ending.load() && !is_ender) std::this_thread::sleep_for(kLongestRest);
}

}  // namespace hearth
