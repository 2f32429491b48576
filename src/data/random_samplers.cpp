// Samplers that draw an epoch's indices at once.
#include <algorithm>
#include <string>

#include "data/sampler_state.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"

namespace hearth::data::samplers {

namespace {

size_t length(const Tensor& vector) { return static_cast<size_t>(vector.numel()); }

/// Throws unless the indices are between 0 and size - 1, and if `are_distinct`, all different.
void check_indices(const Tensor& indices, int64_t size, bool are_distinct) {
  const Tensor wide = indices.to(kInt64).contiguous();
  std::vector<bool> seen(static_cast<size_t>(size));
  for (const int64_t index : ArrayRef<int64_t>(wide.data_ptr<int64_t>(), length(wide))) {
    HEARTH_CHECK(index >= 0 && index < size,
                 "the sampler's indices in the archive are not between 0 and ", size - 1);
    const auto position = static_cast<size_t>(index);
    HEARTH_CHECK(!are_distinct || !seen[position], "the sampler's indices in the archive have ",
                 index, " twice");
    seen[position] = true;
  }
}

/// Returns "(2, 3)", as Python prints a tuple; not for a single size, which Python prints as
/// "(2,)".
std::string tuple(IntArrayRef sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += hearth::detail::str(i == 0 ? "" : ", ", sizes[i]);
  return text + ")";
}

}  // namespace

namespace detail {

DrawnSampler::DrawnSampler(Tensor first, std::optional<Generator> generator)
    : indices_(std::move(first)), generator_(std::move(generator)), drawn_(indices_.defined()) {}
DrawnSampler::~DrawnSampler() = default;

void DrawnSampler::reset(std::optional<size_t> new_size) {
  // A new tensor: saved states may still refer to the old one.
  indices_ = draw(new_size).cpu();
  index_ = 0;
  drawn_ = true;
}

std::optional<std::vector<size_t>> DrawnSampler::next(size_t batch_size) {
  if (!drawn_) reset();
  const size_t num_remaining = length(indices_) - index();
  if (num_remaining == 0) return std::nullopt;
  const auto num_indices = static_cast<int64_t>(std::min(batch_size, num_remaining));
  const Tensor slice = indices_.narrow(0, index_, num_indices).to(kInt64);
  index_ += num_indices;
  const auto* first = slice.data_ptr<int64_t>();
  return std::vector<size_t>(first, first + num_indices);
}

void DrawnSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", index_);
  archive.write("indices", drawn_ ? indices_ : empty({0}, kInt64), true);
  if (generator_) archive.write("generator", generator_->get_state(), true);
}

void DrawnSampler::load(serialize::InputArchive& archive) {
  Tensor indices, generator;
  archive.read("indices", indices, true);
  HEARTH_CHECK(indices.defined() && indices.dim() == 1 && is_integral(indices.scalar_type(), false),
               "the sampler's indices in the archive are not a vector of integers");
  indices = indices.cpu();
  check(indices);
  const size_t position = read_position(archive, "index", length(indices));
  if (generator_ && archive.try_read("generator", generator, true))
    generator_->set_state(generator);
  index_ = static_cast<int64_t>(position);
  drawn_ = indices.numel() > 0;
  indices_ = indices;
}

}  // namespace detail

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : DrawnSampler(randperm(size, index_dtype)) {}
RandomSampler::~RandomSampler() = default;

Tensor RandomSampler::draw(std::optional<size_t> new_size) {
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  return randperm(size, indices_.scalar_type());
}

void RandomSampler::check(const Tensor& loaded) const {
  check_size(length(loaded), length(indices_));
  check_indices(loaded, loaded.numel(), true);
}

WeightedRandomSampler::WeightedRandomSampler(Tensor weights, int64_t num_samples, bool replacement,
                                             std::optional<Generator> generator)
    : DrawnSampler({}, std::move(generator)),
      weights_(weights.to(kDouble)),
      num_samples_(num_samples),
      replacement_(replacement) {
  HEARTH_CHECK_AS(
      ValueError, num_samples > 0,
      "num_samples should be a positive integer value, but got num_samples=", num_samples);
  HEARTH_CHECK_AS(ValueError, weights.dim() == 1,
                  "weights should be a 1d sequence but given weights have shape ",
                  tuple(weights.sizes()));
}
WeightedRandomSampler::WeightedRandomSampler(ArrayRef<double> weights, int64_t num_samples,
                                             bool replacement, std::optional<Generator> generator)
    : WeightedRandomSampler(tensor(weights, kDouble), num_samples, replacement,
                            std::move(generator)) {}
WeightedRandomSampler::~WeightedRandomSampler() = default;

Tensor WeightedRandomSampler::draw(std::optional<size_t> new_size) {
  HEARTH_CHECK_AS(ValueError, !new_size || *new_size == length(weights_), "a sampler with ",
                  weights_.numel(), " weights cannot choose among ", new_size.value_or(0),
                  " examples");
  return multinomial(weights_, num_samples_, replacement_, generator_);
}

void WeightedRandomSampler::check(const Tensor& loaded) const {
  if (loaded.numel() == 0) return;  // saved before the first draw
  check_size(length(loaded), static_cast<size_t>(num_samples_), "samples");
  check_indices(loaded, weights_.numel(), !replacement_);
}

SubsetRandomSampler::SubsetRandomSampler(const std::vector<size_t>& indices,
                                         std::optional<Generator> generator)
    : DrawnSampler({}, std::move(generator)),
      subset_(tensor(std::vector<int64_t>(indices.begin(), indices.end()), kInt64)) {}
SubsetRandomSampler::~SubsetRandomSampler() = default;

Tensor SubsetRandomSampler::draw(std::optional<size_t> new_size) {
  HEARTH_CHECK_AS(ValueError,
                  !new_size || subset_.numel() == 0 ||
                      static_cast<size_t>(subset_.max().item<int64_t>()) < *new_size,
                  "the sampler's subset has indices beyond the ", new_size.value_or(0),
                  " examples");
  return subset_.index_select(0, randperm(subset_.numel(), generator_));
}

void SubsetRandomSampler::check(const Tensor& loaded) const {
  if (loaded.numel() == 0) return;  // saved before the first draw
  check_size(length(loaded), length(subset_));
  HEARTH_CHECK(std::get<0>(loaded.to(kInt64).sort()).equal(std::get<0>(subset_.sort())),
               "the sampler's indices in the archive are not those of this sampler's subset");
}

}  // namespace hearth::data::samplers
