// Sequences of different lengths: padded to one tensor, or packed step by step.
#include "ops/sequences.h"

#include <algorithm>
#include <numeric>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// The values of an int64 vector on the CPU.
std::vector<int64_t> values_of(const Tensor& t) {
  HEARTH_CHECK(t.dim() == 1 && t.device().is_cpu() && t.scalar_type() == kLong,
               "'lengths' argument should be a 1D CPU int64 tensor, but got ", t.dim(), "D ",
               t.device().type() == kCPU ? "cpu" : t.device().str(), " ", toString(t.scalar_type()),
               " tensor");
  const Tensor dense = t.contiguous();
  const int64_t* const data = dense.const_data_ptr<int64_t>();
  return {data, data + dense.numel()};
}

int64_t sum_of(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t(0));
}

/// The indices of the rows of padded data [longest * batch, ...] that are not padding, in packed
/// order.
Tensor packed_rows(const std::vector<int64_t>& batch_sizes, int64_t batch, Device device) {
  std::vector<int64_t> rows;
  rows.reserve(size_t(sum_of(batch_sizes)));
  for (size_t t = 0; t < batch_sizes.size(); ++t)
    for (int64_t b = 0; b < batch_sizes[t]; ++b) rows.push_back(int64_t(t) * batch + b);
  return tensor(rows, TensorOptions(kLong).device(device));
}

void check_lengths(const std::vector<int64_t>& lengths, int64_t batch, int64_t longest) {
  HEARTH_CHECK(int64_t(lengths.size()) == batch,
               "Expected `len(lengths)` to be equal to batch_size, but got ", lengths.size(),
               " (batch_size=", batch, ")");
  HEARTH_CHECK(lengths.back() > 0,
               "Length of all samples has to be greater than 0, but found an element in 'lengths' "
               "that is <= 0");
  HEARTH_CHECK(
      std::is_sorted(lengths.rbegin(), lengths.rend()),
      "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
      "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
      "requirement if you do not need ONNX exportability.");
  HEARTH_CHECK(lengths[0] <= longest, "Expected all lengths to be at most the length ", longest,
               " of the padded sequences, but got ", lengths[0]);
}

struct PackPaddedSequence {
  struct Args {
    bool batch_first;
    HEARTH_FIELDS(batch_first)
  };
  static constexpr OpInfo info{.name = "_pack_padded_sequence"};
  static TensorPair compute(const Args& args, const Tensor& input, const Tensor& lengths_tensor) {
    const std::vector<int64_t> lengths = values_of(lengths_tensor);
    const Tensor padded = args.batch_first ? input.transpose(0, 1) : input;
    HEARTH_CHECK(padded.numel() > 0, "Cannot pack empty tensors.");
    const int64_t longest = padded.size(0), batch = padded.size(1);
    check_lengths(lengths, batch, longest);
    std::vector<int64_t> sizes(static_cast<size_t>(lengths[0]), 0);
    for (const int64_t length : lengths)
      for (int64_t t = 0; t < length; ++t) ++sizes[size_t(t)];
    const Tensor rows = packed_rows(sizes, batch, input.device());
    return {padded.flatten(0, 1).index_select(0, rows), tensor(sizes)};
  }
};

struct PadPackedSequence {
  struct Args {
    bool batch_first;
    Scalar padding_value;
    int64_t total_length;
    HEARTH_FIELDS(batch_first, padding_value, total_length)
  };
  static constexpr OpInfo info{.name = "_pad_packed_sequence"};
  static TensorPair compute(const Args& args, const Tensor& data, const Tensor& batch_sizes) {
    const std::vector<int64_t> sizes = packed_sizes(batch_sizes);
    const int64_t batch = sizes[0], longest = int64_t(sizes.size()), rows = sum_of(sizes);
    HEARTH_CHECK(args.total_length <= 0 || args.total_length >= longest,
                 "Expected total_length to be at least the length of the longest sequence in "
                 "input, but got total_length=",
                 args.total_length, " and max sequence length being ", longest);
    const int64_t length = std::max(longest, args.total_length);
    const Tensor used = rows == data.size(0) ? data : data.narrow(0, 0, rows);
    Dims shape(data.sizes());
    shape[0] = length * batch;
    const Tensor padded = full(shape, args.padding_value, data.options())
                              .index_copy(0, packed_rows(sizes, batch, data.device()), used)
                              .unflatten(0, {length, batch});
    std::vector<int64_t> lengths(static_cast<size_t>(batch), 0);
    for (const int64_t size : sizes)
      for (int64_t b = 0; b < size; ++b) ++lengths[size_t(b)];
    return {args.batch_first ? padded.transpose(0, 1) : padded, tensor(lengths)};
  }
};

/// A sequence with `num_padding` padding elements before or after it.
Tensor padded(const Tensor& sequence, int64_t num_padding, double value, bool is_left) {
  if (num_padding == 0) return sequence;
  std::vector<int64_t> pad(static_cast<size_t>(2 * sequence.dim()), 0);
  pad[pad.size() - (is_left ? 2 : 1)] = num_padding;
  return sequence.constant_pad_nd(pad, value);
}

}  // namespace

std::vector<int64_t> packed_sizes(const Tensor& batch_sizes) {
  std::vector<int64_t> sizes = values_of(batch_sizes);
  HEARTH_CHECK(!sizes.empty(), "batch_sizes can not be empty");
  HEARTH_CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()) && sizes.back() >= 0,
               "Expected batch_sizes to be in decreasing order and not negative, but got ",
               IntArrayRef(sizes));
  return sizes;
}

TensorPair _pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first) {
  check_defined(PackPaddedSequence::info.name, 0, "input", input);
  check_defined(PackPaddedSequence::info.name, 1, "lengths", lengths);
  return compose<PackPaddedSequence>({batch_first}, input, lengths);
}

TensorPair _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes, bool batch_first,
                                const Scalar& padding_value, int64_t total_length) {
  check_defined(PadPackedSequence::info.name, 0, "data", data);
  check_defined(PadPackedSequence::info.name, 1, "batch_sizes", batch_sizes);
  return compose<PadPackedSequence>({batch_first, padding_value, total_length}, data, batch_sizes);
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value,
                    std::string_view padding_side) {
  HEARTH_CHECK(!sequences.empty(), "received an empty list of sequences");
  const bool is_left = padding_side == "left";
  HEARTH_CHECK(is_left || padding_side == "right",
               "Expected padding_side to be one of left or right, but got ", padding_side, ".");
  int64_t longest = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Tensor &t = sequences[i], &first = sequences[0];
    check_defined("pad_sequence", int(i), "sequences", t);
    longest = std::max(longest, t.size(0));
    HEARTH_CHECK(t.dim() == first.dim(), "Expected all sequences to have ", first.dim(),
                 " dimensions, but sequence ", i, " has ", t.dim());
    for (int64_t d = 1; d < t.dim(); ++d)
      HEARTH_CHECK(t.size(d) == first.size(d), "The size of tensor a (", first.size(d),
                   ") must match the size of tensor b (", t.size(d),
                   ") at non-singleton dimension ", d);
  }
  std::vector<Tensor> parts;
  for (const Tensor& t : sequences)
    parts.push_back(
        padded(t.to(sequences[0].options()), longest - t.size(0), padding_value, is_left));
  return stack(parts, batch_first ? 0 : 1);
}

}  // namespace hearth
