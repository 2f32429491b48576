#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report_ages.h"
#include "writer_lock.h"

namespace hearth::app {

/// The file in a run's folder with the reports of all processes; it exists while they train.
std::string status_file_in(const std::string& run_folder);

/// Writes a run's status file about once a second, on a thread of its own, and removes it at the
/// end; does nothing if another process writes the file. Errors are ignored: the training does not
/// need the file. A file that a killed process has left is replaced.
class StatusFile {
 public:
  /// `reports` returns the newest report of each process; it is called on the thread, and may
  /// throw. `may_start_again`: a launcher starts the training again after a failure.
  StatusFile(std::string path, std::function<std::vector<std::string>()> reports,
             bool may_start_again = false);
  ~StatusFile();
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// Whether a status file's writer still exists, as far as the lock tells.
using StatusWriter = WriterLock::Holder;

/// The content of a status file.
struct Status {
  std::vector<RankReport> ranks;
  double written = 0;  // by the clock of the writer's machine, in seconds since 1970
  StatusWriter writer = StatusWriter::kUnknown;
  bool may_start_again = false;
};

/// Reads a status file. Throws if it is missing or damaged.
Status read_status_file(const std::string& path);

}  // namespace hearth::app
