#include "run_folder.h"

#include <filesystem>

#include "hearth/error.h"

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  HEARTH_CHECK(!error, "cannot make the folder '", path.string(), "': ", error.message());
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
  if (path.empty()) return RunFolder(make_numbered(options).string());
  make_folder(path);
  const RunFolder folder(path);
  HEARTH_CHECK(!fs::exists(folder.config()), "'", path,
               "' holds a run already: choose another folder, or go on with it: hearth train "
               "--resume ",
               path);
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  const RunFolder folder(path.empty() ? last_begun().string() : path);
  HEARTH_CHECK(fs::exists(folder.config()), "'", folder.path(),
               "' holds no run to go on with: there is no ", folder.config());
  return folder;
}

std::string RunFolder::of_run(size_t number) const {
  const std::string folder = path_ + "/run-" + std::to_string(number);
  make_folder(folder);
  return folder;
}

}  // namespace hearth::app
