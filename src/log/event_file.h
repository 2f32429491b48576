#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hearth/error.h"

namespace hearth::utils::tensorboard::detail {

/// A folder cannot be written to.
class WriteError : public Error {
 public:
  WriteError(const std::string& folder, int error_number);
  /// The reason without the folder, such as "No space left on device".
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// An event file. The first flush() creates it and its folder.
class EventFile {
 public:
  EventFile(std::string folder, std::string suffix)
      : folder_(std::move(folder)), suffix_(std::move(suffix)) {}
  ~EventFile() { close(); }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void add(std::string_view event);  ///< appends a record to the buffer, unless the event is empty
  /// Writes the buffer. On failure, drops it, removes the part that was written, and throws a
  /// WriteError.
  void flush();

 private:
  void create();
  void close();
  void write_all(std::string_view bytes);
  void undo_write();

  std::string folder_, suffix_, path_, buffer_;
  int file_ = -1;
  int64_t size_ = 0;  // of the whole records in the file
};

/// The name of this computer.
std::string host_name();

}  // namespace hearth::utils::tensorboard::detail
