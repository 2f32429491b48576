#include "run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "../quotes.h"
#include "divergence.h"
#include "hearth/error.h"
#include "hearth/io/file.h"

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";

std::string lock_in(const std::string& folder) { return folder + "/.lock"; }

std::string job_in(const std::string& folder) { return folder + "/.job"; }

bool holds_checkpoint(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path))
    for (const char* name : {kLastCheckpoint, kBestCheckpoint})
      if (fs::exists(entry.path() / name)) return true;
  return false;
}

/// Throws if training would overwrite files that no run wrote: a run leaves a lock file.
void check_overwrites_nothing(const RunFolder& folder, size_t runs) {
  if (fs::exists(lock_in(folder.path()))) return;
  std::vector<std::string> written{folder.config(), folder.results("csv"), folder.results("json"),
                                   folder.curves()};
  for (size_t i = 1; i <= runs; ++i) written.push_back(folder.of_run(i));
  for (const std::string& path : written)
    HEARTH_CHECK(!fs::exists(path), "'", path,
                 "' already exists and was not written by a run: choose another folder");
}

/// Creates runs/tutorial-cnn-fashion-mnist or, if it exists, the same with a number appended.
fs::path create_numbered(const TrainOptions& options) {
  const std::string data = fs::path(options.data).lexically_normal().filename().string();
  const std::string name = options.model + "-" + (data.empty() ? "images" : data);
  create_folder(kRuns);
  for (int number = 1;; ++number) {
    const fs::path path =
        fs::path(kRuns) / (number == 1 ? name : name + "-" + std::to_string(number));
    std::error_code error;
    if (fs::create_directory(path, error)) return path;
    HEARTH_CHECK(!error, "cannot create the folder '", path.string(), "': ", error.message());
  }
}

/// The folder under runs/ with the newest config.toml.
fs::path latest_run() {
  fs::path latest;
  fs::file_time_type latest_time;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kRuns, error)) {
    const fs::file_time_type time = fs::last_write_time(entry.path() / "config.toml", error);
    if (error || (!latest.empty() && time <= latest_time)) continue;
    latest = entry.path();
    latest_time = time;
  }
  HEARTH_CHECK(!latest.empty(), "there is no run to resume in '", kRuns, "'");
  return latest;
}

}  // namespace

RunFolder RunFolder::create(const TrainOptions& options, const std::string& path,
                            const std::string& job) {
  RunFolder folder(path.empty() ? create_numbered(options).string() : path);
  create_folder(folder.path());
  const size_t runs = runs_of(options).size();
  check_overwrites_nothing(folder, runs);
  folder.lock();
  HEARTH_CHECK(!holds_checkpoint(folder.path()), "'", folder.path(),
               "' already holds a run: choose another folder",
               fs::exists(folder.config()) ? ", or resume it: " + folder.resume_command() : "");
  for (size_t i = 1; i <= runs; ++i) remove_divergence(folder.of_run(i));
  fs::remove(folder.results("csv"));
  io::write_file(job_in(folder.path()), job + "\n");
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  RunFolder folder(path.empty() ? latest_run().string() : path);
  HEARTH_CHECK(fs::exists(folder.config()), "'", folder.path(),
               "' holds no run to resume: there is no ", folder.config());
  folder.lock();
  return folder;
}

bool RunFolder::holds_run_of(const std::string& path, const std::string& job) {
  std::ifstream file(job_in(path));
  std::string creator;
  return fs::exists(RunFolder(path).config()) && std::getline(file, creator) && !job.empty() &&
         creator == job;
}

/// Locks the folder until the last copy of this RunFolder is destroyed.
void RunFolder::lock() {
  const std::string path = lock_in(path_);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  HEARTH_CHECK(file >= 0, "cannot write '", path, "': ", std::strerror(errno));
  lock_ = std::shared_ptr<void>(nullptr, [file](void*) { close(file); });
  // Other errors: the file system has no locks.
  HEARTH_CHECK(flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
               "another hearth train is running in '", path_, "'");
}

std::string RunFolder::resume_command() const {
  return shell_word(program_invocation_name) + " train --resume " + shell_word(path_);
}

void create_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  HEARTH_CHECK(!error, "cannot create the folder '", path, "': ", error.message());
}

}  // namespace hearth::app
