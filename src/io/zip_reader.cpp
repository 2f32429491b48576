#include "io/zip_reader.h"

#include <algorithm>

#include "hearth/io/file.h"
#include "io/gzip.h"
#include "io/little_endian.h"
#include "io/zip_format.h"

namespace hearth::io {

namespace {

/// The offset, bytes and number of entries of the central directory.
struct Directory {
  uint64_t begin = 0, size = 0, count = 0;
};

/// Reads the directory of an archive. The numbers that are added to the offsets of records are the
/// positions of their fields.
class DirectoryReader {
 public:
  explicit DirectoryReader(const Bytes& bytes) : bytes_(bytes) {}

  std::vector<ZipEntry> read() {
    const Directory directory = find();
    std::vector<ZipEntry> entries;
    const uint64_t end = directory.begin + directory.size;
    uint64_t offset = directory.begin;
    for (uint64_t i = 0; i < directory.count; ++i) entries.push_back(read_entry(offset, end));
    for (ZipEntry& entry : entries) find_content(entry, directory.begin);
    check_overlaps(entries);
    return entries;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(uint64_t offset, const Parts&... parts) const {
    bad_bytes(bytes_.name(), offset, parts...);
  }
  template <class T>
  uint64_t read_number(uint64_t offset) const {
    return number_at<T>(bytes_, offset);
  }
  bool has_record(std::string_view signature, uint64_t offset, uint64_t length) const {
    return offset <= bytes_.size() && bytes_.size() - offset >= length &&
           bytes_.text(offset, offset + signature.size()) == signature;
  }

  uint64_t find_end() const {
    using namespace zip;
    const uint64_t size = bytes_.size();
    for (uint64_t back = kEndBytes; back <= std::min(size, kEndBytes + kMaxCommentBytes); ++back)
      if (has_record(kEnd, size - back, kEndBytes) &&
          read_number<uint16_t>(size - back + 20) == back - kEndBytes)
        return size - back;
    fail(size, "expected the end of the zip archive's directory: the file is truncated or no zip");
  }

  Directory find() const {
    using namespace zip;
    const uint64_t end = find_end();
    Directory directory{read_number<uint32_t>(end + 16), read_number<uint32_t>(end + 12),
                        read_number<uint16_t>(end + 10)};
    uint64_t limit = end;
    const bool is_saturated =
        directory.begin == kIn64 || directory.size == kIn64 || directory.count == kCountIn64;
    if (is_saturated && end >= kLocator64Bytes &&
        has_record(kLocator64, end - kLocator64Bytes, kLocator64Bytes)) {
      limit = read_number<uint64_t>(end - kLocator64Bytes + 8);
      if (limit > end || !has_record(kEnd64, limit, kEnd64Bytes))
        fail(end - kLocator64Bytes, "expected the offset of the 64-bit directory's end");
      directory = {read_number<uint64_t>(limit + 48), read_number<uint64_t>(limit + 40),
                   read_number<uint64_t>(limit + 32)};
    }
    if (directory.begin > limit || directory.size > limit - directory.begin ||
        directory.count > directory.size / kCentralBytes)
      fail(end, "the zip archive's directory, ", directory.count, " entries in ", directory.size,
           " bytes from byte ", directory.begin, ", is not in the file");
    return directory;
  }

  ZipEntry read_entry(uint64_t& offset, uint64_t end) const {
    using namespace zip;
    if (end - offset < kCentralBytes || !has_record(kCentral, offset, kCentralBytes))
      fail(offset, "expected an entry of the zip archive's directory");
    const uint64_t name_bytes = read_number<uint16_t>(offset + 28),
                   extra_bytes = read_number<uint16_t>(offset + 30),
                   comment_bytes = read_number<uint16_t>(offset + 32),
                   name = offset + kCentralBytes, extra = name + name_bytes,
                   next = extra + extra_bytes + comment_bytes;
    if (next > end) fail(offset, "expected an entry that ends inside the zip archive's directory");
    ZipEntry entry;
    entry.name = bytes_.text(name, extra);
    const uint64_t method = read_number<uint16_t>(offset + 10);
    if ((read_number<uint16_t>(offset + 8) & kEncrypted) ||
        (method != kStored && method != kDeflated))
      fail(offset, "'", entry.name, "' is encrypted or compressed by another method than deflate");
    entry.is_deflated = method == kDeflated;
    entry.checksum = number_at<uint32_t>(bytes_, offset + 16);
    entry.size = read_number<uint32_t>(offset + 24);
    entry.end = read_number<uint32_t>(offset + 20);  // the length of its bytes, until find_content
    entry.begin = read_number<uint32_t>(offset + 42);  // the offset of its local header
    read_extra64(entry, extra, extra + extra_bytes);
    offset = next;
    return entry;
  }

  /// Replaces saturated values by the values of the 64-bit extra field.
  void read_extra64(ZipEntry& entry, uint64_t offset, uint64_t end) const {
    using namespace zip;
    while (end - offset >= kExtraHeadBytes) {
      const uint64_t id = read_number<uint16_t>(offset), length = read_number<uint16_t>(offset + 2);
      offset += kExtraHeadBytes;
      if (length > end - offset) fail(offset, "expected an extra field that ends inside its entry");
      uint64_t num_remaining = length;
      for (uint64_t* value : {&entry.size, &entry.end, &entry.begin}) {
        if (id != kExtra64 || *value != kIn64 || num_remaining < sizeof(uint64_t)) continue;
        *value = read_number<uint64_t>(offset + length - num_remaining);
        num_remaining -= sizeof(uint64_t);
      }
      offset += length;
    }
  }

  /// Finds an entry's bytes after its local header.
  void find_content(ZipEntry& entry, uint64_t limit) const {
    using namespace zip;
    const uint64_t header = entry.begin, length = entry.end;
    if (header > limit || limit - header < kLocalBytes || !has_record(kLocal, header, kLocalBytes))
      fail(std::min(header, bytes_.size()), "expected '", entry.name, "' of the zip archive");
    const uint64_t name = header + kLocalBytes, name_bytes = read_number<uint16_t>(header + 26);
    entry.begin = name + name_bytes + read_number<uint16_t>(header + 28);
    if (entry.begin > limit || length > limit - entry.begin)
      fail(header, "expected '", entry.name, "' with ", length, " bytes to end inside the file");
    if (bytes_.text(name, name + name_bytes) != entry.name)
      fail(header, "expected '", entry.name, "', but the local header has another name");
    entry.end = entry.begin + length;
    if (entry.is_deflated ? entry.size / kMaxCompressionRatio > length : entry.size != length)
      fail(header, "'", entry.name, "' has ", length, " bytes, which cannot hold ", entry.size);
  }

  void check_overlaps(const std::vector<ZipEntry>& entries) const {
    std::vector<const ZipEntry*> sorted;
    for (const ZipEntry& entry : entries) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(), [](const ZipEntry* a, const ZipEntry* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
    });
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i]->begin < sorted[i - 1]->end)
        fail(sorted[i]->begin, "'", sorted[i]->name, "' overlaps '", sorted[i - 1]->name, "'");
  }

  const Bytes& bytes_;
};

}  // namespace

ZipReader::ZipReader(BytesPtr bytes)
    : bytes_(std::move(bytes)), entries_(DirectoryReader(*bytes_).read()) {
  for (size_t i = 0; i < entries_.size(); ++i)
    if (!index_.emplace(entries_[i].name, i).second)
      bad_bytes(name(), entries_[i].begin, "'", entries_[i].name, "' occurs twice");
}

const ZipEntry* ZipReader::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

void ZipReader::check(const ZipEntry& entry, const void* content) const {
  if (entry.checksum == 0) return;  // Python wrote it with set_crc32_options(False)
  const uint32_t found = crc32(content, entry.size);
  if (found == entry.checksum) return;
  const std::string message =
      detail::str("'", entry.name, "' is damaged: its bytes have the checksum ", found, ", but ",
                  entry.checksum, " was saved with them");
  if (!damage_) bad_bytes(name(), entry.begin, message);
  damage_->push_back(message);
}

std::string ZipReader::text(const ZipEntry& entry) const {
  const Part content = part(entry);
  return std::string(content.bytes->text(content.begin, content.end));
}

ZipReader::Part ZipReader::part(const ZipEntry& entry) const {
  if (!entry.is_deflated) {
    check(entry, bytes_->data() + entry.begin);
    return {bytes_, entry.begin, entry.end};
  }
  std::vector<std::byte> content(entry.size);
  inflate_exactly(*bytes_, entry.begin, entry.end, content.data(), entry.size);
  check(entry, content.data());
  return {own_bytes(name(), std::move(content)), 0, entry.size};
}

}  // namespace hearth::io
