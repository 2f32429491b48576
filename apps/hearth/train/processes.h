#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearth/device.h"
#include "hearth/nn.h"

namespace hearth::app {

/// A file of the first process, which every process can read: the others have a copy in memory.
class SharedFile {
 public:
  /// The file itself.
  explicit SharedFile(std::string path) : path_(std::move(path)) {}
  /// A file in memory with these bytes.
  explicit SharedFile(const Tensor& bytes);
  SharedFile(SharedFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  ~SharedFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_ = -1;
};

/// The processes that train one network together: this process alone, or those that a launcher has
/// started. All of them must call the functions that communicate in the same order.
class Processes {
 public:
  /// Waits for the others, if the environment says that there are any.
  Processes();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int64_t count() const { return count_; }
  int64_t rank() const { return rank_; }
  bool are_several() const { return count_ > 1; }
  /// Whether this process writes the results; the others are silent.
  bool is_first() const { return rank_ == 0; }
  /// The device with this name that this process uses: with several processes, each has its own
  /// GPU.
  Device device(const std::string& name) const;

  /// A function, for any thread, that returns the newest report of each process (JSON); it does not
  /// communicate with the processes, but with the store that the first of them serves.
  std::function<std::vector<std::string>()> reports() const;

  // These functions communicate.
  /// Runs `action` on the first process. If it throws, all processes end.
  void on_first(const std::function<void()>& action) const;
  /// The value of the first process.
  int64_t of_first(int64_t number) const;
  std::string of_first(const std::string& text) const;
  /// A file of the first process; nullopt if it does not exist.
  std::optional<SharedFile> file_of_first(const std::string& path) const;
  /// Sums over all processes.
  std::vector<double> sums(std::vector<double> numbers) const;
  bool any(bool value) const;
  /// Gives all processes the buffers of the first.
  void share_buffers(nn::Module& module) const;
  /// Runs `action`, which must not communicate, on all processes. If any throws, all end, and the
  /// first process throws the error of the lowest rank that failed.
  void together(const std::function<void()>& action) const;
  /// Throws if the lines of text differ from those of the first process.
  void check_same(const std::string& lines) const;

 private:
  int64_t count_ = 1, rank_ = 0;
};

}  // namespace hearth::app
