#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "hearth/operators.h"
#include "hearth/vision/datasets.h"

namespace hearth::vision::datasets {

namespace {

constexpr int64_t kPixelBytes = 3 * 32 * 32;

/// Returns the bytes of a file of records, `[records, record_bytes]`.
Tensor read_records(const std::string& path, int64_t record_bytes, const std::string& hint) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  HEARTH_CHECK(file, "cannot read '", path, "': ", std::strerror(errno), ". To get it: ", hint);
  const auto bytes = int64_t(file.tellg());
  HEARTH_CHECK(bytes > 0 && bytes % record_bytes == 0, "cannot read '", path, "': its length, ",
               bytes, ", is not a positive multiple of ", record_bytes,
               " bytes, the length of a record");
  const Tensor records = empty({bytes / record_bytes, record_bytes}, kByte);
  file.seekg(0).read(static_cast<char*>(records.data_ptr()), bytes);
  HEARTH_CHECK(file, "cannot read '", path, "': ", std::strerror(errno));
  return records;
}

/// The files of CIFAR-10 or CIFAR-100.
struct Cifar {
  const char* folder;   // in the archive
  const char* archive;  // file name of the archive
  int64_t label_bytes;  // before the pixels; the last one is the class
  int64_t num_classes;

  /// Returns the images and their classes from the files with these names.
  std::pair<Tensor, Tensor> read(const std::string& root,
                                 const std::vector<std::string>& names) const {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const bool is_unpacked_here = fs::exists(fs::path(root) / names[0], ignored);
    const fs::path from = is_unpacked_here ? fs::path(root) : fs::path(root) / folder;
    const std::string hint =
        hearth::detail::str("mkdir -p '", root, "' && curl -L https://www.cs.toronto.edu/~kriz/",
                            archive, " | tar xz -C '", root, "'");
    std::vector<Tensor> parts;
    for (const std::string& name : names)
      parts.push_back(read_records((from / name).string(), label_bytes + kPixelBytes, hint));
    const Tensor records = cat(parts);
    const Tensor targets = records.select(1, label_bytes - 1).to(kLong);
    HEARTH_CHECK(targets.max().item<int64_t>() < num_classes, "cannot read '", from.string(),
                 "': a class is ", targets.max().item<int64_t>(), ", but there are ", num_classes,
                 " classes");
    return {records.narrow(1, label_bytes, kPixelBytes).reshape({-1, 3, 32, 32}), targets};
  }
};

data::Example<> example_of(const Tensor& images, const Tensor& targets, size_t index) {
  return {images[int64_t(index)].to(kFloat).div_(255), targets[int64_t(index)]};
}

}  // namespace

CIFAR10::CIFAR10(const std::string& root, bool train) {
  std::vector<std::string> names{"test_batch.bin"};
  if (train) {
    names.clear();
    for (int i = 1; i <= 5; ++i) names.push_back(hearth::detail::str("data_batch_", i, ".bin"));
  }
  std::tie(images_, targets_) =
      Cifar{"cifar-10-batches-bin", "cifar-10-binary.tar.gz", 1, 10}.read(root, names);
}
data::Example<> CIFAR10::get(size_t index) { return example_of(images_, targets_, index); }
std::optional<size_t> CIFAR10::size() const { return size_t(images_.size(0)); }
const std::vector<std::string>& CIFAR10::classes() {
  static const std::vector<std::string> names{"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};
  return names;
}

CIFAR100::CIFAR100(const std::string& root, bool train) {
  std::tie(images_, targets_) = Cifar{"cifar-100-binary", "cifar-100-binary.tar.gz", 2, 100}.read(
      root, {train ? "train.bin" : "test.bin"});
}
data::Example<> CIFAR100::get(size_t index) { return example_of(images_, targets_, index); }
std::optional<size_t> CIFAR100::size() const { return size_t(images_.size(0)); }

}  // namespace hearth::vision::datasets
