#pragma once

#include <memory>
#include <string>

#include "options.h"

namespace hearth::app {

inline constexpr const char* kLastCheckpoint = "last.ckpt";
inline constexpr const char* kBestCheckpoint = "best.ckpt";

/// Where everything that comes of a call of `hearth train` lies. Only one process works in it at a
/// time.
class RunFolder {
 public:
  /// A new folder, under runs/ if no path is given; refused if it holds a checkpoint already.
  static RunFolder create(const TrainOptions& options, const std::string& path);
  /// That of a run to go on with; without a path, the last one that was begun under runs/.
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string config() const { return path_ + "/config.toml"; }
  std::string results(const std::string& ending) const { return path_ + "/results." + ending; }
  std::string curves() const { return path_ + "/curves.png"; }
  /// That of one point of the grid, which is made when it begins.
  std::string of_run(size_t number) const { return path_ + "/run-" + std::to_string(number); }
  /// The command line that goes on with it, for a shell.
  std::string how_to_resume() const;

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  void lock();

  std::string path_;
  std::shared_ptr<void> lock_;
};

/// Makes a folder, and those that it lies in, if it is not there.
void make_folder(const std::string& path);

}  // namespace hearth::app
