#include "io/zip_reader.h"

#include <algorithm>

#include "hearth/io/file.h"
#include "io/gzip.h"
#include "io/little_endian.h"
#include "io/zip_format.h"

namespace hearth::io {

namespace {

/// The place of the central directory.
struct Directory {
  uint64_t begin = 0, size = 0, count = 0;
};

/// Reads the directory of an archive.
class DirectoryReader {
 public:
  explicit DirectoryReader(const Bytes& bytes) : bytes_(bytes) {}

  std::vector<ZipEntry> read() {
    const Directory place = find();
    std::vector<ZipEntry> entries;
    const uint64_t end = place.begin + place.size;
    uint64_t at = place.begin;
    for (uint64_t i = 0; i < place.count; ++i) entries.push_back(read_entry(at, end));
    for (ZipEntry& entry : entries) find_content(entry, place.begin);
    check_overlaps(entries);
    return entries;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(uint64_t at, const Parts&... parts) const {
    bad_bytes(bytes_.name(), at, parts...);
  }
  template <class T>
  uint64_t get(uint64_t at) const {
    return number_at<T>(bytes_, at);
  }
  bool is_at(std::string_view signature, uint64_t at, uint64_t length) const {
    return at <= bytes_.size() && bytes_.size() - at >= length &&
           bytes_.text(at, at + signature.size()) == signature;
  }

  uint64_t find_end() const {
    using namespace zip;
    const uint64_t size = bytes_.size();
    for (uint64_t back = kEndBytes; back <= std::min(size, kEndBytes + kLongestComment); ++back)
      if (is_at(kEnd, size - back, kEndBytes) &&
          get<uint16_t>(size - back + 20) == back - kEndBytes)
        return size - back;
    fail(size, "expected the end of the zip archive's directory: the file is truncated or no zip");
  }

  Directory find() const {
    using namespace zip;
    const uint64_t end = find_end();
    Directory place{get<uint32_t>(end + 16), get<uint32_t>(end + 12), get<uint16_t>(end + 10)};
    uint64_t limit = end;
    if (end >= kLocator64Bytes && is_at(kLocator64, end - kLocator64Bytes, kLocator64Bytes) &&
        (place.begin == kIn64 || place.size == kIn64 || place.count == kCountIn64)) {
      limit = get<uint64_t>(end - kLocator64Bytes + 8);
      if (limit > end || !is_at(kEnd64, limit, kEnd64Bytes))
        fail(end - kLocator64Bytes, "expected the place of the 64-bit directory's end");
      place = {get<uint64_t>(limit + 48), get<uint64_t>(limit + 40), get<uint64_t>(limit + 32)};
    }
    if (place.begin > limit || place.size > limit - place.begin ||
        place.count > place.size / kCentralBytes)
      fail(end, "the zip archive's directory, ", place.count, " entries in ", place.size,
           " bytes from byte ", place.begin, ", is not in the file");
    return place;
  }

  ZipEntry read_entry(uint64_t& at, uint64_t end) const {
    using namespace zip;
    if (end - at < kCentralBytes || !is_at(kCentral, at, kCentralBytes))
      fail(at, "expected an entry of the zip archive's directory");
    const uint64_t name_bytes = get<uint16_t>(at + 28), extra_bytes = get<uint16_t>(at + 30),
                   comment_bytes = get<uint16_t>(at + 32), name = at + kCentralBytes,
                   extra = name + name_bytes, next = extra + extra_bytes + comment_bytes;
    if (next > end) fail(at, "expected an entry that ends inside the zip archive's directory");
    ZipEntry entry;
    entry.name = bytes_.text(name, extra);
    const uint64_t method = get<uint16_t>(at + 10);
    if ((get<uint16_t>(at + 8) & kEncrypted) || (method != kStored && method != kDeflated))
      fail(at, "'", entry.name, "' is encrypted or compressed by another method than deflate");
    entry.deflated = method == kDeflated;
    entry.checksum = number_at<uint32_t>(bytes_, at + 16);
    entry.size = get<uint32_t>(at + 24);
    entry.end = get<uint32_t>(at + 20);    // the length of its bytes, until find_content
    entry.begin = get<uint32_t>(at + 42);  // the place of its local header
    read_extra64(entry, extra, extra + extra_bytes);
    at = next;
    return entry;
  }

  /// Replaces saturated values by those of the 64-bit extra field.
  void read_extra64(ZipEntry& entry, uint64_t at, uint64_t end) const {
    using namespace zip;
    while (end - at >= kExtraHeadBytes) {
      const uint64_t id = get<uint16_t>(at), length = get<uint16_t>(at + 2);
      at += kExtraHeadBytes;
      if (length > end - at) fail(at, "expected an extra field that ends inside its entry");
      uint64_t left = length;
      for (uint64_t* value : {&entry.size, &entry.end, &entry.begin}) {
        if (id != kExtra64 || *value != kIn64 || left < sizeof(uint64_t)) continue;
        *value = get<uint64_t>(at + length - left);
        left -= sizeof(uint64_t);
      }
      at += length;
    }
  }

  /// Finds an entry's bytes behind its local header.
  void find_content(ZipEntry& entry, uint64_t limit) const {
    using namespace zip;
    const uint64_t header = entry.begin, length = entry.end;
    if (header > limit || limit - header < kLocalBytes || !is_at(kLocal, header, kLocalBytes))
      fail(std::min(header, bytes_.size()), "expected '", entry.name, "' of the zip archive");
    const uint64_t name = header + kLocalBytes, name_bytes = get<uint16_t>(header + 26);
    entry.begin = name + name_bytes + get<uint16_t>(header + 28);
    if (entry.begin > limit || length > limit - entry.begin)
      fail(header, "expected '", entry.name, "' with ", length, " bytes to end inside the file");
    if (bytes_.text(name, name + name_bytes) != entry.name)
      fail(header, "expected '", entry.name, "', but the local header has another name");
    entry.end = entry.begin + length;
    if (entry.deflated ? entry.size / kMostPerByte > length : entry.size != length)
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
  const std::string what =
      detail::str("'", entry.name, "' is damaged: its bytes have the checksum ", found, ", but ",
                  entry.checksum, " was saved with them");
  if (!damage_) bad_bytes(name(), entry.begin, what);
  damage_->push_back(what);
}

std::string ZipReader::text(const ZipEntry& entry) const {
  const Part content = part(entry);
  return std::string(content.bytes->text(content.begin, content.end));
}

ZipReader::Part ZipReader::part(const ZipEntry& entry) const {
  if (!entry.deflated) {
    check(entry, bytes_->data() + entry.begin);
    return {bytes_, entry.begin, entry.end};
  }
  std::vector<std::byte> content(entry.size);
  inflate_exactly(*bytes_, entry.begin, entry.end, content.data(), entry.size);
  check(entry, content.data());
  return {own_bytes(name(), std::move(content)), 0, entry.size};
}

}  // namespace hearth::io
