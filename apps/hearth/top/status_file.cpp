#include "status_file.h"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "../names.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::chrono::seconds kWritingInterval{1};

double unix_seconds() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count();
}

std::string text_of(const std::vector<RankReport>& ranks, bool is_locked, bool may_start_again) {
  Json json{{"format", kFormat},
            {"written", unix_seconds()},
            {"locked", is_locked},
            {"may_start_again", may_start_again},
            {"ranks", Json::array()}};
  for (const RankReport& rank : ranks)
    json["ranks"].push_back({{"age", rank.age}, {"report", rank.json}});
  return json.dump(1) + "\n";
}

/// Replaces the file, so that a reader never sees a part of it.
void replace(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::error_code ignored;
  if (std::ofstream(temporary, std::ios::binary) << text << std::flush)
    std::filesystem::rename(temporary, path, ignored);
}

void remove_status(const std::string& path) {
  std::error_code ignored;
  for (const char* ending : {"", ".new"}) std::filesystem::remove(path + ending, ignored);
}

}  // namespace

struct StatusFile::Shared {
  explicit Shared(std::string file) : path(std::move(file)), writer_lock(path) {}

  const std::string path;
  const WriterLock writer_lock;
  std::function<std::vector<std::string>()> reports;
  bool may_start_again = false;
  ReportAges ages;
  std::mutex mutex;
  std::condition_variable changed;
  bool stops = false;
  std::thread thread;

  void serve() {
    std::unique_lock lock(mutex);
    while (!stops) {
      lock.unlock();
      write();
      lock.lock();
      changed.wait_for(lock, kWritingInterval, [this] { return stops; });
    }
  }

  void write() {
    try {
      const bool is_locked = writer_lock.state() == WriterLock::State::kHeld;
      replace(path, text_of(ages.update(reports()), is_locked, may_start_again));
    } catch (const std::exception&) {
      // The next try may succeed; if another process is lost, the training itself fails.
    }
  }
};

std::string status_file_in(const std::string& run_folder) { return run_folder + "/.ranks.json"; }

StatusFile::StatusFile(std::string path, std::function<std::vector<std::string>()> reports,
                       bool may_start_again)
    : shared_(std::make_unique<Shared>(std::move(path))) {
  // Another training of this folder writes the file.
  if (shared_->writer_lock.state() == WriterLock::State::kTaken) return;
  remove_status(shared_->path);
  shared_->reports = std::move(reports);
  shared_->may_start_again = may_start_again;
  shared_->thread = std::thread([shared = shared_.get()] { shared->serve(); });
}

StatusFile::~StatusFile() {
  if (!shared_->thread.joinable()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stops = true;
  }
  shared_->changed.notify_all();
  shared_->thread.join();
  remove_status(shared_->path);
}

Status read_status_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  HEARTH_CHECK(file, "cannot read '", printable(path), "'");
  Status status;
  try {
    const Json json = Json::parse(text);
    HEARTH_CHECK(json.at("format") == kFormat, "its format is ", json.at("format").dump(), ", not ",
                 kFormat);
    status.written = json.at("written").get<double>();
    const double since = std::max(0.0, unix_seconds() - status.written);
    for (const Json& rank : json.at("ranks"))
      status.ranks.push_back(
          {rank.at("report").get<std::string>(), rank.at("age").get<double>() + since});
    status.may_start_again = json.value("may_start_again", false);
    // Without a lock, nothing is known of the writer.
    if (json.value("locked", false)) status.writer = WriterLock::holder_of(path);
  } catch (const std::exception& error) {
    throw Error(detail::str("'", printable(path), "' is damaged: ", error.what()));
  }
  return status;
}

}  // namespace hearth::app
