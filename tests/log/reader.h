// Reads event files without the library's code: record frames, checksums and the wire format of
// Protocol Buffers.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::testing {

/// The payloads of a file's records. An incomplete last record, as after a kill, is left out if
/// `may_be_cut` is set, and an error otherwise.
std::vector<std::string> read_records(const std::string& path, bool may_be_cut = false);

/// The fields of a message by their numbers.
class Fields {
 public:
  Fields() = default;
  explicit Fields(std::string_view message);

  size_t count(int field) const;
  bool has(int field) const { return count(field) > 0; }
  std::string bytes(int field, size_t i = 0) const { return at(field, i); }
  Fields message(int field, size_t i = 0) const { return Fields(at(field, i)); }
  int64_t integer(int field, size_t i = 0) const { return as<int64_t>(at(field, i)); }
  double real(int field) const { return as<double>(at(field, 0)); }
  float real32(int field) const { return as<float>(at(field, 0)); }
  template <class T>
  std::vector<T> packed(int field) const {
    const std::string& raw = at(field, 0);
    std::vector<T> values(raw.size() / sizeof(T));
    std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  const std::string& at(int field, size_t i) const;
  template <class T>
  static T as(const std::string& raw) {
    if (raw.size() != sizeof(T)) throw std::runtime_error("a field has another type");
    T value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  std::map<int, std::vector<std::string>> fields_;  // integers as 8 bytes
};

/// The message Event.
struct LoggedEvent {
  double time;
  int64_t step;
  Fields fields;
};
/// The message Summary.Value, with the time and step of its Event.
struct LoggedValue {
  double time;
  int64_t step;
  std::string tag;
  Fields fields;
};

/// The event files of a folder, without those of its subfolders, from old to new.
std::vector<std::string> event_files(const std::string& folder);
std::vector<LoggedEvent> events_in(const std::string& folder, bool may_be_cut = false);
/// The values with this tag, or all values if the tag is empty, in the order of writing.
std::vector<LoggedValue> values_in(const std::string& folder, const std::string& tag = {},
                                   bool may_be_cut = false);

}  // namespace hearth::testing
