// Simulated streams and events. A stream is a queue that one thread runs in order; callers wait for
// a position in it, and an event is a mark at a position. Simulated time passes in each stream
// separately: work begins no earlier than it was submitted, and a waiter continues no earlier than
// the awaited work.
#include "kernels/sim/stream.h"

#include <pthread.h>

#include <atomic>

#include "core/process_end.h"
#include "hearth/error.h"
#include "seam/backend.h"

namespace hearth::sim {

namespace {

thread_local Stream* running_stream = nullptr;

std::atomic<bool> is_child{false};

}  // namespace

bool is_forked_child() { return is_child.load(std::memory_order_relaxed); }

void check_not_forked() {
  HEARTH_CHECK(!is_forked_child(),
               "Cannot re-initialize CUDA in forked subprocess: start the process anew instead");
}

Stream::Stream(bool lazy) : demanded_(lazy ? 0 : UINT64_MAX) {
  [[maybe_unused]] static const int once =
      pthread_atfork(nullptr, nullptr, [] { is_child = true; });
}

Stream::~Stream() {
  request_stop();
  join();
}

uint64_t Stream::submit(std::function<void()> work) {
  check_not_forked();
  const std::lock_guard lock(mutex_);
  if (stopping_) return ++submitted_;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  queue_.push_back({std::move(work), Clock::now()});
  work_ready_.notify_one();
  return ++submitted_;
}

void Stream::demand(uint64_t position) {
  if (position <= demanded_) return;
  demanded_ = position;
  work_ready_.notify_one();
}

void Stream::wait_for(uint64_t position) {
  check_not_forked();
  std::unique_lock lock(mutex_);
  demand(position);
  work_done_.wait(lock, [&] { return completed_ >= position || stopping_; });
  // The times of earlier positions are not known.
  if (completed_ == position) Clock::wait_until(completed_at_);
}

void Stream::wait_for_results(uint64_t position) {
  wait_for(position);
  {
    const std::lock_guard lock(mutex_);
    if (completed_ >= position) return;
  }
  wait_while_process_ends();
  detail::fail<Error>(
      "The simulated GPU has stopped, because the process is ending: its results cannot be read");
}

bool Stream::has_passed(uint64_t position) {
  const std::lock_guard lock(mutex_);
  demand(position);
  return completed_ >= position || stopping_;
}

uint64_t Stream::last_position() {
  check_not_forked();
  const std::lock_guard lock(mutex_);
  return submitted_;
}

void Stream::rethrow() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex_);
    error.swap(error_);
  }
  if (error) std::rethrow_exception(error);
}

bool Stream::has_failed() {
  const std::lock_guard lock(mutex_);
  return error_ != nullptr;
}

void Stream::request_stop() {
  if (is_forked_child()) return;
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  work_ready_.notify_one();
  work_done_.notify_all();
}

void Stream::join() {
  if (!is_forked_child() && thread_.joinable()) thread_.join();
}

bool Stream::is_running_caller() const { return running_stream == this; }
Stream& Stream::running() { return *running_stream; }

std::shared_ptr<Capture> Stream::capture() {
  const std::lock_guard lock(mutex_);
  return capture_;
}
void Stream::set_capture(std::shared_ptr<Capture> capture) {
  const std::lock_guard lock(mutex_);
  capture_ = std::move(capture);
}

void Stream::check_not_capturing() {
  const auto captured_in = capture();
  if (!captured_in) return;
  captured_in->invalidate();
  detail::fail<Error>(kNotWhileCapturing);
}

void Stream::run() {
  running_stream = this;
  std::unique_lock lock(mutex_);
  while (true) {
    work_ready_.wait(lock,
                     [&] { return stopping_ || (!queue_.empty() && completed_ < demanded_); });
    if (stopping_) return;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    Clock::wait_until(work.submitted);
    std::exception_ptr error;
    try {
      work.run();
    } catch (...) {
      error = std::current_exception();
    }
    work.run = nullptr;  // destroys the captured objects before waiters see the work completed
    lock.lock();
    if (error && !error_) error_ = error;
    ++completed_;
    completed_at_ = Clock::now();
    work_done_.notify_all();
  }
}

void Event::record(Stream& stream) {
  auto next = std::make_shared<Mark>();
  next->stream = &stream;
  if ((next->capture = stream.capture())) {
    next->point = next->capture->point_of(stream);
    mark = std::move(next);
    return;
  }
  next->position = stream.submit([next] {
    next->time = std::chrono::steady_clock::now();
    next->simulated_time = Clock::now();
  });
  mark = std::move(next);
}

void Event::make_wait(Stream& waiter) const {
  if (!mark || mark->stream == &waiter) return;
  if (const auto capture = waiter.capture()) {
    if (capture == mark->capture) return capture->wait(waiter, mark->point);
    capture->invalidate();
    detail::fail<Error>("CUDA error: dependency created on uncaptured work in another stream");
  }
  if (mark->capture) {
    HEARTH_CHECK(!mark->capture->has_ended(),
                 "CUDA error: operation not permitted on an event last recorded in a capturing "
                 "stream");
    waiter.set_capture(mark->capture);
    return mark->capture->wait(waiter, mark->point);
  }
  waiter.submit([awaited = mark] {
    awaited->stream->wait_for(awaited->position);
    Clock::wait_until(awaited->simulated_time);
  });
}

}  // namespace hearth::sim
