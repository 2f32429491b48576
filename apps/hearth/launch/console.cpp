#include "console.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "../names.h"
#include "failure.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr size_t kMaxPending = 1 << 20;  // bytes
constexpr int kBothStreams = 3;
constexpr int kHighestRank = 1 << 20;  // more than any job has

std::optional<int> small_number(const std::string& text, int most) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0 || number > most) return {};
  return number;
}

/// Creates a folder for the logs of this launch; an older one is never used again.
std::string new_folder(const std::string& parent) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  HEARTH_CHECK(!error, "--log-dir: cannot create the folder '", printable(parent),
               "': ", error.message());
  const std::string name = parent + "/" + time_now();
  for (int i = 1;; ++i) {
    const std::string path = i == 1 ? name : name + "-" + std::to_string(i);
    if (std::filesystem::create_directory(path, error)) return path;
    HEARTH_CHECK(!error, "--log-dir: cannot create the folder '", printable(path),
                 "': ", error.message());
  }
}

bool is_same_file(int first, int second) {
  struct stat a {
  }, b{};
  return fstat(first, &a) == 0 && fstat(second, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(size_t(written));
  }
  return true;
}

}  // namespace

std::string StreamChoice::parse(const std::string& text) {
  const std::string expected = "'" + printable(text) +
                               "' must be 0 (nothing), 1 (stdout), 2 (stderr) or 3 (both), or a "
                               "list of rank:number (0:1,1:2)";
  if (const auto streams = small_number(text, kBothStreams)) {
    everywhere_ = *streams;
    return "";
  }
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t colon = item.find(':');
    if (colon == std::string::npos) return expected;
    const auto rank = small_number(item.substr(0, colon), kHighestRank);
    const auto streams = small_number(item.substr(colon + 1), kBothStreams);
    if (!rank || !streams) return expected;
    if (!by_rank_.emplace(*rank, *streams).second)
      return "'" + printable(text) + "' names rank " + std::to_string(*rank) + " twice";
  }
  return by_rank_.empty() || text.back() == ',' ? expected : "";
}

bool StreamChoice::has(int rank, Stream stream) const {
  const auto found = by_rank_.find(rank);
  const int streams = found == by_rank_.end() ? everywhere_ : found->second;
  return streams & static_cast<int>(stream);
}

// If stdout and stderr are one terminal or pipe, both use one Outlet: two would mix parts of lines.
Console::Console(EventLoop& loop, ConsoleOptions options)
    : options_(std::move(options)),
      out_(loop, STDOUT_FILENO),
      own_err_(loop, STDERR_FILENO),
      err_(is_same_file(STDOUT_FILENO, STDERR_FILENO) ? out_ : own_err_) {}

Console::~Console() { close_logs(); }

void Console::begin_attempt(int attempt) {
  close_logs();
  prefixes_.clear();
  attempt_ = attempt;
  if (!options_.log_dir.empty() && log_folder_.empty()) log_folder_ = new_folder(options_.log_dir);
}

void Console::add(const RankLine& line) {
  log(line);
  if (!log_folder_.empty() && options_.redirects.has(line.rank, line.stream)) return;
  const std::vector<int>& shown = options_.local_ranks;
  if (!shown.empty() && std::find(shown.begin(), shown.end(), line.local_rank) == shown.end())
    return;
  Outlet& outlet = line.stream == Stream::kOut ? out_ : err_;
  const auto [prefix, is_new] = prefixes_.try_emplace(line.rank);
  if (is_new) prefix->second = prefix_of(options_.prefix, line);
  outlet.write(prefix->second + line.text + "\n");
}

void Console::log(const RankLine& line) {
  if (log_folder_.empty()) return;
  const bool logs_all = options_.tee.empty() && options_.redirects.empty();
  const bool is_chosen =
      options_.tee.has(line.rank, line.stream) || options_.redirects.has(line.rank, line.stream);
  if (!logs_all && !is_chosen) return;
  const int file = log_file(line.rank, line.stream);
  if ((file >= 0 && write_all(file, line.text + "\n")) || log_failed_) return;
  log_failed_ = true;
  note("hearth: the logs in '" + printable(log_folder_) +
       "' are not complete: " + std::strerror(errno) + "\n");
}

int Console::log_file(int rank, Stream stream) {
  const auto [entry, is_new] = logs_.try_emplace({rank, stream}, -1);
  if (is_new) {
    const std::string folder =
        log_folder_ + "/attempt_" + std::to_string(attempt_) + "/rank_" + std::to_string(rank);
    const std::string path = folder + (stream == Stream::kOut ? "/stdout.log" : "/stderr.log");
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error)
      entry->second = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    else
      errno = error.value();
  }
  return entry->second;
}

void Console::close_logs() {
  for (const auto& [key, file] : logs_)
    if (file >= 0) close(file);
  logs_.clear();
}

size_t Console::pending() const { return out_.pending() + own_err_.pending(); }

bool Console::is_behind() const { return pending() > kMaxPending; }

void Console::check() const {
  HEARTH_CHECK(out_.error() == 0, "the output could not be written: ", std::strerror(out_.error()));
}

std::string prefix_of(const std::string& pattern, const RankLine& line) {
  const std::pair<std::string, std::string> values[] = {
      {"${rank}", std::to_string(line.rank)},
      {"${local_rank}", std::to_string(line.local_rank)},
      {"${hostname}", line.host}};
  std::string text = pattern;
  for (const auto& [name, value] : values)
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
      text.replace(at, name.size(), value);
  return text;
}

}  // namespace hearth::app
