#include "job_source.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "../launch/address.h"
#include "../names.h"
#include "../usage.h"
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

/// The time for which a job may be away: after a failure, its ranks end and start again.
constexpr std::chrono::seconds kPatience{10};

using Clock = std::chrono::steady_clock;

/// The time since a job was seen last.
class Absence {
 public:
  void begin() {
    if (!since_) since_ = Clock::now();
  }
  void end() { since_.reset(); }
  bool is_long() const { return since_ && Clock::now() - *since_ >= kPatience; }
  std::string remark() const {
    if (!since_) return "";
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - *since_);
    return "no answer for " + std::to_string(seconds.count()) + " s";
  }

 private:
  std::optional<Clock::time_point> since_;
};

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
      ages_.update(first_reports());
      if (!ages_.has_doubtful_age()) return;
      std::this_thread::sleep_for(kSecondLook);
      ages_.update(first_reports());
    } catch (const dist::StoreConnectionError& error) {
      throw Error(explanation(error));
    }
  }

  std::vector<RankReport> look() override {
    try {
      reports_ = dist::get_rank_reports(*store_);
      absence_.end();
    } catch (const dist::NoRankReportsError&) {
      absence_.end();  // the ranks of a job that starts again have not met yet
    } catch (const DistError&) {
      absence_.begin();
      if (absence_.is_long()) throw JobEnded(title() + " has ended, or its rank 0 does not answer");
    }
    return ages_.update(reports_);
  }

  std::string title() const override { return "the job at " + printable(place_); }

  std::string remark() const override { return absence_.remark(); }

 private:
  const std::vector<std::string>& first_reports() {
    try {
      return reports_ = dist::get_rank_reports(*store_);
    } catch (const dist::NoRankReportsError&) {
      throw Error("the ranks of the job at " + printable(place_) +
                  " do not report, because they have not called init_process_group");
    }
  }

  std::string explanation(const dist::StoreConnectionError& error) const {
    using Reason = dist::StoreConnectionError::Reason;
    const std::string place = printable(place_);
    switch (error.reason()) {
      case Reason::kWrongToken:
        return "the job at " + place +
               " has another token: give it with --rdzv-token or HEARTH_RDZV_TOKEN";
      case Reason::kNoAnswer:
        return "the job at " + place +
               " does not answer: its rank 0 is stopped or cannot be reached";
      case Reason::kForeignServer:
        return "at " + place +
               " runs another program than a job of this version of Hearth: give MASTER_ADDR and "
               "MASTER_PORT of the job";
      case Reason::kOtherLaunch:
      case Reason::kOtherRound:
      case Reason::kUnreachable:
      case Reason::kClosed: break;
    }
    return "no job runs at " + place + ": " + printable(error.cause());
  }

  std::string place_;
  std::unique_ptr<dist::TCPStore> store_;
  std::vector<std::string> reports_;  // the newest
  Absence absence_;
  ReportAges ages_;
};

/// The training in a folder, from the file that its first process writes.
class FolderSource : public JobSource {
 public:
  explicit FolderSource(std::string folder) : folder_(std::move(folder)) {
    const std::string nothing = "nothing trains in '" + printable(folder_) + "': ";
    HEARTH_CHECK(fs::exists(status_file_in(folder_)), nothing,
                 fs::exists(folder_ + "/config.toml") ? "its training has ended"
                                                      : "it is not the folder of a hearth train");
    std::string end = read();
    if (is_doubtful_ && end.empty()) {
      std::this_thread::sleep_for(kSecondLook);
      end = read();
    }
    HEARTH_CHECK(end.empty(), nothing, "its training", end);
  }

  std::vector<RankReport> look() override {
    const std::string end = read();
    if (end.empty())
      absence_.end();
    else
      absence_.begin();
    if (!end.empty() && (!status_.may_start_again || absence_.is_long()))
      throw JobEnded(title() + end);
    std::vector<RankReport> ranks = status_.ranks;
    const std::chrono::duration<double> age = Clock::now() - read_;
    for (RankReport& rank : ranks) rank.age += age.count();
    return ranks;
  }

  std::string title() const override { return "the training in '" + printable(folder_) + "'"; }
  std::string remark() const override { return absence_.remark(); }

 private:
  /// Reads the file if there is one. Returns "" or, if nobody writes the file any more, " has
  /// ended", perhaps with the reason.
  std::string read() {
    const std::string path = status_file_in(folder_);
    std::optional<Status> status;
    for (int tries = 1; !status; ++tries) {  // once more if the file exists after a failed read
      try {
        status = read_status_file(path);
      } catch (const Error&) {
        if (fs::exists(path)) {
          if (tries == 2) throw;
          continue;
        }
        is_doubtful_ = false;
        return " has ended";
      }
    }
    const bool is_new = status->written != status_.written;
    status_ = std::move(*status);
    read_ = Clock::now();
    // Some network file systems keep locks on each machine, so a lock that is not found on this one
    // is no proof: a process that exists also writes the file.
    is_doubtful_ = status_.writer == StatusWriter::kNotFound;
    if (!is_doubtful_ || is_new) changed_ = read_;
    return read_ - changed_ < kSecondLook ? "" : " has ended (it was killed)";
  }

  std::string folder_;
  Status status_;                             // the newest
  Clock::time_point read_;                    // when `status_` was read
  Clock::time_point changed_ = Clock::now();  // when `status_` was written, or its writer was found
  bool is_doubtful_ = false;                  // the writer was not found
  Absence absence_;
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
  // A word with neither a port nor a dot is taken for a folder that does not exist.
  const bool is_endpoint = target.find('/') == std::string::npos &&
                           parse_endpoint(target, endpoint).empty() &&
                           (endpoint.port || target.find('.') != std::string::npos);
  HEARTH_CHECK_AS(UsageError, is_endpoint, "'", printable(target),
                  "' is neither a folder nor HOST:PORT of a job");
  RunningJob job{endpoint.host, endpoint.port.value_or(kDefaultPort), token, ""};
  // A job of this user on this machine has its secret in its environment.
  if (token.empty() && !std::getenv("HEARTH_RDZV_TOKEN"))
    for (const RunningJob& other : running_jobs())
      if (other.endpoint() == job.endpoint()) job.token = other.token;
  return std::make_unique<StoreSource>(job);
}

}  // namespace hearth::app
