#include "tests/log/reader.h"

#include <algorithm>
#include <filesystem>

#include "tests/support/files.h"

namespace hearth::testing {

namespace {

uint32_t bitwise_crc32c(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc % 2 ? crc / 2 ^ 0x82f63b78 : crc / 2;
  }
  return ~crc;
}

template <class T>
T raw_value(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Compares with a stored checksum, which the format rotates and increases by a constant.
void check_masked_crc(std::string_view bytes, std::string_view stored) {
  const uint32_t crc = bitwise_crc32c(bytes);
  if ((crc >> 15 | crc << 17) + 0xa282ead8 != raw_value<uint32_t>(stored))
    throw std::runtime_error("a checksum is wrong");
}

std::string_view take(std::string_view& from, size_t bytes) {
  if (from.size() < bytes) throw std::runtime_error("the file is cut");
  const std::string_view taken = from.substr(0, bytes);
  from.remove_prefix(bytes);
  return taken;
}

uint64_t take_varint(std::string_view& from) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(take(from, 1)[0]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

std::vector<std::string> read_records(const std::string& path, bool may_be_cut) {
  const std::string content = bytes_of(path);
  std::vector<std::string> records;
  for (std::string_view rest = content; !rest.empty();) {
    // A record is its size in 8 bytes, the payload, and a checksum of 4 bytes for each of the two.
    const size_t size = rest.size() < 12 ? SIZE_MAX : raw_value<uint64_t>(rest);
    if (may_be_cut && (size > rest.size() || rest.size() - size < 16)) break;
    const std::string_view length = take(rest, 8);
    check_masked_crc(length, take(rest, 4));
    const std::string_view payload = take(rest, size);
    check_masked_crc(payload, take(rest, 4));
    records.emplace_back(payload);
  }
  return records;
}

Fields::Fields(std::string_view message) {
  while (!message.empty()) {
    const uint64_t key = take_varint(message);  // 8 * the number of the field + the wire type
    std::string value;
    if (key % 8 == 0) {
      const uint64_t number = take_varint(message);
      value.assign(reinterpret_cast<const char*>(&number), sizeof number);
    } else {
      value = take(message, key % 8 == 1 ? 8 : key % 8 == 5 ? 4 : take_varint(message));
    }
    fields_[static_cast<int>(key / 8)].push_back(std::move(value));
  }
}

size_t Fields::count(int field) const {
  const auto found = fields_.find(field);
  return found == fields_.end() ? 0 : found->second.size();
}

const std::string& Fields::at(int field, size_t i) const {
  if (i >= count(field)) throw std::runtime_error("a field is missing: " + std::to_string(field));
  return fields_.at(field)[i];
}

std::vector<std::string> event_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with("events.out"))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return std::filesystem::last_write_time(a) < std::filesystem::last_write_time(b);
  });
  return files;
}

std::vector<LoggedEvent> events_in(const std::string& folder, bool may_be_cut) {
  std::vector<LoggedEvent> events;
  for (const std::string& file : event_files(folder))
    for (const std::string& record : read_records(file, may_be_cut)) {
      const Fields fields(record);
      events.push_back({fields.real(1), fields.has(2) ? fields.integer(2) : 0, fields});
    }
  return events;
}

std::vector<LoggedValue> values_in(const std::string& folder, const std::string& tag,
                                   bool may_be_cut) {
  std::vector<LoggedValue> values;
  for (const LoggedEvent& event : events_in(folder, may_be_cut)) {
    if (!event.fields.has(5)) continue;
    const Fields summary = event.fields.message(5);
    for (size_t i = 0; i < summary.count(1); ++i) {
      const Fields value = summary.message(1, i);
      if (tag.empty() || value.bytes(1) == tag)
        values.push_back({event.time, event.step, value.bytes(1), value});
    }
  }
  return values;
}

}  // namespace hearth::testing
