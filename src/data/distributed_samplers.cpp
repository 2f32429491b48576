// Samplers of processes that share a dataset.
#include <algorithm>
#include <numeric>
#include <random>

#include "data/sampler_state.h"

namespace hearth::data::samplers {

namespace detail {

void check_rank(size_t rank, size_t num_replicas) {
  HEARTH_CHECK_AS(ValueError, rank < num_replicas, "Invalid rank ", rank,
                  ", rank should be in the interval [0, ", static_cast<int64_t>(num_replicas) - 1,
                  "]");
}

DistributedPart::DistributedPart(size_t size, size_t num_replicas, size_t rank,
                                 bool allow_duplicates, bool shuffled)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates), shuffled_(shuffled) {
  DistributedPart::reset(std::nullopt);
}

void DistributedPart::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = rank_ * local_sample_count();
  order_epoch_ = epoch_;
  if (!shuffled_) return;
  // LibTorch shuffles with the same generator.
  order_.resize(local_sample_count() * num_replicas_);
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = i % size_;
  std::shuffle(order_.begin(), order_.end(), std::mt19937(epoch_));
}

std::optional<std::vector<size_t>> DistributedPart::next(size_t batch_size) {
  const size_t num_remaining = (rank_ + 1) * local_sample_count() - index_;
  if (num_remaining == 0) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, num_remaining));
  for (size_t& index : indices) {
    index = shuffled_ ? order_[index_] : index_ % size_;
    ++index_;
  }
  return indices;
}

void DistributedPart::save(serialize::OutputArchive& archive) const {
  archive.write("size", IValue(size_));
  archive.write("num_replicas", IValue(num_replicas_));
  archive.write("allow_duplicates", IValue(allow_duplicates_));
  archive.write("epoch", IValue(epoch_));
  archive.write("order_epoch", IValue(order_epoch_));
  archive.write("taken", IValue(index_ - rank_ * local_sample_count()));
}

void DistributedPart::load(serialize::InputArchive& archive) {
  bool allow_duplicates = false;
  check_size(read_size(archive, "size"), size_);
  check_size(read_size(archive, "num_replicas"), num_replicas_, "replicas");
  archive.read("allow_duplicates", allow_duplicates);
  HEARTH_CHECK(allow_duplicates == allow_duplicates_,
               "the sampler's state was saved with allow_duplicates=", allow_duplicates);
  const size_t num_taken = read_position(archive, "taken", local_sample_count());
  const size_t epoch = read_size(archive, "epoch");
  epoch_ = read_size(archive, "order_epoch");
  reset(std::nullopt);
  epoch_ = epoch;
  index_ += num_taken;
}

}  // namespace detail

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank,
                                                   bool allow_duplicates)
    : DistributedPart(size, num_replicas, rank, allow_duplicates, true) {}
DistributedRandomSampler::~DistributedRandomSampler() = default;

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas,
                                                           size_t rank, bool allow_duplicates)
    : DistributedPart(size, num_replicas, rank, allow_duplicates, false) {}
DistributedSequentialSampler::~DistributedSequentialSampler() = default;

}  // namespace hearth::data::samplers
