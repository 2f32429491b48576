#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>

#include "core/step_clock.h"
#include "hearth/data/threads.h"
#include "hearth/data/workers.h"
#include "hearth/profiler/record_function.h"

namespace hearth::data::detail {

struct Prefetcher::State {
  /// A submitted job, and whether it has run.
  struct Slot {
    hearth::detail::OwnedPtr<Job> job;
    bool is_done = false;
  };
  using Slots = std::list<Slot>;

  explicit State(bool in_order) : ordered(in_order) {}
  ~State() {
    drain();
    stop();
    threads.join();
  }

  void work(size_t worker, size_t workers) {
    std::unique_lock lock(mutex);
    for (;;) {
      job_or_stop.wait(lock, [&] { return is_stopped || !waiting.empty(); });
      if (is_stopped) return;
      const Slots::iterator slot = waiting.front();
      waiting.pop_front();
      lock.unlock();
      slot->job->run(worker, workers);
      lock.lock();
      slot->is_done = true;
      finished.notify_all();
    }
  }

  /// The finished job to take next, or in_flight_jobs.end().
  Slots::iterator next() {
    if (ordered)
      return in_flight_jobs.front().is_done ? in_flight_jobs.begin() : in_flight_jobs.end();
    return std::find_if(in_flight_jobs.begin(), in_flight_jobs.end(),
                        [](const Slot& slot) { return slot.is_done; });
  }

  /// Waits for running jobs and returns all jobs, for the caller to destroy.
  Slots drain() {
    std::unique_lock lock(mutex);
    Slots dropped;
    for (const Slots::iterator slot : waiting) dropped.splice(dropped.end(), in_flight_jobs, slot);
    waiting.clear();
    finished.wait(lock, [&] {
      return std::all_of(in_flight_jobs.begin(), in_flight_jobs.end(),
                         [](const Slot& slot) { return slot.is_done; });
    });
    dropped.splice(dropped.end(), in_flight_jobs);
    return dropped;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      is_stopped = true;
    }
    job_or_stop.notify_all();
  }

  const bool ordered;
  std::mutex mutex;
  std::condition_variable job_or_stop, finished;
  Slots in_flight_jobs;                 // jobs submitted and not yet taken
  std::deque<Slots::iterator> waiting;  // jobs in flight that no worker has begun
  bool is_stopped = false;
  Threads threads;
};

Prefetcher::Prefetcher(size_t workers, bool ordered) : state_(new State(ordered)) {
  State* state = state_.get();
  state->threads.start(
      workers, [state, workers](size_t worker) { state->work(worker, workers); },
      [state] { state->stop(); });
}
Prefetcher::~Prefetcher() {
  if (state_->threads.are_of_parent()) (void)state_.release();  // a worker may hold the mutex
}

void Prefetcher::check_process() const {
  HEARTH_CHECK(!state_->threads.are_of_parent(),
               "a forked process cannot use a data loader of its parent that has workers; create a "
               "data loader after the fork");
}

void Prefetcher::submit(hearth::detail::OwnedPtr<Job> job) {
  check_process();
  {
    const std::lock_guard lock(state_->mutex);
    state_->in_flight_jobs.push_back({std::move(job)});
    state_->waiting.push_back(std::prev(state_->in_flight_jobs.end()));
  }
  state_->job_or_stop.notify_one();
}

hearth::detail::OwnedPtr<Job> Prefetcher::take(std::optional<std::chrono::milliseconds> timeout) {
  const profiler::record_function range(
      "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  const StepWaitTimer timer(StepWait::kData);
  check_process();
  std::unique_lock lock(state_->mutex);
  if (state_->in_flight_jobs.empty()) return {};
  auto slot = state_->in_flight_jobs.end();
  const auto is_ready = [&] { return (slot = state_->next()) != state_->in_flight_jobs.end(); };
  if (timeout)
    HEARTH_CHECK(state_->finished.wait_for(lock, *timeout, is_ready),
                 "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                 timeout->count(), " ms)");
  else
    state_->finished.wait(lock, is_ready);
  hearth::detail::OwnedPtr<Job> job = std::move(slot->job);
  state_->in_flight_jobs.erase(slot);
  return job;
}

size_t Prefetcher::in_flight() const {
  check_process();
  const std::lock_guard lock(state_->mutex);
  return state_->in_flight_jobs.size();
}

void Prefetcher::drain() {
  check_process();
  state_->drain();
}

}  // namespace hearth::data::detail
