#include "job_source.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "../launch/address.h"
#include "../names.h"
#include "hearth/distributed.h"
#include "running_jobs.h"
#include "status_file.h"

namespace hearth::app {

namespace {

namespace dist = hearth::distributed;
namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";
constexpr std::chrono::seconds kStoreTimeout{3};
/// Longer than the interval between two reports of a rank.
constexpr std::chrono::milliseconds kSecondLook{1500};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// The job at an address, from the store that its rank 0 serves.
class StoreSource : public JobSource {
 public:
  explicit StoreSource(const RunningJob& job) : place_(job.endpoint()) {
    dist::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(job.port);
    options.timeout = kStoreTimeout;
    if (!job.token.empty()) options.token = job.token;
    try {
      store_ = std::make_unique<dist::TCPStore>(job.host, options);
      ages_.update(reports());
      if (!ages_.has_doubtful()) return;
      std::this_thread::sleep_for(kSecondLook);
      ages_.update(reports());
    } catch (const DistNetworkError& error) {
      throw Error(explanation(error.msg()));
    }
  }

  std::vector<RankReport> look() override {
    try {
      return ages_.update(dist::get_rank_reports(*store_));
    } catch (const DistError&) {
      throw JobEnded(title() + " has ended, or its rank 0 does not answer");
    }
  }

  std::string title() const override { return "the job at " + printable(place_); }

 private:
  std::vector<std::string> reports() {
    try {
      return dist::get_rank_reports(*store_);
    } catch (const DistStoreError&) {
      throw Error("the ranks of the job at " + printable(place_) +
                  " do not report, because they have not called init_process_group");
    }
  }

  std::string explanation(const std::string& reason) const {
    const std::string place = printable(place_);
    if (contains(reason, "token is wrong"))
      return "the job at " + place +
             " has another token: give it with --rdzv-token or HEARTH_RDZV_TOKEN";
    if (contains(reason, "the time-out has passed"))
      return "the job at " + place + " does not answer: its rank 0 is stopped or cannot be reached";
    if (contains(reason, "as a store of Hearth") || contains(reason, "does not speak"))
      return "at " + place +
             " runs another program than a job of Hearth: give MASTER_ADDR and "
             "MASTER_PORT of the job";
    const std::string cause = reason.substr(0, reason.find("; check that"));
    return "no job runs at " + place + ": " + printable(cause);
  }

  std::string place_;
  std::unique_ptr<dist::TCPStore> store_;
  ReportAges ages_;
};

/// The training in a folder, from the file that its first process writes.
class FolderSource : public JobSource {
 public:
  explicit FolderSource(std::string folder) : folder_(std::move(folder)) {
    HEARTH_CHECK(fs::exists(status_file_in(folder_)), "nothing trains in '", printable(folder_),
                 "': ",
                 fs::exists(folder_ + "/config.toml") ? "its training has ended"
                                                      : "it is not the folder of a hearth train");
  }

  std::vector<RankReport> look() override {
    const std::string path = status_file_in(folder_);
    try {
      return read_status_file(path);
    } catch (const Error&) {
      if (fs::exists(path)) throw;
      throw JobEnded(title() + " has ended");
    }
  }

  std::string title() const override { return "the training in '" + printable(folder_) + "'"; }

 private:
  std::string folder_;
};

/// The folder under runs/ with the newest status file; empty if there is none.
std::string newest_training() {
  std::string newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kRuns, error)) {
    const auto time = fs::last_write_time(status_file_in(entry.path()), error);
    if (error || (!newest.empty() && time <= newest_time)) continue;
    newest = entry.path();
    newest_time = time;
  }
  return newest;
}

/// Opens the only job here that answers; if there is none, the newest training.
std::unique_ptr<JobSource> open_any_job() {
  std::unique_ptr<JobSource> found;
  std::string list, problems;
  int count = 0;
  for (const RunningJob& job : running_jobs()) {
    try {
      auto source = std::make_unique<StoreSource>(job);
      list += "\n  hearth top " + printable(job.endpoint()) + "    # " + printable(job.command);
      ++count;
      found = std::move(source);
    } catch (const Error& error) {
      problems += "\n  " + error.msg();
    }
  }
  HEARTH_CHECK(count < 2, "several jobs run here; choose one:", list);
  if (found) return found;
  if (const std::string folder = newest_training(); !folder.empty())
    return std::make_unique<FolderSource>(folder);
  HEARTH_CHECK(false, "no job of yours runs on this machine, and no training in '", kRuns,
               "'; name HOST:PORT of a job or the folder of a hearth train", problems);
}

}  // namespace

std::unique_ptr<JobSource> open_job(const std::string& target, const std::string& token) {
  if (target.empty()) return open_any_job();
  if (fs::is_directory(target)) return std::make_unique<FolderSource>(target);
  Endpoint endpoint;
  const bool is_endpoint = !contains(target, "/") && parse_endpoint(target, endpoint).empty() &&
                           (endpoint.port || contains(target, "."));
  HEARTH_CHECK(is_endpoint, "'", printable(target), "' is neither a folder nor HOST:PORT of a job");
  RunningJob job{endpoint.host, endpoint.port.value_or(kDefaultPort), token, ""};
  // A job of this user on this machine has its secret in its environment.
  if (token.empty() && !std::getenv("HEARTH_RDZV_TOKEN"))
    for (const RunningJob& other : running_jobs())
      if (other.endpoint() == job.endpoint()) job.token = other.token;
  return std::make_unique<StoreSource>(job);
}

}  // namespace hearth::app
