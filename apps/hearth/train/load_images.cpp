#include <algorithm>
#include <filesystem>
#include <memory>

#include "fit_image.h"
#include "hearth/hearth.h"
#include "hearth/vision/datasets.h"
#include "loaders.h"

namespace hearth::app {

namespace {

using vision::datasets::ImageFolder;

template <class Cifar>
DataSets load_cifar(const std::string& folder, const DataOptions& options, int64_t classes) {
  const Cifar train(folder, true), test(folder, false);
  return in_memory({train.images(), train.targets()}, {test.images(), test.targets()}, classes,
                   options.limit);
}

/// Examples that are read from files when a batch is loaded.
Examples examples_of(const std::shared_ptr<ImageFolder>& folder, std::vector<size_t> indices,
                     const DataOptions& options) {
  std::vector<int64_t> classes;
  for (const size_t index : indices) classes.push_back(folder->samples()[index].second);
  const Tensor targets = tensor(classes, kLong);
  const int64_t size = options.image_size;
  const auto read = [folder, indices, size](ArrayRef<size_t> wanted) {
    std::vector<Tensor> images;
    for (const size_t i : wanted)
      images.push_back(fit_image(folder->get(indices[i]).data, size, size));
    return stack(images);
  };
  return {read, {3, size, size}, targets};
}

std::vector<size_t> some_of(const ImageFolder& folder, const DataOptions& options) {
  return random_choice(std::ssize(folder.samples()), options.limit);
}

/// The folder beside `train` with the images for testing; empty if the images are not divided.
std::string test_folder_in(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path train = fs::path(folder) / "train";
  const auto is_folder = [](const fs::path& path) { return fs::is_directory(path); };
  if (!is_folder(train)) return "";
  for (const char* name : {"val", "valid", "validation", "test"})
    if (is_folder(fs::path(folder) / name)) return folder + "/" + name;
  const bool has_classes =
      std::ranges::any_of(fs::directory_iterator(train), is_folder, &fs::directory_entry::path);
  HEARTH_CHECK(!has_classes, "'", folder,
               "' has a folder 'train' with classes, but no folder 'val', "
               "'valid', 'validation' or 'test' beside it: add one, or pass '",
               train.string(), "', of which a fifth is then for testing");
  return "";
}

/// A checksum of the names below `root`, sizes and labels of the files: reading all files would
/// take too long.
std::string checksum_of_files(const ImageFolder& images, const std::string& root) {
  namespace fs = std::filesystem;
  std::string text;
  for (const auto& [path, label] : images.samples())
    text += detail::str(fs::path(path).lexically_relative(root).string(), " ", fs::file_size(path),
                        " ", label, "\n");
  return checksum_of(text.data(), text.size());
}

}  // namespace

DataSets load_cifar10(const std::string& folder, const DataOptions& options) {
  DataSets data = load_cifar<vision::datasets::CIFAR10>(folder, options, 10);
  data.class_names = vision::datasets::CIFAR10::classes();
  return data;
}

DataSets load_cifar100(const std::string& folder, const DataOptions& options) {
  return load_cifar<vision::datasets::CIFAR100>(folder, options, 100);
}

DataSets load_image_folder(const std::string& folder, const DataOptions& options) {
  DataSets data;
  const std::string test_path = test_folder_in(folder);
  const std::string train_path = test_path.empty() ? folder : folder + "/train";
  const auto train = std::make_shared<ImageFolder>(train_path);
  const auto test = test_path.empty() ? train : std::make_shared<ImageFolder>(test_path);
  HEARTH_CHECK(train->classes() == test->classes(), "the folders of classes in '", folder,
               "/train' and '", test_path, "' have different names");
  const Split split = test_path.empty()
                          ? random_split_of(std::ssize(train->samples()), options.limit)
                          : Split{some_of(*train, options), some_of(*test, options)};
  data.train = examples_of(train, split.train, options);
  data.test = examples_of(test, split.test, options);
  data.class_names = train->classes();
  data.classes = std::ssize(data.class_names);
  data.checksums = {
      {"training_images", checksum_of_files(*train, train_path)},
      {"test_images", checksum_of_files(*test, test_path.empty() ? train_path : test_path)}};
  return data;
}

}  // namespace hearth::app
