#include "hearth/nn/packed_sequence.h"

#include <algorithm>

#include "hearth/operators.h"

namespace hearth::nn::utils::rnn {

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  return empty_like(permutation)
      .scatter_(0, permutation,
                arange(permutation.numel(), TensorOptions(kLong).device(permutation.device())));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(std::move(unsorted_indices)) {
  if (!unsorted_indices_.defined()) unsorted_indices_ = invert_permutation(sorted_indices_);
  HEARTH_CHECK(batch_sizes_.device().type() == kCPU,
               "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
               "created manually. They should be instantiated by functions like pack_sequence and "
               "pack_padded_sequences in nn::utils::rnn.");
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Tensor& t) { return t.defined() ? t.pin_memory() : t; };
  return PackedSequence(data_.pin_memory(), batch_sizes_, pinned(sorted_indices_),
                        pinned(unsorted_indices_));
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const auto moved = [&](const Tensor& t) { return t.defined() ? t.to(data.device()) : t; };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence PackedSequence::cuda() const { return to(TensorOptions(kCUDA)); }
PackedSequence PackedSequence::cpu() const { return to(TensorOptions(kCPU)); }

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first,
                                    bool enforce_sorted) {
  lengths = lengths.to(kLong);
  Tensor sorted_indices;
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) = lengths.sort(-1, true);
    sorted_indices = sorted_indices.to(input.device());
    input = input.index_select(batch_first ? 0 : 1, sorted_indices);
  }
  auto [data, batch_sizes] = _pack_padded_sequence(input, lengths, batch_first);
  return PackedSequence(std::move(data), std::move(batch_sizes), std::move(sorted_indices));
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<int64_t> total_length) {
  const int64_t longest = sequence.batch_sizes().size(0), length = total_length.value_or(longest);
  HEARTH_CHECK(length >= longest,
               "Expected total_length to be at least the length of the longest sequence in input, "
               "but got total_length=",
               length, " and max sequence length being ", longest);
  auto [padded, lengths] = _pad_packed_sequence(sequence.data(), sequence.batch_sizes(),
                                                batch_first, padding_value, length);
  const Tensor& order = sequence.unsorted_indices();
  if (!order.defined()) return {padded, lengths};
  return {padded.index_select(batch_first ? 0 : 1, order), lengths.index_select(0, order.cpu())};
}

Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first, double padding_value,
                    std::string_view padding_side) {
  return hearth::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted) {
  const Tensor padded = hearth::pad_sequence(sequences);
  Tensor lengths = empty({int64_t(sequences.size())}, kLong);
  for (size_t i = 0; i < sequences.size(); ++i)
    lengths.data_ptr<int64_t>()[i] = sequences[i].size(0);
  return pack_padded_sequence(padded, lengths, false, enforce_sorted);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences, const Tensor& lengths,
                                   bool batch_first) {
  const Tensor rows = batch_first ? padded_sequences : padded_sequences.transpose(0, 1);
  const Tensor counts = lengths.cpu().to(kLong);
  std::vector<Tensor> sequences;
  for (int64_t i = 0; i < std::min(rows.size(0), counts.size(0)); ++i) {
    const int64_t count = std::clamp<int64_t>(counts[i].item<int64_t>(), 0, rows.size(1));
    sequences.push_back(rows[i].narrow(0, 0, count).clone());
  }
  return sequences;
}

std::vector<Tensor> unpack_sequence(const PackedSequence& packed_sequences) {
  const auto [padded, lengths] = pad_packed_sequence(packed_sequences, /*batch_first=*/true);
  return unpad_sequence(padded, lengths, /*batch_first=*/true);
}

}  // namespace hearth::nn::utils::rnn
