#pragma once

#include <memory>
#include <string>

#include "options.h"

namespace hearth::app {

inline constexpr const char* kLastCheckpoint = "last.ckpt";
inline constexpr const char* kBestCheckpoint = "best.ckpt";

/// The folder with all files of one `hearth train`, which no other one can use at the same time.
class RunFolder {
 public:
  /// Creates the folder, under runs/ if the path is empty; throws if it holds a checkpoint, or
  /// files of other programs that training would overwrite. `job` is the name that the launcher
  /// gave the job, or empty: after a restart, the job finds its folder by it.
  static RunFolder create(const TrainOptions& options, const std::string& path,
                          const std::string& job);
  /// Opens the folder of a training to resume; if the path is empty, the latest one under runs/.
  static RunFolder open(const std::string& path);
  /// For the other processes of a job: the folder without the lock, for the paths of its files.
  static RunFolder without_lock(const std::string& path) { return RunFolder(path); }
  /// Whether the folder has a training that open() accepts, and that this job has created.
  static bool holds_run_of(const std::string& path, const std::string& job);

  const std::string& path() const { return path_; }
  std::string config() const { return path_ + "/config.toml"; }
  std::string results(const std::string& ending) const { return path_ + "/results." + ending; }
  std::string curves() const { return path_ + "/curves.png"; }
  /// The folder of one point of the grid; it exists as soon as that run has started.
  std::string of_run(size_t number) const { return path_ + "/run-" + std::to_string(number); }
  /// The shell command that resumes the training in this folder.
  std::string resume_command() const;

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  void lock();

  std::string path_;
  std::shared_ptr<void> lock_;
};

/// Creates a folder and its parents where they do not exist.
void create_folder(const std::string& path);

}  // namespace hearth::app
