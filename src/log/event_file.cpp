#include "log/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "log/events.h"
#include "log/records.h"

namespace hearth::utils::tensorboard::detail {

namespace {

/// A name that no other writer on this computer uses.
std::string event_file_name(const std::string& suffix) {
  static std::atomic<unsigned> count{0};
  char seconds[24];
  std::snprintf(seconds, sizeof seconds, "%010lld", static_cast<long long>(now()));
  return hearth::detail::str("events.out.tfevents.", seconds, ".", host_name(), ".", ::getpid(),
                             ".", count++, suffix);
}

}  // namespace

WriteError::WriteError(const std::string& folder, int error_number)
    : Error(hearth::detail::str("cannot write to the folder ", folder, ": ",
                                std::strerror(error_number))),
      reason_(std::strerror(error_number)) {}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || !*name) return "localhost";
  return name;
}

void EventFile::add(std::string_view event) {
  if (!event.empty()) append_record(buffer_, event);
}

void EventFile::create() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw WriteError(folder_, error.value());
  do {  // on another computer of the same name, a process may have the same number
    path_ = folder_ + "/" + event_file_name(suffix_);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) throw WriteError(folder_, errno);
  std::string first;
  append_record(first, version_event());
  write_all(first);
}

void EventFile::flush() {
  const std::string records = std::exchange(buffer_, {});
  if (file_ < 0) create();
  write_all(records);
}

void EventFile::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      undo_write();
      throw WriteError(folder_, reason);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  size_ = ::lseek(file_, 0, SEEK_CUR);
}

/// Removes the part that a failed write has written. If that fails, or if the file has no other
/// records, the next flush() starts a new file.
void EventFile::undo_write() {
  if (size_ == 0) ::unlink(path_.c_str());
  if (size_ == 0 || ::ftruncate(file_, size_) != 0) close();
}

void EventFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  size_ = 0;
}

}  // namespace hearth::utils::tensorboard::detail
