#include "hearth/data/samplers.h"

#include <algorithm>

namespace hearth::data::samplers {

namespace {

size_t read_size(serialize::InputArchive& archive, const std::string& key) {
  size_t value = 0;
  archive.read(key, value);
  return value;
}

/// A number that may not be larger than another one.
size_t read_place(serialize::InputArchive& archive, const std::string& key, size_t end) {
  const size_t place = read_size(archive, key);
  HEARTH_CHECK(place <= end, "the sampler's place in the archive is ", place, " of ", end);
  return place;
}

}  // namespace

void SequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  const size_t count = std::min(batch_size, size_ - index_);
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> indices(count);
  for (size_t& index : indices) index = index_++;
  return indices;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  archive.write("size", IValue(size_));
  archive.write("index", IValue(index_));
}
void SequentialSampler::load(serialize::InputArchive& archive) {
  const size_t size = read_size(archive, "size");
  index_ = read_place(archive, "index", size);
  size_ = size;
}

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : indices_(randperm(size, index_dtype)) {}
RandomSampler::~RandomSampler() = default;

void RandomSampler::reset(std::optional<size_t> new_size) {
  // What saved states refer to stays as it is.
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = randperm(size, indices_.scalar_type());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const int64_t left = indices_.numel() - index_;
  if (left == 0) return std::nullopt;
  const int64_t count = std::min<int64_t>(static_cast<int64_t>(batch_size), left);
  const Tensor slice = indices_.narrow(0, index_, count).to(kInt64);
  index_ += count;
  const auto* first = slice.data_ptr<int64_t>();
  return std::vector<size_t>(first, first + count);
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", index_);
  archive.write("indices", indices_, true);
}
void RandomSampler::load(serialize::InputArchive& archive) {
  Tensor indices;
  archive.read("indices", indices, true);
  HEARTH_CHECK(indices.defined() && indices.dim() == 1 && is_integral(indices.scalar_type(), false),
               "the sampler's indices in the archive are no vector of integers");
  const int64_t size = indices.numel();
  HEARTH_CHECK(
      size == 0 || (indices.min().item<int64_t>() >= 0 && indices.max().item<int64_t>() < size),
      "the sampler's indices in the archive are not between 0 and ", size - 1);
  index_ = static_cast<int64_t>(read_place(archive, "index", static_cast<size_t>(size)));
  indices_ = indices;
}

CustomBatchRequest::~CustomBatchRequest() = default;

void StreamSampler::reset(std::optional<size_t> new_size) {
  if (new_size) epoch_size_ = *new_size;
  retrieved_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (retrieved_ >= epoch_size_) return std::nullopt;
  const size_t count = std::min(batch_size, epoch_size_ - retrieved_);
  retrieved_ += count;
  return BatchSize(count);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  archive.write("size", IValue(epoch_size_));
  archive.write("examples_retrieved_so_far", IValue(retrieved_));
}
void StreamSampler::load(serialize::InputArchive& archive) {
  const size_t size = read_size(archive, "size");
  retrieved_ = read_place(archive, "examples_retrieved_so_far", size);
  epoch_size_ = size;
}

}  // namespace hearth::data::samplers
