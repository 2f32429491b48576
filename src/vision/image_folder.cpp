#include <algorithm>
#include <filesystem>

#include "hearth/operators.h"
#include "hearth/vision/datasets.h"
#include "vision/codecs.h"

namespace hearth::vision::datasets {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_in(const std::string& root) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_directory()) names.push_back(entry->path().filename().string());
  HEARTH_CHECK(!error, "cannot read '", root, "': ", error.message());
  HEARTH_CHECK(!names.empty(), "Couldn't find any class folder in ", root, ".");
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the paths of the images at any depth, sorted by folder and then by name, as torchvision
/// does.
std::vector<std::string> images_under(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<std::string, std::string>> files;  // folders and names
  for (fs::recursive_directory_iterator
           entry(folder, fs::directory_options::follow_directory_symlink, error),
       end;
       !error && entry != end; entry.increment(error))
    if (const std::string name = entry->path().filename().string();
        entry->is_regular_file() && (is_png_name(name) || is_jpeg_name(name)))
      files.emplace_back(entry->path().parent_path().string(), name);
  HEARTH_CHECK(!error, "cannot read '", folder.string(), "': ", error.message());
  std::sort(files.begin(), files.end());
  std::vector<std::string> paths;
  for (const auto& [parent, name] : files) paths.push_back((fs::path(parent) / name).string());
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, std::function<Tensor(Tensor)> transform)
    : transform_(std::move(transform)), classes_(folders_in(root)) {
  for (size_t i = 0; i < classes_.size(); ++i) {
    const std::vector<std::string> images = images_under(fs::path(root) / classes_[i]);
    HEARTH_CHECK(!images.empty(), "Found no valid file for the classes ", classes_[i],
                 ". Supported extensions are: .png, .jpg, .jpeg");
    for (const std::string& image : images) samples_.emplace_back(image, int64_t(i));
  }
}

data::Example<> ImageFolder::get(size_t index) {
  const auto& [path, label] = samples_.at(index);
  Tensor image = read_image(path, ImageReadMode::RGB);
  if (transform_) image = transform_(std::move(image));
  return {std::move(image), scalar_tensor(label, kLong)};
}

}  // namespace hearth::vision::datasets
