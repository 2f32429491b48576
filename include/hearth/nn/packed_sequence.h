#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "hearth/options.h"
#include "hearth/tensor.h"

namespace hearth::nn::utils::rnn {

/// The inverse permutation; undefined if `permutation` is undefined.
HEARTH_API Tensor invert_permutation(const Tensor& permutation);

/// Sequences of different lengths, step by step and without padding. Made by pack_sequence and
/// pack_padded_sequence.
class HEARTH_API PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }                ///< [elements of all sequences, ...]
  const Tensor& batch_sizes() const { return batch_sizes_; }  ///< number of sequences at each step
  /// The order of the sequences, by descending length; undefined with enforce_sorted.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }  ///< the inverse order

  PackedSequence pin_memory() const;               ///< a copy in pinned memory
  PackedSequence to(TensorOptions options) const;  ///< on another device or of another dtype
  PackedSequence cuda() const;                     ///< on the GPU
  PackedSequence cpu() const;                      ///< on the CPU
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// Packs padded sequences [L, N, ...], or [N, L, ...] with batch_first. With enforce_sorted, the
/// lengths must be in descending order.
HEARTH_API PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                               bool batch_first = false,
                                               bool enforce_sorted = true);
/// Sequences padded to total_length (default: the longest sequence's length), and their lengths.
HEARTH_API std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first = false, double padding_value = 0.0,
    std::optional<int64_t> total_length = std::nullopt);
/// Sequences [L, ...] of different lengths as one padded tensor.
HEARTH_API Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false,
                               double padding_value = 0, std::string_view padding_side = "right");
/// Packs sequences [L, ...].
HEARTH_API PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true);
/// The reverse of pad_sequence: sequences [L, ...] of the given lengths.
HEARTH_API std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences, const Tensor& lengths,
                                              bool batch_first = false);
/// The reverse of pack_sequence.
HEARTH_API std::vector<Tensor> unpack_sequence(const PackedSequence& packed_sequences);

}  // namespace hearth::nn::utils::rnn
