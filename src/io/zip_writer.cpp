#include "io/zip_writer.h"

#include <algorithm>
#include <utility>

#include "hearth/io/file.h"
#include "io/little_endian.h"
#include "io/zip_format.h"

namespace hearth::io {

namespace {

using namespace zip;

constexpr uint16_t kNewYear1980 = 1 << 5 | 1;  // the first date of the format
constexpr char kPadding = 'Z';

/// The value, or kIn64 if the 64-bit extra field has it.
uint32_t saturated(uint64_t value) { return static_cast<uint32_t>(std::min(value, kIn64)); }

/// The extra field with the values that do not fit 32 bits.
std::string extra64(std::initializer_list<uint64_t> values) {
  std::string large, field;
  for (const uint64_t value : values)
    if (value >= kIn64) append_number(large, value);
  if (large.empty()) return field;
  append_number(field, kExtra64);
  append_number(field, static_cast<uint16_t>(large.size()));
  return field + large;
}

/// An extra field that fills `bytes` bytes, or nothing for 0.
std::string padding(uint64_t bytes) {
  std::string field;
  if (bytes == 0) return field;
  append_number(field, kExtraPadding);
  append_number(field, static_cast<uint16_t>(bytes - kExtraHeadBytes));
  field.resize(bytes, kPadding);
  return field;
}

/// Appends the fields that local headers and the directory have in common, up to the lengths of the
/// name and the extra field.
void append_common(std::string& text, const std::string& name, uint64_t bytes, uint32_t checksum,
                   size_t extra_bytes) {
  append_number(text, bytes >= kIn64 ? kVersion64 : kVersion);
  append_number(text, kUtf8);
  append_number(text, kStored);
  append_number(text, uint16_t{0});  // the time: midnight
  append_number(text, kNewYear1980);
  append_number(text, checksum);
  append_number(text, saturated(bytes));  // compressed
  append_number(text, saturated(bytes));
  append_number(text, static_cast<uint16_t>(name.size()));
  append_number(text, static_cast<uint16_t>(extra_bytes));
}

}  // namespace

void ZipWriter::write(const std::string& text) {
  sink_(text.data(), text.size());
  position_ += text.size();
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> parts,
                    uint64_t alignment) {
  HEARTH_CHECK(std::in_range<uint16_t>(name.size()), "cannot write a zip archive: the name '",
               name.substr(0, 64), "…' has ", name.size(), " bytes");
  Entry entry{name, position_, 0, 0};
  for (const std::string_view part : parts) {
    entry.checksum = crc32(part.data(), part.size(), entry.checksum);
    entry.bytes += part.size();
  }
  std::string extra = extra64({entry.bytes, entry.bytes});
  const uint64_t begin = position_ + kLocalBytes + name.size() + extra.size();
  uint64_t padding_bytes = (alignment - begin % alignment) % alignment;
  while (padding_bytes > 0 && padding_bytes < kExtraHeadBytes) padding_bytes += alignment;
  extra += padding(padding_bytes);
  std::string header(kLocal);
  append_common(header, name, entry.bytes, entry.checksum, extra.size());
  write(header + name + extra);
  for (const std::string_view part : parts)
    if (!part.empty()) sink_(part.data(), part.size());
  position_ += entry.bytes;
  entries_.push_back(std::move(entry));
}

std::string ZipWriter::directory_entry(const Entry& entry) const {
  const std::string extra = extra64({entry.bytes, entry.bytes, entry.offset});
  std::string text(kCentral);
  append_number(text, kVersion64);  // of the writer
  append_common(text, entry.name, entry.bytes, entry.checksum, extra.size());
  append_number(text, uint16_t{0});  // no comment
  append_number(text, uint16_t{0});  // disk
  append_number(text, uint16_t{0});  // internal attributes
  append_number(text, uint32_t{0});  // external attributes
  append_number(text, saturated(entry.offset));
  return text + entry.name + extra;
}

void ZipWriter::finish() {
  const uint64_t begin = position_, count = entries_.size();
  for (const Entry& entry : entries_) write(directory_entry(entry));
  const uint64_t bytes = position_ - begin, end = position_;
  std::string text;
  if (begin >= kIn64 || bytes >= kIn64 || count >= kCountIn64) {
    text += kEnd64;
    append_number(text, kEnd64Bytes - 12);  // the bytes that follow
    append_number(text, kVersion64);
    append_number(text, kVersion64);
    append_number(text, uint64_t{0});  // disks
    for (const uint64_t value : {count, count, bytes, begin}) append_number(text, value);
    text += kLocator64;
    append_number(text, uint32_t{0});
    append_number(text, end);
    append_number(text, uint32_t{1});
  }
  const auto short_count = static_cast<uint16_t>(std::min(count, kCountIn64));
  text += kEnd;
  append_number(text, uint32_t{0});  // disks
  append_number(text, short_count);
  append_number(text, short_count);
  append_number(text, saturated(bytes));
  append_number(text, saturated(begin));
  append_number(text, uint16_t{0});  // no comment
  write(text);
}

}  // namespace hearth::io
