#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lines.h"
#include "outlet.h"

namespace hearth::app {

/// Streams of ranks: "3" stands for both streams of all ranks, "0:1,1:2" for stdout of rank 0 and
/// stderr of rank 1.
class StreamChoice {
 public:
  /// Returns an error text; empty if the text was valid.
  std::string parse(const std::string& text);
  bool has(int rank, Stream stream) const;
  bool empty() const { return everywhere_ == 0 && by_rank_.empty(); }
  /// The highest rank that is named, or -1.
  int highest_rank() const { return by_rank_.empty() ? -1 : by_rank_.rbegin()->first; }

 private:
  int everywhere_ = 0;
  std::map<int, int> by_rank_;
};

struct ConsoleOptions {
  /// Printed before each line; ${rank}, ${local_rank} and ${hostname} are replaced.
  std::string prefix = "[rank ${rank}] ";
  std::string log_dir;  // empty: no log files
  // With log_dir, the streams that are logged: all if both are empty. Those of `tee` are also
  // shown, those of `redirects` are not.
  StreamChoice tee, redirects;
  std::vector<int> local_ranks;  // whose lines are shown; empty: all
};

/// A line of output of a rank.
struct RankLine {
  int rank, local_rank;
  const std::string& host;
  Stream stream;
  const std::string& text;
};

/// Shows the ranks' lines on this program's streams, and writes them to log files.
class Console {
 public:
  Console(EventLoop& loop, ConsoleOptions options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Later lines go into the log folder of this attempt.
  void begin_attempt(int attempt);
  /// Logs and shows the line, as the options say.
  void add(const RankLine& line);
  /// Shows a message of `hearth launch` itself, which ends with a newline.
  void note(const std::string& text) { err_.write(text); }
  /// Whether the readers of the streams are slower than the ranks.
  bool is_behind() const;
  /// Whether all text has been written.
  bool is_done() const { return pending() == 0; }
  /// Throws if stdout could not be written.
  void check() const;

 private:
  void log(const RankLine& line);
  int log_file(int rank, Stream stream);
  void close_logs();
  size_t pending() const;  // bytes

  ConsoleOptions options_;
  std::string log_folder_;  // of this launch
  int attempt_ = 0;
  std::map<std::pair<int, Stream>, int> logs_;  // open files
  std::map<int, std::string> prefixes_;         // of each rank
  bool log_failed_ = false;
  Outlet out_, own_err_;
  Outlet& err_;  // out_ if stdout and stderr are one file, else own_err_
};

/// The pattern (ConsoleOptions::prefix) with the values of this line.
std::string prefix_of(const std::string& pattern, const RankLine& line);

}  // namespace hearth::app
