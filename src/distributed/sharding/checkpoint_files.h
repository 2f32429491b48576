#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distributed/sharding/checkpoint_contents.h"
#include "hearth/io/safetensors.h"

/// The files of a checkpoint. Each save chooses a random id for the names of its files, one per
/// rank, or one in all with full_state_dict: `<id>-00000-of-00004.safetensors`. `index.safetensors`
/// has the id, the values that are not tensors and, for each tensor, a table with a line per file.
namespace hearth::distributed::checkpoint {

/// One file's part of a tensor.
struct FilePart {
  static constexpr int64_t kNothing = 0, kWhole = -1;  // in `rows`
  int64_t begin = 0;
  int64_t rows = kNothing;
  int64_t crc = 0;  // of the bytes
};

/// The folder of a checkpoint.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  std::string index() const;
  std::string file(const std::string& id, int64_t number, int64_t count) const;
  void create() const;
  void remove(const std::string& id, int64_t number, int64_t count) const noexcept;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The content of index.safetensors.
struct Index {
  /// Reads and checks an index.
  static Index read(const Folder& folder);
  void write(const Folder& folder) const;

  std::string id;
  int64_t files = 0;
  std::vector<std::pair<std::string, std::vector<FilePart>>> parts;  // by the tensors' keys
  Values values;
};

/// A new id.
std::string new_id();
/// Writes the parts of one rank and returns their entries, in the order of the pieces.
/// `writes_whole`: this rank writes the tensors that all ranks have.
std::vector<FilePart> write_parts(const std::vector<Piece>& pieces, bool writes_whole,
                                  const std::string& file);

/// Reads tensors of a checkpoint.
class Reader {
 public:
  explicit Reader(Folder folder);
  const Index& index() const { return index_; }
  bool has(const std::string& key) const { return parts_.contains(key); }
  std::vector<int64_t> sizes(const std::string& key);
  Tensor whole(const std::string& key);
  Tensor rows(const std::string& key, int64_t begin, int64_t count);

 private:
  const io::SafetensorsFile& file_with(const std::string& key, size_t number);
  Tensor part(const std::string& key, size_t file);

  Folder folder_;
  Index index_;
  std::map<std::string, std::vector<FilePart>> parts_;
  std::map<size_t, io::SafetensorsFile> files_;
  std::set<std::pair<std::string, size_t>> checked_;  // parts whose checksum was compared
};

}  // namespace hearth::distributed::checkpoint
