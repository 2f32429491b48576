#include "augment.h"

#include "../names.h"
#include "hearth/vision/auto_augment.h"

namespace hearth::app {

namespace {

namespace vt = vision::transforms;

/// Makes a change of images of bytes work on images of numbers from 0 to 1.
vt::ImageFunction on_bytes(vt::ImageFunction change) {
  return [change](Tensor image) {
    const Tensor bytes = vt::functional::convert_image_dtype(image, kByte);
    return vt::functional::convert_image_dtype(change(bytes), kFloat);
  };
}

struct Augmentation {
  const char* name;
  vt::ImageFunction (*make)(int64_t height, int64_t width);
};

constexpr Augmentation kAugmentations[] = {
    {"crop",
     [](int64_t height, int64_t width) -> vt::ImageFunction {
       return vt::RandomCrop({height, width}, {4});
     }},
    {"resized-crop",
     [](int64_t height, int64_t width) -> vt::ImageFunction {
       return vt::RandomResizedCrop({height, width});
     }},
    {"flip", [](int64_t, int64_t) -> vt::ImageFunction { return vt::RandomHorizontalFlip(); }},
    {"rotate", [](int64_t, int64_t) -> vt::ImageFunction { return vt::RandomRotation(15); }},
    {"color", [](int64_t, int64_t) -> vt::ImageFunction { return vt::ColorJitter(0.2, 0.2, 0.2); }},
    {"randaugment",
     [](int64_t, int64_t) -> vt::ImageFunction { return on_bytes(vt::RandAugment()); }},
    {"erase", [](int64_t, int64_t) -> vt::ImageFunction { return vt::RandomErasing(); }},
};

}  // namespace

const std::vector<std::string>& augmentation_names() {
  static const std::vector<std::string> names = names_in(kAugmentations);
  return names;
}

std::function<Tensor(Tensor)> make_augmentation(const std::vector<std::string>& names,
                                                int64_t height, int64_t width) {
  std::vector<vt::ImageFunction> changes;
  for (const std::string& name : names) {
    const Augmentation* augmentation = find_named(kAugmentations, name);
    if (!augmentation) throw ValueError(unknown_name("augmentation", name, augmentation_names()));
    changes.push_back(augmentation->make(height, width));
  }
  return vt::Compose(std::move(changes));
}

}  // namespace hearth::app
