#include "images.h"

#include <algorithm>

#include "hearth/hearth.h"

namespace hearth::app {

namespace {

constexpr const char* kMnistFolder = "data/mnist";

template <class DataSet>
ImageSets read(const std::string& folder) {
  const DataSet train(folder, DataSet::Mode::kTrain), test(folder, DataSet::Mode::kTest);
  ImageSets sets{{train.images(), train.targets()}, {test.images(), test.targets()}, 0};
  for (const Images* set : {&sets.train, &sets.test})
    HEARTH_CHECK(set->count() > 0, "the data set in '", folder, "' has no images");
  sets.classes = train.targets().max().template item<int64_t>() + 1;
  return sets;
}

/// Ten patterns of 4x4 blocks under noise.
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
  static const std::vector<std::string> names{"fashion-mnist", "mnist", "synthetic"};
  return names;
}

ImageSets load_images(const std::string& name, std::optional<int64_t> limit) {
  using namespace data::datasets;
  ImageSets sets = name == "synthetic"       ? make_synthetic()
                   : name == "fashion-mnist" ? read<FashionMNIST>(FashionMNIST::kDebianFolder)
                                             : read<MNIST>(name == "mnist" ? kMnistFolder : name);
  if (limit)
    for (Images* set : {&sets.train, &sets.test}) *set = set->first(*limit);
  return sets;
}

}  // namespace hearth::app
