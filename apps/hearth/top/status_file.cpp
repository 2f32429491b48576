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

std::string text_of(const std::vector<RankReport>& ranks) {
  Json json{{"format", kFormat}, {"written", unix_seconds()}, {"ranks", Json::array()}};
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

}  // namespace

struct StatusFile::Shared {
  std::string path;
  std::function<std::vector<std::string>()> reports;
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
      replace(path, text_of(ages.update(reports())));
    } catch (const std::exception&) {
      // The next try may succeed; the training has its own error if another process is lost.
    }
  }
};

std::string status_file_in(const std::string& run_folder) { return run_folder + "/.ranks.json"; }

StatusFile::StatusFile(std::string path, std::function<std::vector<std::string>()> reports)
    : shared_(std::make_unique<Shared>()) {
  shared_->path = std::move(path);
  shared_->reports = std::move(reports);
  shared_->thread = std::thread([shared = shared_.get()] { shared->serve(); });
}

StatusFile::~StatusFile() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stops = true;
  }
  shared_->changed.notify_all();
  shared_->thread.join();
  std::error_code ignored;
  for (const char* ending : {"", ".new"}) std::filesystem::remove(shared_->path + ending, ignored);
}

std::vector<RankReport> read_status_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  HEARTH_CHECK(file, "cannot read '", printable(path), "'");
  std::vector<RankReport> ranks;
  try {
    const Json json = Json::parse(text);
    HEARTH_CHECK(json.at("format") == kFormat, "its format is ", json.at("format").dump(), ", not ",
                 kFormat);
    const double since = std::max(0.0, unix_seconds() - json.at("written").get<double>());
    for (const Json& rank : json.at("ranks"))
      ranks.push_back({rank.at("report").get<std::string>(), rank.at("age").get<double>() + since});
  } catch (const std::exception& error) {
    throw Error(detail::str("'", printable(path), "' is damaged: ", error.what()));
  }
  return ranks;
}

}  // namespace hearth::app
