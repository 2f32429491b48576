#include "data_sets.h"

#include <algorithm>
#include <filesystem>

#include "../choices.h"
#include "../names.h"
#include "hearth/hearth.h"
#include "loaders.h"

namespace hearth::app {

namespace {

/// The height and width of the images: "28 x 28".
std::string size_text(const Tensor& images) {
  return detail::str(images.size(2), " x ", images.size(3));
}

template <class Mnist>
DataSets load_mnist(const std::string& folder, const DataOptions& options) {
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
                   options.limit);
}

Generator seeded(uint64_t seed) {
  Generator generator = make_generator();
  generator.set_current_seed(seed);
  return generator;
}

/// Ten classes, each a pattern of blocks of 4x4 pixels, with noise. Labels and noise have their own
/// generators, so that a limit only leaves out the end.
DataSets make_synthetic(const std::string&, const DataOptions& options) {
  constexpr int64_t kClasses = 10, kSize = 28, kBlock = 4;
  const Tensor blocks = rand({kClasses, 1, kSize / kBlock, kSize / kBlock}, seeded(0));
  const Tensor patterns = blocks.repeat_interleave(kBlock, 2).repeat_interleave(kBlock, 3);
  const auto make = [&](int64_t most, uint64_t seed) {
    const int64_t count = std::min(options.limit.value_or(most), most);
    const Tensor labels = empty({count}, kLong).random_(0, kClasses, seeded(seed));
    const Tensor noise = rand({count, 1, kSize, kSize}, seeded(seed + 1));
    return Tensors{patterns.index_select(0, labels).mul_(0.4).add_(noise, 0.6), labels};
  };
  return in_memory(make(10000, 1), make(2000, 3), kClasses, options.limit);
}

struct DataSet {
  const char* name;
  /// Null if the user must write name:path; empty if the data has no path.
  const char* default_path;
  DataSets (*load)(const std::string& path, const DataOptions& options);
};

constexpr auto load_mnist_folder = load_mnist<data::datasets::MNIST>;
constexpr DataSet kDataSets[] = {
    {"fashion-mnist", data::datasets::FashionMNIST::kDebianFolder,
     load_mnist<data::datasets::FashionMNIST>},
    {"mnist", "data/mnist", load_mnist_folder},
    {"cifar10", "data/cifar10", load_cifar10},
    {"cifar100", "data/cifar100", load_cifar100},
    {"image-folder", nullptr, load_image_folder},
    {"csv", nullptr, load_csv},
    {"text", nullptr, load_text},
    {"synthetic", "", make_synthetic},
};

/// The dataset and its path, by default its default_path; if the name is unknown, no dataset and
/// the whole text as the path.
std::pair<const DataSet*, std::string> parse_source(const std::string& source) {
  const size_t colon = source.find(':');
  const DataSet* set = find_named(kDataSets, source.substr(0, colon));
  if (!set || colon != std::string::npos) return {set, set ? source.substr(colon + 1) : source};
  return {set, set->default_path ? set->default_path : ""};
}

/// Replaces the typed text by data_source() of it; returns an error text.
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
  return suggest_values(
             command.add_option("--data", source,
                                "Dataset, name:path, or a folder with files named like MNIST's"),
             {names_in(kDataSets), Values::Paths::kFolders})
      ->transform(CLI::Validator(resolve_data, ""));
}

std::string data_source(const std::string& typed) {
  const auto [set, typed_path] = parse_source(typed);
  const bool has_path = !set || typed.find(':') != std::string::npos;
  HEARTH_CHECK(has_path || set->default_path, "'", typed, "' needs a path: --data ", typed,
               ":PATH");
  if (!has_path) return typed;
  HEARTH_CHECK(!set || !set->default_path || *set->default_path, "'", set->name, "' has no path");
  std::error_code error;
  const std::string path = std::filesystem::canonical(typed_path, error).string();
  HEARTH_CHECK(set || (!error && std::filesystem::is_directory(path, error)),
               unknown_name("dataset", typed, names_in(kDataSets)),
               ", and there is no such folder");
  HEARTH_CHECK(!error, "cannot read '", printable(typed_path), "': ", error.message());
  HEARTH_CHECK(is_utf8(path), "the path '", printable(typed_path),
               "' is not UTF-8, which config.toml requires");
  return set ? set->name + (":" + path) : path;
}

DataSets load_data(const std::string& source, const DataOptions& options) {
  const auto [set, path] = parse_source(source);
  return (set ? set->load : load_mnist_folder)(path, options);
}

DataSets with_channels(DataSets data, int64_t channels) {
  for (Examples* examples : {&data.train, &data.test}) {
    const std::vector<int64_t>& sizes = examples->input_sizes();
    if (sizes.size() == 3 && sizes[0] == 1 && channels > 1)
      *examples = examples->transformed(
          [channels](Tensor image) {
            return image.expand({channels, -1, -1});
          },
          {channels, sizes[1], sizes[2]});
  }
  return data;
}

std::string note_on_classes(const DataSets& data) {
  const Tensor labels = data.train.targets().contiguous();
  std::vector<bool> seen(static_cast<size_t>(data.classes));
  for (int64_t i = 0; i < labels.numel(); ++i)
    seen[static_cast<size_t>(labels.data_ptr<int64_t>()[i])] = true;
  const auto unseen = std::count(seen.begin(), seen.end(), false);
  if (unseen == 0) return "";
  return detail::str("There are ", data.classes, " classes; ", unseen,
                     " of them have no training example.");
}

}  // namespace hearth::app
