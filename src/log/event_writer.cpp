#include "log/event_writer.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/step_clock.h"
#include "hearth/error.h"
#include "hearth/thread_state.h"
#include "log/events.h"

namespace hearth::utils::tensorboard::detail {

namespace {
constexpr size_t kMaxPendingBytes = size_t{64} << 20;
constexpr size_t kEntryBytes = 256;  // of memory besides the event
constexpr size_t kMaxWarnings = 20;  // of a writer: their texts may contain values
constexpr double kMaxDelay = 1;      // seconds; a killed program loses no more

std::atomic<unsigned> forks{0};  // between the first process and this one
[[maybe_unused]] const int counts_forks =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

EventWriter::EventWriter(const SummaryWriterOptions& options)
    : folder_(options.log_dir()),
      suffix_(options.filename_suffix()),
      max_queue_(options.max_queue() > 0 ? static_cast<size_t>(options.max_queue()) : SIZE_MAX),
      delay_(std::clamp(options.flush_secs(), 0.0, kMaxDelay)),
      purge_step_(options.purge_step()),
      forks_(forks.load(std::memory_order_relaxed)) {
  add("");  // creates the file
  flush();
}

EventWriter::~EventWriter() {
  try {
    close();
  } catch (const std::exception&) {  // thrown by the program's warning handler
  }
}

void EventWriter::operator delete(EventWriter* writer, std::destroying_delete_t) {
  if (!writer->is_of_this_process()) return;
  writer->~EventWriter();
  ::operator delete(writer);
}

bool EventWriter::is_of_this_process() {
  if (forks_ == forks.load(std::memory_order_relaxed)) return true;
  if (!has_warned_child_.exchange(true))
    warn(
        "SummaryWriter: a forked process cannot use a writer of its parent, and its records are "
        "lost; create a SummaryWriter after the fork");
  return false;
}

void EventWriter::add(std::string event, std::string folder) {
  const size_t bytes = event.size() + kEntryBytes;
  push({std::move(folder), std::move(event), nullptr, bytes});
}

void EventWriter::add_later(size_t bytes, std::function<std::string()> make) {
  push({"", "", std::move(make), bytes + kEntryBytes});
}

void EventWriter::close_folder(std::string folder) {
  push({std::move(folder), "", nullptr, kEntryBytes, true});
}

void EventWriter::check_step(const std::string& tag, int64_t step, const std::string& folder) {
  if (!is_of_this_process()) return;
  const Lock lock(mutex_);
  const auto [found, is_new] = last_steps_.try_emplace({folder, tag}, step);
  if (step < found->second)
    add_warning(
        "a step goes back",
        hearth::detail::str("the step of '", tag, "' goes back from ", found->second, " to ", step,
                            "; TensorBoard hides the tag's earlier records from step ", step,
                            " on (this warning is given once)"));
  found->second = step;
}

void EventWriter::push(Entry entry) {
  if (!is_of_this_process()) return;
  const StepWaitTimer timer(StepWait::kLogging);
  Lock lock(mutex_);
  give_warnings(lock);
  progress_.wait(lock, [&] { return pending_bytes_ < kMaxPendingBytes && !has_ended_; });
  if (!thread_.joinable()) start();
  pending_bytes_ += entry.bytes;
  pending_.push_back(std::move(entry));
  ++added_;
  // The thread wakes up for the first entry, waits for others, and writes when the queue is due.
  if (pending_.size() == 1 || is_due()) work_.notify_one();
}

bool EventWriter::is_due() const {
  return is_urgent_ || stops_ || pending_.size() >= max_queue_ ||
         pending_bytes_ >= kMaxPendingBytes / 2;
}

void EventWriter::start() {
  thread_ = std::thread([this] {
    const SerialGuard serial;
    run();
  });
}

void EventWriter::run() {
  Lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return !pending_.empty() || stops_; });
    if (pending_.empty()) {
      has_ended_ = true;
      progress_.notify_all();
      return;
    }
    work_.wait_for(lock, delay_, [&] { return is_due(); });
    std::vector<Entry> entries = std::exchange(pending_, {});
    const uint64_t end = added_;
    pending_bytes_ = 0;
    is_urgent_ = false;
    progress_.notify_all();
    lock.unlock();
    write(entries);
    entries.clear();
    lock.lock();
    written_ = end;
    progress_.notify_all();
  }
}

void EventWriter::write(std::vector<Entry>& entries) {
  using Clock = std::chrono::steady_clock;
  auto flushed = Clock::now();
  for (Entry& entry : entries) {
    attempt([&] { apply(entry); });
    if (Clock::now() - flushed < delay_) continue;
    flush_files();
    flushed = Clock::now();
  }
  flush_files();
}

void EventWriter::apply(Entry& entry) {
  if (entry.closes_folder) {
    attempt([&] { file_in(entry.folder).flush(); });
    files_.erase(entry.folder);
    return;
  }
  if (!entry.make) return file_in(entry.folder).add(entry.event);
  if (const std::string event = entry.make(); !event.empty()) file_in(entry.folder).add(event);
}

void EventWriter::flush_files() {
  for (auto& [name, file] : files_) attempt([&file = file] { file.flush(); });
}

EventFile& EventWriter::file_in(const std::string& folder) {
  const auto found = files_.find(folder);
  if (found != files_.end()) return found->second;
  const std::string path = folder.empty() ? folder_ : folder_ + "/" + folder;
  EventFile& file = files_.try_emplace(folder, path, suffix_).first->second;
  if (purge_step_ && purged_.insert(folder).second)
    for (const std::string& event : purge_events(*purge_step_)) file.add(event);
  return file;
}

template <class F>
void EventWriter::attempt(const F& f) {
  try {
    f();
  } catch (const WriteError& error) {
    add_error(error.reason(), error.what());  // once for all folders
  } catch (const std::exception& error) {
    add_error(error.what(), error.what());
  }
}

void EventWriter::add_error(const std::string& problem, const std::string& text) {
  const Lock lock(mutex_);
  add_warning(problem,
              text + " (such records are lost; the program goes on; this warning is given once)");
}

void EventWriter::add_warning(const std::string& problem, const std::string& text) {
  if (problems_.size() < kMaxWarnings && problems_.insert(problem).second)
    warnings_.push_back(text);
}

void EventWriter::give_warnings(Lock& lock) {
  if (warnings_.empty()) return;
  const std::vector<std::string> texts = std::exchange(warnings_, {});
  lock.unlock();
  for (const std::string& text : texts) warn("SummaryWriter: " + text);
  lock.lock();
}

void EventWriter::flush() {
  if (!is_of_this_process()) return;
  const StepWaitTimer timer(StepWait::kLogging);
  Lock lock(mutex_);
  const uint64_t end = added_;
  is_urgent_ = !pending_.empty();
  work_.notify_one();
  progress_.wait(lock, [&] { return written_ >= end; });
  give_warnings(lock);
}

void EventWriter::close() {
  if (!is_of_this_process()) return;
  Lock lock(mutex_);
  if (thread_.joinable()) {
    stops_ = true;
    work_.notify_one();
    // Another thread may close the writer first, and a third may open it again.
    progress_.wait(lock, [&, before = closings_] { return has_ended_ || closings_ != before; });
  }
  if (has_ended_) {
    thread_.join();
    files_.clear();
    has_ended_ = stops_ = false;
    ++closings_;
    progress_.notify_all();
  }
  give_warnings(lock);
}

}  // namespace hearth::utils::tensorboard::detail
