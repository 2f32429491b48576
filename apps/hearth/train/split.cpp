#include <algorithm>
#include <cstdio>

#include "hearth/hearth.h"
#include "loaders.h"

namespace hearth::app {

namespace {

constexpr double kTestShare = 0.2;

std::string checksum_of_tensor(const Tensor& tensor) {
  const Tensor contiguous = tensor.contiguous();
  return checksum_of(contiguous.data_ptr(), contiguous.nbytes());
}

Tensors first_of(const Tensors& set, const std::optional<int64_t>& limit) {
  const int64_t count = std::min(limit.value_or(set.inputs.size(0)), set.inputs.size(0));
  return {set.inputs.narrow(0, 0, count), set.targets.narrow(0, 0, count)};
}

/// The numbers below `count` in a random order, the same in every run.
std::vector<size_t> random_order(int64_t count) {
  Generator random = make_generator();
  random.set_current_seed(0);
  const Tensor order = randperm(count, random).to(kLong);
  const auto* const begin = order.data_ptr<int64_t>();
  return {begin, begin + count};
}

/// The first `limit` numbers of a list, sorted.
std::vector<size_t> chosen(std::vector<size_t> list, std::optional<int64_t> limit) {
  if (limit && std::ssize(list) > *limit) list.resize(static_cast<size_t>(*limit));
  std::ranges::sort(list);
  return list;
}

}  // namespace

std::string checksum_of(const void* data, size_t bytes) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", io::crc32(data, bytes));
  return text;
}

DataSets in_memory(Tensors train, Tensors test, int64_t classes, std::optional<int64_t> limit) {
  train = first_of(train, limit);
  test = first_of(test, limit);
  return {{train.inputs, train.targets},
          {test.inputs, test.targets},
          classes,
          {},
          {{"training_images", checksum_of_tensor(train.inputs)},
           {"training_labels", checksum_of_tensor(train.targets)},
           {"test_images", checksum_of_tensor(test.inputs)},
           {"test_labels", checksum_of_tensor(test.targets)}}};
}

std::vector<size_t> random_choice(int64_t count, std::optional<int64_t> limit) {
  return chosen(random_order(count), limit);
}

Split random_split_of(int64_t count, std::optional<int64_t> limit) {
  HEARTH_CHECK(count >= 2, "training and testing need two examples, but there are ", count);
  const std::vector<size_t> order = random_order(count);
  const auto test_count =
      std::max<int64_t>(static_cast<int64_t>(kTestShare * static_cast<double>(count)), 1);
  return {chosen({order.begin() + test_count, order.end()}, limit),
          chosen({order.begin(), order.begin() + test_count}, limit)};
}

}  // namespace hearth::app
