#include "hearth/data/samplers.h"

#include <algorithm>

namespace hearth::data::samplers {

namespace {

size_t read_size(serialize::InputArchive& archive, const std::string& key) {
  size_t value = 0;
  archive.read(key, value);
  return value;
}

/// Reads a position in an epoch of `end` examples.
size_t read_position(serialize::InputArchive& archive, const std::string& key, size_t end) {
  const size_t position = read_size(archive, key);
  HEARTH_CHECK(position <= end, "the sampler's position in the archive is ", position, " of ", end);
  return position;
}

void check_size(size_t saved, size_t own) {
  HEARTH_CHECK(saved == own, "the sampler's state was saved for ", saved,
               " examples; this sampler has ", own);
}

/// Checks that each index from 0 to size - 1 occurs once.
void check_permutation(const Tensor& indices) {
  const Tensor wide = indices.to(kInt64).contiguous();
  const auto* first = wide.data_ptr<int64_t>();
  const int64_t size = wide.numel();
  std::vector<bool> seen(static_cast<size_t>(size));
  for (const int64_t index : ArrayRef<int64_t>(first, static_cast<size_t>(size))) {
    HEARTH_CHECK(index >= 0 && index < size,
                 "the sampler's indices in the archive are not between 0 and ", size - 1);
    const auto position = static_cast<size_t>(index);
    HEARTH_CHECK(!seen[position], "the sampler's indices in the archive have ", index, " twice");
    seen[position] = true;
  }
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
  check_size(read_size(archive, "size"), size_);
  index_ = read_position(archive, "index", size_);
}

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : indices_(randperm(size, index_dtype)) {}
RandomSampler::~RandomSampler() = default;

void RandomSampler::reset(std::optional<size_t> new_size) {
  // A new tensor: saved states may still refer to the old one.
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = randperm(size, indices_.scalar_type());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const auto left = static_cast<size_t>(indices_.numel() - index_);
  if (left == 0) return std::nullopt;
  const auto count = static_cast<int64_t>(std::min(batch_size, left));
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
               "the sampler's indices in the archive are not a vector of integers");
  indices = indices.cpu();
  const auto size = static_cast<size_t>(indices.numel());
  check_size(size, static_cast<size_t>(indices_.numel()));
  check_permutation(indices);
  index_ = static_cast<int64_t>(read_position(archive, "index", size));
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
  check_size(read_size(archive, "size"), epoch_size_);
  retrieved_ = read_position(archive, "examples_retrieved_so_far", epoch_size_);
}

}  // namespace hearth::data::samplers
