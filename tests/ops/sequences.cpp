// pad_sequence, _pack_padded_sequence and _pad_packed_sequence.
#include <gtest/gtest.h>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

const std::vector<int64_t> kLengths{4, 3, 3, 1}, kBatchSizes{4, 3, 3, 1};

/// The row of element t of sequence b in packed data.
int64_t packed_row(int64_t t, int64_t b) {
  int64_t start = 0;
  for (int64_t i = 0; i < t; ++i) start += kBatchSizes[size_t(i)];
  return start + b;
}

Tensor longs(const std::vector<int64_t>& values) { return hearth::tensor(IntArrayRef(values)); }

Row pack_row(bool batch_first) {
  Row row;
  row.name = batch_first ? "pack_padded_sequence_batch_first" : "pack_padded_sequence";
  row.covers = {"_pack_padded_sequence"};
  row.cases = {batch_first ? Case{{{4, 5, 2}}} : Case{{{5, 4, 2}}}};
  row.dtypes = dtypes::kAll;
  row.call = [batch_first](const Tensors& in) -> Tensors {
    return {std::get<0>(_pack_padded_sequence(in[0], longs(kLengths), batch_first))};
  };
  row.reference = [batch_first](const Arrays& in) {
    Array packed{{11, 2}, std::vector<double>(22)};
    for (int64_t b = 0; b < 4; ++b)
      for (int64_t t = 0; t < kLengths[size_t(b)]; ++t)
        for (int64_t e = 0; e < 2; ++e)
          packed.values[size_t(packed_row(t, b) * 2 + e)] =
              at(in[0], batch_first ? Position{b, t, e} : Position{t, b, e});
    return Arrays{packed};
  };
  if (batch_first) return row;
  const Tensor x = ones({5, 2, 3});
  const auto refuse = [&](Tensor input, Tensor lengths, std::string message) {
    row.refusals.push_back({[=] { _pack_padded_sequence(input, lengths, false); }, message});
  };
  refuse(
      x, longs({3, 5}),
      "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
      "pass `enforce_sorted=False`");
  refuse(x, longs({3, 0}), "Length of all samples has to be greater than 0");
  refuse(x, longs({5}),
         "Expected `len(lengths)` to be equal to batch_size, but got 1 (batch_size=2)");
  refuse(x, longs({7, 5}), "Expected all lengths to be at most the length 5");
  refuse(x, ones(2),
         "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cpu Float tensor");
  refuse(x, longs({5, 3}).view({1, 2}), "but got 2D cpu Long tensor");
  refuse(ones({0, 2, 3}), longs({5, 3}), "Cannot pack empty tensors.");
  return row;
}

Row unpack_row(bool batch_first) {
  Row row;
  row.name = batch_first ? "pad_packed_sequence_batch_first" : "pad_packed_sequence";
  row.covers = {"_pad_packed_sequence"};
  row.cases = {{{{11, 2}}}};
  row.call = [batch_first](const Tensors& in) -> Tensors {
    return {std::get<0>(
        _pad_packed_sequence(in[0], longs(kBatchSizes), batch_first, -3, batch_first ? 6 : 0))};
  };
  row.reference = [batch_first](const Arrays& in) {
    const int64_t steps = batch_first ? 6 : 4;
    return Arrays{build({batch_first ? 4 : steps, batch_first ? steps : 4, 2}, [&](Position p) {
      if (batch_first) std::swap(p[0], p[1]);
      return p[0] < kLengths[size_t(p[1])] ? at(in[0], {packed_row(p[0], p[1]), p[2]}) : -3;
    })};
  };
  const auto refuse = [&](Tensor sizes, int64_t total, std::string message) {
    row.refusals.push_back({[=] {
                              _pad_packed_sequence(ones({5, 3}), sizes, false, 0, total);
                            },
                            message});
  };
  refuse(longs({2, 2, 1}), 2,
         "Expected total_length to be at least the length of the longest sequence in input, but "
         "got total_length=2 and max sequence length being 3");
  refuse(empty({0}, kLong), -1, "batch_sizes can not be empty");
  refuse(longs({1, 2, 2}), -1, "Expected batch_sizes to be in decreasing order");
  refuse(longs({3, 3}), -1, "start (0) + length (6) exceeds dimension size (5).");
  return row;
}

Row pad_row(bool batch_first, bool left) {
  Row row;
  row.name = left ? "pad_sequence_left" : "pad_sequence";
  row.covers = {};
  row.mixes_devices = true;
  row.cases = {{{{3, 2}}, {{1, 2}}, {{4, 2}}}};
  row.call = [=](const Tensors& in) -> Tensors {
    return {pad_sequence(in, batch_first, 2, left ? "left" : "right")};
  };
  row.reference = [=](const Arrays& in) {
    return Arrays{
        build({batch_first ? 3 : 4, batch_first ? 4 : 3, 2}, [&](const Position& p) -> double {
          const Array& sequence = in[size_t(p[batch_first ? 0 : 1])];
          const int64_t t = p[batch_first ? 1 : 0] - (left ? 4 - sequence.sizes[0] : 0);
          return t >= 0 && t < sequence.sizes[0] ? at(sequence, {t, p[2]}) : 2;
        })};
  };
  const auto refuse = [&](Tensors sequences, std::string side, std::string message) {
    row.refusals.push_back({[=] { pad_sequence(sequences, false, 0, side); }, message});
  };
  refuse({}, "right", "received an empty list of sequences");
  refuse({ones(3)}, "up", "Expected padding_side to be one of left or right, but got up.");
  refuse({ones({3, 2}), ones({2, 3})}, "right",
         "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension "
         "1");
  refuse({ones({3, 2}), ones(2)}, "right", "Expected all sequences to have 2 dimensions");
  return row;
}

const Register registered_sequences[] = {
    Register(pack_row(false)),  Register(pack_row(true)),        Register(unpack_row(false)),
    Register(unpack_row(true)), Register(pad_row(false, false)), Register(pad_row(true, true))};

TEST(Sequences, SizesAndLengths) {
  const auto [data, sizes] = _pack_padded_sequence(ones({5, 4, 2}), longs(kLengths), false);
  EXPECT_TRUE(sizes.equal(longs(kBatchSizes)));
  const auto [padded, lengths] = _pad_packed_sequence(data, sizes, true, 0, 0);
  EXPECT_TRUE(lengths.equal(longs(kLengths)));
  EXPECT_TRUE(pad_sequence({ones({0, 2}), ones({1, 2})}).sum(-1).equal(tensor({{0.0f, 2.0f}})));
}

}  // namespace
}  // namespace hearth::testing
