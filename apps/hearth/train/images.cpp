#include "images.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "../names.h"
#include "hearth/hearth.h"

namespace hearth::app {

namespace {

constexpr const char* kMnistFolder = "data/mnist";

/// "28 x 28".
std::string size_text(const Images& set) {
  return detail::str(set.images().size(2), " x ", set.images().size(3));
}

template <class Mnist>
ImageSets read(const std::string& folder) {
  const Mnist train(folder, Mnist::Mode::kTrain), test(folder, Mnist::Mode::kTest);
  ImageSets sets{{train.images(), train.targets()}, {test.images(), test.targets()}, 0};
  for (const Images* set : {&sets.train, &sets.test})
    HEARTH_CHECK(set->count() > 0, "the dataset in '", folder, "' has no images");
  const std::string train_size = size_text(sets.train), test_size = size_text(sets.test);
  HEARTH_CHECK(train_size == test_size, "the images of '", folder, "/train-images-idx3-ubyte' are ",
               train_size, ", but those of '", folder, "/t10k-images-idx3-ubyte' are ", test_size);
  sets.classes = train.targets().max().template item<int64_t>() + 1;
  const int64_t test_classes = test.targets().max().template item<int64_t>() + 1;
  HEARTH_CHECK(test_classes <= sets.classes, "the labels of '", folder,
               "/t10k-labels-idx1-ubyte' go up to ", test_classes - 1, ", but those of '", folder,
               "/train-labels-idx1-ubyte' only to ", sets.classes - 1);
  return sets;
}

std::string checksum_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.contiguous();
  char text[16];
  std::snprintf(text, sizeof text, "%08x", io::crc32(contiguous.data_ptr(), contiguous.nbytes()));
  return text;
}

/// Ten classes, each a pattern of 4x4 blocks, with noise.
ImageSets make_synthetic() {
  constexpr int64_t kClasses = 10, kSize = 28, kBlock = 4;
  Generator random = make_generator();
  random.set_current_seed(0);
  const Tensor blocks = rand({kClasses, 1, kSize / kBlock, kSize / kBlock}, random);
  const Tensor patterns = blocks.repeat_interleave(kBlock, 2).repeat_interleave(kBlock, 3);
  const auto make = [&](int64_t count) {
    const Tensor labels = empty({count}, kLong).random_(0, kClasses, random);
    const Tensor noise = rand({count, 1, kSize, kSize}, random);
    return Images(patterns.index_select(0, labels).mul_(0.4).add_(noise, 0.6), labels);
  };
  Images train = make(10000);
  return {std::move(train), make(2000), kClasses};
}

struct DataSet {
  const char* name;
  ImageSets (*load)();
};

constexpr DataSet kDataSets[] = {
    {"fashion-mnist",
     [] {
       using data::datasets::FashionMNIST;
       return read<FashionMNIST>(FashionMNIST::kDebianFolder);
     }},
    {"mnist", [] { return read<data::datasets::MNIST>(kMnistFolder); }},
    {"synthetic", make_synthetic},
};

}  // namespace

data::Example<> Images::get_batch(ArrayRef<size_t> indices) {
  const Tensor rows = empty({static_cast<int64_t>(indices.size())}, kLong);
  std::copy(indices.begin(), indices.end(), rows.data_ptr<int64_t>());
  return {images_.index_select(0, rows), labels_.index_select(0, rows)};
}

Images Images::first(int64_t count) const {
  count = std::min(count, this->count());
  return {images_.narrow(0, 0, count), labels_.narrow(0, 0, count)};
}

const std::vector<std::string>& data_names() {
  static const std::vector<std::string> names = names_in(kDataSets);
  return names;
}

std::string data_source(const std::string& typed) {
  if (find_named(kDataSets, typed)) return typed;
  std::error_code error;
  const std::string path = std::filesystem::canonical(typed, error).string();
  HEARTH_CHECK(!error && std::filesystem::is_directory(path, error),
               unknown_name("dataset", typed, data_names()), ", and there is no such folder");
  HEARTH_CHECK(is_utf8(path), "the path of the folder '", printable(typed),
               "' is not UTF-8, which config.toml requires");
  return path;
}

ImageSets load_images(const std::string& source, std::optional<int64_t> limit) {
  const DataSet* set = find_named(kDataSets, source);
  ImageSets sets = set ? set->load() : read<data::datasets::MNIST>(source);
  if (limit)
    for (Images* images : {&sets.train, &sets.test}) *images = images->first(*limit);
  sets.checksums = {{"training_images", checksum_of(sets.train.images())},
                    {"training_labels", checksum_of(sets.train.labels())},
                    {"test_images", checksum_of(sets.test.images())},
                    {"test_labels", checksum_of(sets.test.labels())}};
  return sets;
}

std::string note_on_classes(const ImageSets& sets) {
  const Tensor labels = sets.train.labels().contiguous();
  std::vector<bool> seen(static_cast<size_t>(sets.classes));
  for (int64_t i = 0; i < labels.numel(); ++i)
    seen[static_cast<size_t>(labels.data_ptr<int64_t>()[i])] = true;
  const auto unseen = std::count(seen.begin(), seen.end(), false);
  if (unseen == 0) return "";
  return detail::str("The largest label is ", sets.classes - 1, ", so there are ", sets.classes,
                     " classes; ", unseen, " of them have no training image.");
}

}  // namespace hearth::app
