#include "log/event_writer.h"

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
constexpr size_t kEntryBytes = 256;   // of memory besides the event
constexpr size_t kMostWarnings = 20;  // of a writer: their texts may contain values
constexpr double kMaxDelay = 1;       // seconds; a killed program loses no more
}  // namespace

EventWriter::EventWriter(const SummaryWriterOptions& options)
    : folder_(options.log_dir()),
      suffix_(options.filename_suffix()),
      max_queue_(options.max_queue() > 0 ? static_cast<size_t>(options.max_queue()) : SIZE_MAX),
      delay_(std::clamp(options.flush_secs(), 0.0, kMaxDelay)) {
  if (options.purge_step())
    for (std::string& event : purge_events(*options.purge_step())) add(std::move(event));
  else
    add("");  // creates the file
  flush();
}

EventWriter::~EventWriter() { close(); }

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

void EventWriter::push(Entry entry) {
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
  for (Entry& entry : entries) attempt([&] { apply(entry); });
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
  return files_.try_emplace(folder, path, suffix_).first->second;
}

template <class F>
void EventWriter::attempt(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    const Lock lock(mutex_);
    if (problems_.size() < kMostWarnings && problems_.insert(error.what()).second)
      warnings_.push_back(error.what());
  }
}

void EventWriter::give_warnings(Lock& lock) {
  if (warnings_.empty()) return;
  const std::vector<std::string> texts = std::exchange(warnings_, {});
  lock.unlock();
  for (const std::string& text : texts)
    warn("SummaryWriter: " + text +
         " (such records are lost; the program goes on, and this is said once)");
  lock.lock();
}

void EventWriter::flush() {
  const StepWaitTimer timer(StepWait::kLogging);
  Lock lock(mutex_);
  const uint64_t end = added_;
  is_urgent_ = !pending_.empty();
  work_.notify_one();
  progress_.wait(lock, [&] { return written_ >= end; });
  give_warnings(lock);
}

void EventWriter::close() {
  Lock lock(mutex_);
  if (thread_.joinable()) {
    stops_ = true;
    work_.notify_one();
    progress_.wait(lock, [&] { return has_ended_ || !thread_.joinable(); });
  }
  if (has_ended_) {
    thread_.join();
    files_.clear();
    has_ended_ = stops_ = false;
    progress_.notify_all();
  }
  give_warnings(lock);
}

}  // namespace hearth::utils::tensorboard::detail
