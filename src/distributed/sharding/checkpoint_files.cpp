#include "distributed/sharding/checkpoint_files.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "distributed/sharding/plain_mode.h"
#include "hearth/io/file.h"
#include "hearth/io/pt.h"
#include "hearth/operators.h"

namespace hearth::distributed::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr const char *kFormat = "hearth.distributed.checkpoint.2", *kValues = "values",
                     *kParts = "parts/";
constexpr int64_t kMaxFiles = 1'000'000;
constexpr size_t kIdDigits = 16;

int64_t checksum(const Tensor& contiguous) {
  return contiguous.numel() ? io::crc32(contiguous.data_ptr(), contiguous.nbytes()) : 0;
}

Tensor table_of(const std::vector<FilePart>& parts) {
  const Tensor table = empty({static_cast<int64_t>(parts.size()), 3}, TensorOptions(kLong));
  int64_t* cell = table.data_ptr<int64_t>();
  for (const FilePart& part : parts)
    for (const int64_t value : {part.begin, part.rows, part.crc}) *cell++ = value;
  return table;
}

/// The inverse of table_of; empty if the parts do not form one tensor.
std::vector<FilePart> parts_in(const Tensor& table, int64_t files) {
  const std::vector<int64_t> sizes{files, 3};
  if (table.scalar_type() != kLong || !table.sizes().equals(sizes)) return {};
  std::vector<FilePart> parts;
  const Tensor cells = table.contiguous();
  const int64_t* cell = cells.data_ptr<int64_t>();
  int64_t end = 0;
  bool has_whole = false, has_part = false;
  for (int64_t i = 0; i < files; ++i, cell += 3) {
    const FilePart& part = parts.emplace_back(FilePart{cell[0], cell[1], cell[2]});
    if (part.rows == FilePart::kNothing) continue;
    const bool is_whole = part.rows == FilePart::kWhole;
    if (has_whole || (is_whole && has_part)) return {};
    if (!is_whole && (part.rows < 0 || part.begin != end || part.rows > INT64_MAX - end)) return {};
    if (!is_whole) end += part.rows;
    (is_whole ? has_whole : has_part) = true;
  }
  return has_whole || has_part ? parts : std::vector<FilePart>();
}

Tensor bytes_of(const Values& values) {
  const std::vector<char> bytes = pickle_save(values);
  const Tensor tensor = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte));
  std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

using NamedParts = std::vector<std::pair<std::string, std::vector<FilePart>>>;

/// The checksum of an index: of its values, and of the keys and parts of its tensors.
int64_t checksum_of_index(const Tensor& values, NamedParts parts) {
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  uint32_t crc = io::crc32(values.data_ptr(), values.nbytes());
  for (const auto& [key, of_files] : parts) {
    crc = io::crc32(key.data(), key.size(), crc);
    for (const FilePart& part : of_files)
      for (const int64_t number : {part.begin, part.rows, part.crc})
        crc = io::crc32(&number, sizeof number, crc);
  }
  return crc;
}

Values values_in(const Tensor& bytes) {
  const char* const data = static_cast<const char*>(bytes.data_ptr());
  Values values;
  const IValue read = pickle_load(std::vector<char>(data, data + bytes.nbytes()));
  for (const auto& item : read.toGenericDict())
    values.insert(item.key().toStringRef(), item.value());
  return values;
}

std::string find(const io::Metadata& metadata, const std::string& key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return value;
  return "";
}

int64_t number_in(const std::string& digits) {
  const bool is_number = !digits.empty() && digits.size() < 12 &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(digits) : -1;
}

}  // namespace

std::string new_id() {
  std::random_device device;
  char text[kIdDigits + 1];
  std::snprintf(text, sizeof text, "%08x%08x", device(), device());
  return text;
}

std::string Folder::index() const { return (fs::path(path_) / "index.safetensors").string(); }

std::string Folder::file(const std::string& id, int64_t number, int64_t count) const {
  char name[80];
  std::snprintf(name, sizeof name, "%s-%05d-of-%05d.safetensors", id.c_str(),
                static_cast<int>(number), static_cast<int>(count));
  return (fs::path(path_) / name).string();
}

void Folder::create() const {
  std::error_code error;
  fs::create_directories(path_, error);
  HEARTH_CHECK(!error, "cannot create the folder '", path_, "': ", error.message());
}

void Folder::remove(const std::string& id, int64_t number, int64_t count) const noexcept {
  std::error_code ignored;
  fs::remove(file(id, number, count), ignored);
}

void Index::write(const Folder& folder) const {
  io::NamedTensors tensors;
  for (const auto& [key, of_files] : parts) tensors.emplace_back(kParts + key, table_of(of_files));
  const Tensor bytes = bytes_of(values);
  tensors.emplace_back(kValues, bytes);
  io::save_safetensors(tensors, folder.index(),
                       {{"format", kFormat},
                        {"id", id},
                        {"files", std::to_string(files)},
                        {"crc32", std::to_string(checksum_of_index(bytes, parts))}});
}

Index Index::read(const Folder& folder) {
  const io::SafetensorsFile file(folder.index());
  const io::Metadata& metadata = file.metadata();
  const auto expect = [&](bool holds, const std::string& what) {
    HEARTH_CHECK(holds, "cannot load '", folder.index(), "': ", what);
  };
  expect(find(metadata, "format") == kFormat, "it is not the index of a checkpoint");
  Index index;
  index.id = find(metadata, "id");
  index.files = number_in(find(metadata, "files"));
  expect(index.id.size() == kIdDigits &&
             index.id.find_first_not_of("0123456789abcdef") == std::string::npos &&
             index.files > 0 && index.files < kMaxFiles && file.contains(kValues),
         "it is damaged");
  for (const std::string& key : file.keys()) {
    if (key == kValues) continue;
    expect(key.starts_with(kParts), "it has the unknown entry '" + key + "'");
    auto parts = parts_in(file.get_tensor(key), index.files);
    const std::string name = key.substr(std::strlen(kParts));
    expect(!parts.empty(), "the parts of '" + name + "' are damaged");
    index.parts.emplace_back(name, std::move(parts));
  }
  const Tensor values = file.get_tensor(kValues).contiguous();
  expect(values.scalar_type() == kByte &&
             checksum_of_index(values, index.parts) == number_in(find(metadata, "crc32")),
         "it is damaged: its checksum differs");
  index.values = values_in(values);
  return index;
}

std::vector<FilePart> write_parts(const std::vector<Piece>& pieces, bool writes_whole,
                                  const std::string& file) {
  const PlainMode plain;
  std::vector<FilePart> written;
  io::NamedTensors tensors;
  for (const Piece& piece : pieces) {
    FilePart& part = written.emplace_back();
    if (piece.is_divided() ? piece.local.size(0) == 0 : !writes_whole) continue;
    const Tensor value = piece.local.detach().cpu().contiguous();
    if (piece.is_divided()) part.begin = piece.begin;
    part.rows = piece.is_divided() ? value.size(0) : FilePart::kWhole;
    part.crc = checksum(value);
    tensors.emplace_back(piece.key, value);
  }
  io::save_safetensors(tensors, file);
  return written;
}

Reader::Reader(Folder folder)
    : folder_(std::move(folder)),
      index_(Index::read(folder_)),
      parts_(index_.parts.begin(), index_.parts.end()) {}

const io::SafetensorsFile& Reader::file_with(const std::string& key, size_t number) {
  const std::string path = folder_.file(index_.id, static_cast<int64_t>(number), index_.files);
  auto found = files_.find(number);
  try {
    if (found == files_.end()) found = files_.emplace(number, io::SafetensorsFile(path)).first;
  } catch (Error& error) {
    error.append_line("while loading '" + key + "' of the checkpoint '" + folder_.path() + "'");
    throw;
  }
  HEARTH_CHECK(found->second.contains(key), "cannot load '", key, "': '", path,
               "' does not have it; the file is damaged");
  return found->second;
}

/// A file's part of a tensor, after a check of its checksum.
Tensor Reader::part(const std::string& key, size_t number) {
  const FilePart& expected = parts_.at(key)[number];
  const Tensor value = file_with(key, number).get_tensor(key);
  const bool fits =
      expected.rows == FilePart::kWhole || (value.dim() > 0 && value.size(0) == expected.rows);
  const bool is_new = checked_.emplace(key, number).second;
  HEARTH_CHECK(fits && (!is_new || checksum(value) == expected.crc), "cannot load '", key,
               "' from '", folder_.file(index_.id, static_cast<int64_t>(number), index_.files),
               "': its rows or its checksum differ from the index; the file is damaged");
  return value;
}

std::vector<int64_t> Reader::sizes(const std::string& key) {
  std::vector<int64_t> sizes;
  int64_t num_rows = 0;
  const std::vector<FilePart>& parts = parts_.at(key);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].rows == FilePart::kNothing) continue;
    if (sizes.empty()) sizes = file_with(key, i).info(key).sizes;
    if (parts[i].rows == FilePart::kWhole) return sizes;
    num_rows += parts[i].rows;
  }
  if (!sizes.empty()) sizes[0] = num_rows;
  return sizes;
}

Tensor Reader::whole(const std::string& key) {
  const std::vector<FilePart>& parts = parts_.at(key);
  std::vector<Tensor> values;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].rows != FilePart::kNothing) values.push_back(part(key, i));
  return values.size() == 1 ? values[0] : cat(values);
}

Tensor Reader::rows(const std::string& key, int64_t begin, int64_t count) {
  const std::vector<FilePart>& parts = parts_.at(key);
  std::vector<Tensor> values;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].rows == FilePart::kNothing) continue;
    if (parts[i].rows == FilePart::kWhole) return part(key, i).narrow(0, begin, count);
    const int64_t first = std::max(begin, parts[i].begin);
    const int64_t last = std::min(begin + count, parts[i].begin + parts[i].rows);
    // A rank without rows needs an empty tensor of the right sizes.
    if (first < last || (count == 0 && values.empty()))
      values.push_back(count == 0 ? part(key, i).narrow(0, 0, 0)
                                  : part(key, i).narrow(0, first - parts[i].begin, last - first));
  }
  return values.size() == 1 ? values[0] : cat(values);
}

}  // namespace hearth::distributed::checkpoint
