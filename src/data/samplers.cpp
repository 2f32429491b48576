#include <algorithm>

#include "data/sampler_state.h"

namespace hearth::data::samplers {

void SequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  const size_t num_indices = std::min(batch_size, size_ - index_);
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> indices(num_indices);
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

namespace detail {

Batcher::Batcher(int64_t batch_size, bool drop_last)
    : batch_size_(static_cast<size_t>(batch_size)), drop_last_(drop_last) {
  HEARTH_CHECK_AS(ValueError, batch_size > 0,
                  "batch_size should be a positive integer value, but got batch_size=", batch_size);
}

void Batcher::reset(std::optional<size_t> new_size) { source().reset(new_size); }

std::optional<std::vector<size_t>> Batcher::next(size_t batch_size) {
  HEARTH_CHECK_AS(ValueError, batch_size == 1 || batch_size == batch_size_,
                  "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                  "and drop_last");
  std::vector<size_t> batch;
  while (batch.size() < batch_size_) {
    const auto more = source().next(batch_size_ - batch.size());
    if (!more || more->empty()) break;
    batch.insert(batch.end(), more->begin(), more->end());
  }
  if (batch.empty() || (drop_last_ && batch.size() < batch_size_)) return std::nullopt;
  return batch;
}

void Batcher::save(serialize::OutputArchive& archive) const {
  serialize::OutputArchive state;
  source().save(state);
  archive.write("batch_size", IValue(batch_size_));
  archive.write("sampler", state);
}
void Batcher::load(serialize::InputArchive& archive) {
  check_size(read_size(archive, "batch_size"), batch_size_, "examples per batch");
  serialize::InputArchive state;
  archive.read("sampler", state);
  source().load(state);
}

}  // namespace detail

CustomBatchRequest::~CustomBatchRequest() = default;

void StreamSampler::reset(std::optional<size_t> new_size) {
  if (new_size) epoch_size_ = *new_size;
  retrieved_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (retrieved_ >= epoch_size_) return std::nullopt;
  const size_t num_examples = std::min(batch_size, epoch_size_ - retrieved_);
  retrieved_ += num_examples;
  return BatchSize(num_examples);
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
