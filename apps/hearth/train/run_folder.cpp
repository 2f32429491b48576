#include "run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "../quotes.h"
#include "divergence.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";

std::string lock_in(const std::string& folder) { return folder + "/.lock"; }

bool holds_checkpoint(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path))
    for (const char* name : {kLastCheckpoint, kBestCheckpoint})
      if (fs::exists(entry.path() / name)) return true;
  return false;
}

/// What a run writes, or writes into, is the user's in a folder where no run has been.
void check_nothing_is_lost(const RunFolder& folder, size_t runs) {
  if (fs::exists(lock_in(folder.path()))) return;
  std::vector<std::string> written{folder.config(), folder.results("csv"), folder.results("json"),
                                   folder.curves()};
  for (size_t i = 1; i <= runs; ++i) written.push_back(folder.of_run(i));
  for (const std::string& path : written)
    HEARTH_CHECK(!fs::exists(path), "'", path,
                 "' is there already and of no run: choose another folder");
}

/// runs/seed-cnn-fashion-mnist, or with a number behind it.
fs::path make_numbered(const TrainOptions& options) {
  const std::string data = fs::path(options.data).lexically_normal().filename().string();
  const std::string name = options.model + "-" + (data.empty() ? "images" : data);
  make_folder(kRuns);
  for (int number = 1;; ++number) {
    const fs::path path =
        fs::path(kRuns) / (number == 1 ? name : name + "-" + std::to_string(number));
    std::error_code error;
    if (fs::create_directory(path, error)) return path;
    HEARTH_CHECK(!error, "cannot make the folder '", path.string(), "': ", error.message());
  }
}

fs::path last_begun() {
  fs::path last;
  fs::file_time_type begun;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kRuns, error)) {
    const fs::file_time_type time = fs::last_write_time(entry.path() / "config.toml", error);
    if (error || (!last.empty() && time <= begun)) continue;
    last = entry.path();
    begun = time;
  }
  HEARTH_CHECK(!last.empty(), "there is no run to go on with in '", kRuns, "'");
  return last;
}

}  // namespace

RunFolder RunFolder::create(const TrainOptions& options, const std::string& path) {
  RunFolder folder(path.empty() ? make_numbered(options).string() : path);
  make_folder(folder.path());
  const size_t runs = runs_of(options).size();
  check_nothing_is_lost(folder, runs);
  folder.lock();
  HEARTH_CHECK(!holds_checkpoint(folder.path()), "'", folder.path(),
               "' holds a run already: choose another folder",
               fs::exists(folder.config()) ? ", or go on with it: " + folder.how_to_resume() : "");
  for (size_t i = 1; i <= runs; ++i) forget_divergence(folder.of_run(i));
  fs::remove(folder.results("csv"));
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  RunFolder folder(path.empty() ? last_begun().string() : path);
  HEARTH_CHECK(fs::exists(folder.config()), "'", folder.path(),
               "' holds no run to go on with: there is no ", folder.config());
  folder.lock();
  return folder;
}

/// Until the last copy of the folder is gone, or the process.
void RunFolder::lock() {
  const std::string path = lock_in(path_);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  HEARTH_CHECK(file >= 0, "cannot write '", path, "': ", std::strerror(errno));
  lock_ = std::shared_ptr<void>(nullptr, [file](void*) { close(file); });
  // A file system without locks has none to respect.
  HEARTH_CHECK(flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
               "another hearth train is at work in '", path_, "'");
}

std::string RunFolder::how_to_resume() const {
  return shell_word(program_invocation_name) + " train --resume " + shell_word(path_);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  HEARTH_CHECK(!error, "cannot make the folder '", path, "': ", error.message());
}

}  // namespace hearth::app
