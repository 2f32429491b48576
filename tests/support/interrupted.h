#pragma once

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace hearth::testing {

/// Calls f in a thread that gets a signal after 0.2 s, whose handler does nothing. Returns the
/// seconds that f took, but at least 0.2.
template <class F>
double seconds_of_interrupted(const F& f) {
  struct sigaction action {};
  struct sigaction former {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &former);
  const auto begin = std::chrono::steady_clock::now();
  std::thread thread(f);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  pthread_kill(thread.native_handle(), SIGUSR1);
  thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  sigaction(SIGUSR1, &former, nullptr);
  return seconds.count();
}

}  // namespace hearth::testing
