#pragma once

#include <string>

#include "options.h"

namespace hearth::app {

/// Where everything that comes of a call of `hearth train` lies.
class RunFolder {
 public:
  /// A new folder, under runs/ if no path is given; refused if it holds a run already.
  static RunFolder create(const TrainOptions& options, const std::string& path);
  /// That of a run to go on with; without a path, the last one that was begun under runs/.
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string config() const { return path_ + "/config.toml"; }
  std::string results(const std::string& ending) const { return path_ + "/results." + ending; }
  std::string curves() const { return path_ + "/curves.png"; }
  /// That of one point of the grid, which is made if it is not there.
  std::string of_run(size_t number) const;

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace hearth::app
