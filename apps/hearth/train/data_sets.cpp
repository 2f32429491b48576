#include "data_sets.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "../choices.h"
#include "../names.h"
#include "hearth/hearth.h"

namespace hearth::app {

namespace {

constexpr const char* kMnistFolder = "data/mnist";

/// "28 x 28".
std::string size_text(const Tensor& images) {
  return detail::str(images.size(2), " x ", images.size(3));
}

std::string checksum_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.contiguous();
  char text[16];
  std::snprintf(text, sizeof text, "%08x", io::crc32(contiguous.data_ptr(), contiguous.nbytes()));
  return text;
}

/// Inputs and targets of one set in memory.
struct Tensors {
  Tensor inputs, targets;
  Tensors first(const std::optional<int64_t>& limit) const {
    const int64_t count = std::min(limit.value_or(inputs.size(0)), inputs.size(0));
    return {inputs.narrow(0, 0, count), targets.narrow(0, 0, count)};
  }
};

/// The first `limit` examples of each set, with checksums.
DataSets in_memory(Tensors train, Tensors test, int64_t classes, std::optional<int64_t> limit) {
  train = train.first(limit);
  test = test.first(limit);
  return {{train.inputs, train.targets},
          {test.inputs, test.targets},
          classes,
          {{"training_images", checksum_of(train.inputs)},
           {"training_labels", checksum_of(train.targets)},
           {"test_images", checksum_of(test.inputs)},
           {"test_labels", checksum_of(test.targets)}}};
}

template <class Mnist>
DataSets read(const std::string& folder, std::optional<int64_t> limit) {
  const Mnist train(folder, Mnist::Mode::kTrain), test(folder, Mnist::Mode::kTest);
  for (const Mnist* set : {&train, &test})
    HEARTH_CHECK(set->images().size(0) > 0, "the dataset in '", folder, "' has no images");
  const std::string train_size = size_text(train.images()), test_size = size_text(test.images());
  HEARTH_CHECK(train_size == test_size, "the images of '", folder, "/train-images-idx3-ubyte' are ",
               train_size, ", but those of '", folder, "/t10k-images-idx3-ubyte' are ", test_size);
  const int64_t classes = train.targets().max().template item<int64_t>() + 1;
  const int64_t test_classes = test.targets().max().template item<int64_t>() + 1;
  HEARTH_CHECK(test_classes <= classes, "the labels of '", folder,
               "/t10k-labels-idx1-ubyte' go up to ", test_classes - 1, ", but those of '", folder,
               "/train-labels-idx1-ubyte' only to ", classes - 1);
  return in_memory({train.images(), train.targets()}, {test.images(), test.targets()}, classes,
                   limit);
}

/// Ten classes, each a pattern of 4x4 blocks, with noise.
DataSets make_synthetic(std::optional<int64_t> limit) {
  constexpr int64_t kClasses = 10, kSize = 28, kBlock = 4;
  Generator random = make_generator();
  random.set_current_seed(0);
  const Tensor blocks = rand({kClasses, 1, kSize / kBlock, kSize / kBlock}, random);
  const Tensor patterns = blocks.repeat_interleave(kBlock, 2).repeat_interleave(kBlock, 3);
  const auto make = [&](int64_t count) {
    const Tensor labels = empty({count}, kLong).random_(0, kClasses, random);
    const Tensor noise = rand({count, 1, kSize, kSize}, random);
    return Tensors{patterns.index_select(0, labels).mul_(0.4).add_(noise, 0.6), labels};
  };
  const Tensors train = make(10000);
  return in_memory(train, make(2000), kClasses, limit);
}

struct DataSet {
  const char* name;
  DataSets (*load)(std::optional<int64_t> limit);
};

constexpr DataSet kDataSets[] = {
    {"fashion-mnist",
     [](std::optional<int64_t> limit) {
       using data::datasets::FashionMNIST;
       return read<FashionMNIST>(FashionMNIST::kDebianFolder, limit);
     }},
    {"mnist",
     [](std::optional<int64_t> limit) { return read<data::datasets::MNIST>(kMnistFolder, limit); }},
    {"synthetic", make_synthetic},
};

/// Replaces the typed text by the dataset's name or the folder's full path; returns an error text.
std::string resolve_data(std::string& typed) {
  try {
    typed = data_source(typed);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

CLI::Option* add_data(CLI::App& command, std::string& source) {
  return offer(command.add_option("--data", source,
                                  "Dataset, or a folder with files named like MNIST's"),
               {names_in(kDataSets), Values::Paths::kFolders})
      ->transform(CLI::Validator(resolve_data, ""));
}

std::string data_source(const std::string& typed) {
  if (find_named(kDataSets, typed)) return typed;
  std::error_code error;
  const std::string path = std::filesystem::canonical(typed, error).string();
  HEARTH_CHECK(!error && std::filesystem::is_directory(path, error),
               unknown_name("dataset", typed, names_in(kDataSets)),
               ", and there is no such folder");
  HEARTH_CHECK(is_utf8(path), "the path of the folder '", printable(typed),
               "' is not UTF-8, which config.toml requires");
  return path;
}

DataSets load_data(const std::string& source, std::optional<int64_t> limit) {
  const DataSet* set = find_named(kDataSets, source);
  return set ? set->load(limit) : read<data::datasets::MNIST>(source, limit);
}

std::string note_on_classes(const DataSets& data) {
  const Tensor labels = data.train.targets().contiguous();
  std::vector<bool> seen(static_cast<size_t>(data.classes));
  for (int64_t i = 0; i < labels.numel(); ++i)
    seen[static_cast<size_t>(labels.data_ptr<int64_t>()[i])] = true;
  const auto unseen = std::count(seen.begin(), seen.end(), false);
  if (unseen == 0) return "";
  return detail::str("The largest label is ", data.classes - 1, ", so there are ", data.classes,
                     " classes; ", unseen, " of them have no training image.");
}

}  // namespace hearth::app
