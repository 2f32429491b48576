#include <filesystem>
#include <memory>

#include "fit_image.h"
#include "hearth/hearth.h"
#include "hearth/vision/datasets.h"
#include "loaders.h"

namespace hearth::app {

namespace {

using vision::datasets::ImageFolder;
using Files = std::vector<std::pair<std::string, int64_t>>;

template <class Cifar>
DataSets load_cifar(const std::string& folder, const DataOptions& options, int64_t classes) {
  const Cifar train(folder, true), test(folder, false);
  return in_memory({train.images(), train.targets()}, {test.images(), test.targets()}, classes,
                   options.limit);
}

/// Examples that are read from files when a batch is loaded.
Examples examples_of(const std::shared_ptr<ImageFolder>& folder, std::vector<size_t> indices,
                     const DataOptions& options) {
  if (options.limit && indices.size() > static_cast<size_t>(*options.limit))
    indices.resize(static_cast<size_t>(*options.limit));
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

std::vector<size_t> all_of(const ImageFolder& folder) {
  std::vector<size_t> indices(folder.samples().size());
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return indices;
}

/// Of the names and sizes of the files: reading all of them would take too long.
std::string checksum_of_files(const ImageFolder& folder) {
  std::string text;
  for (const auto& [path, label] : folder.samples())
    text += detail::str(path, " ", std::filesystem::file_size(path), " ", label, "\n");
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
  namespace fs = std::filesystem;
  DataSets data;
  std::string test_path;
  for (const char* name : {"test", "val"})
    if (fs::is_directory(fs::path(folder) / "train") && fs::is_directory(fs::path(folder) / name))
      test_path = folder + "/" + name;
  const auto train = std::make_shared<ImageFolder>(test_path.empty() ? folder : folder + "/train");
  const auto test = test_path.empty() ? train : std::make_shared<ImageFolder>(test_path);
  HEARTH_CHECK(train->classes() == test->classes(), "the folders of classes in '", folder,
               "/train' and '", test_path, "' have different names");
  Split split{all_of(*train), all_of(*test)};
  if (test_path.empty()) split = random_split_of(std::ssize(train->samples()));
  data.train = examples_of(train, split.train, options);
  data.test = examples_of(test, split.test, options);
  data.class_names = train->classes();
  data.classes = std::ssize(data.class_names);
  data.checksums = {{"training_images", checksum_of_files(*train)},
                    {"test_images", checksum_of_files(*test)}};
  return data;
}

}  // namespace hearth::app
