#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hearth/utils/tensorboard.h"
#include "log/event_file.h"

namespace hearth::utils::tensorboard::detail {

/// Writes the events of a SummaryWriter to its files, on a thread of its own. The names of folders
/// are relative to the writer's log directory.
class EventWriter {
 public:
  explicit EventWriter(const SummaryWriterOptions& options);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  /// `delete writer` does nothing in a forked child, which has no copy of the thread: destroying
  /// the condition variables would wait for the thread forever.
  static void operator delete(EventWriter* writer, std::destroying_delete_t);

  /// Adds an event; an empty one only creates the file.
  void add(std::string event, std::string folder = {});
  /// Adds the event that `make` returns on the writer's thread, or none if that is empty. `bytes`
  /// is the memory that `make` holds. If it throws, the error's text becomes a warning.
  void add_later(size_t bytes, std::function<std::string()> make);
  /// Keeps a warning, only once, if the step is less than the tag's previous step in this folder.
  void check_step(const std::string& tag, int64_t step, const std::string& folder = {});
  void close_folder(std::string folder);  ///< closes the file of a subfolder
  void flush();                           ///< waits until all events are in the files
  /// Flushes, closes the files and ends the thread. A later add() opens new files.
  void close();

  const std::string& folder() const { return folder_; }

 private:
  struct Entry {
    std::string folder, event;
    std::function<std::string()> make;  // null: `event` is complete
    size_t bytes;
    bool closes_folder = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  /// Whether this process created the writer. If not, gives a warning once.
  bool is_of_this_process();
  void push(Entry entry);
  void start();
  bool is_due() const;
  void run();
  void write(std::vector<Entry>& entries);
  void apply(Entry& entry);
  void flush_files();
  EventFile& file_in(const std::string& folder);
  /// Runs f; keeps the text of a new error for a warning.
  template <class F>
  void attempt(const F& f);
  void add_error(const std::string& problem, const std::string& text);
  /// Keeps a text for a warning if the problem is a new one.
  void add_warning(const std::string& problem, const std::string& text);
  /// Gives the kept warnings, on the caller's thread.
  void give_warnings(Lock& lock);

  const std::string folder_, suffix_;
  const size_t max_queue_;
  const std::chrono::duration<double> delay_;
  const Step purge_step_;
  const unsigned forks_;  // between the first process and the one that created the writer
  std::atomic<bool> has_warned_child_{false};

  // Used by the writer's thread only.
  std::map<std::string, EventFile> files_;
  std::set<std::string> purged_;  // the folders with the records of purge_step_

  std::mutex mutex_;  // guards all members below
  std::condition_variable work_, progress_;
  std::vector<Entry> pending_;
  size_t pending_bytes_ = 0;
  uint64_t added_ = 0, written_ = 0;  // entries
  bool is_urgent_ = false, stops_ = false, has_ended_ = false;
  uint64_t closings_ = 0;                                              // by close(), so far
  std::map<std::pair<std::string, std::string>, int64_t> last_steps_;  // by folder and tag
  std::set<std::string> problems_;                                     // of all warnings so far
  std::vector<std::string> warnings_;                                  // to be given
  std::thread thread_;
};

}  // namespace hearth::utils::tensorboard::detail
