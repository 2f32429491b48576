#include <gtest/gtest.h>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// Whether the array is an empty vector, which cat ignores.
bool is_skipped(const Array& a) { return a.sizes == std::vector<int64_t>{0}; }

/// The concatenation along dim, without empty vectors.
Array joined(const Arrays& in, int64_t dim) {
  std::vector<int64_t> sizes;
  for (const Array& a : in) {
    if (is_skipped(a)) continue;
    const size_t d = size_t(dim < 0 ? dim + int64_t(a.sizes.size()) : dim);
    if (sizes.empty()) {
      sizes = a.sizes;
      sizes[d] = 0;
    }
    sizes[d] += a.sizes[d];
  }
  if (sizes.empty()) return in[0];
  const size_t d = size_t(dim < 0 ? dim + int64_t(sizes.size()) : dim);
  return build(sizes, [&](Position p) {
    for (const Array& a : in) {
      if (is_skipped(a)) continue;
      if (p[d] < a.sizes[d]) return at(a, p);
      p[d] -= a.sizes[d];
    }
    return 0.0;
  });
}

Row joining_row(std::string name, std::vector<Case> cases) {
  Row row;
  row.name = std::move(name);
  row.covers = {"cat"};
  row.cases = std::move(cases);
  row.dtypes = dtypes::kRealAndBool;
  return row;
}

Row cat_row() {
  Row row = joining_row("cat", {{{{2, 3}}, {{4, 3}}},
                                {{{2, 3}}, {{0}}, {{1, 3}}},
                                {{{0}}, {{0}}},
                                {{{5}}},
                                {{{2, 3, 2}}, {{0, 3, 2}}}});
  row.call = [](const Tensors& in) { return Tensors{cat(in)}; };
  row.reference = [](const Arrays& in) { return Arrays{joined(in, 0)}; };
  row.out = [](Tensor& out, const Tensors& in) { cat_out(out, in); };
  row.refusals = {{[] { cat(Tensors{}); }, "torch.cat(): expected a non-empty list of Tensors"},
                  {[] {
                     cat(Tensors{ones({2, 3}), ones({2, 4})});
                   },
                   "Sizes of tensors must match except in dimension 0. Expected size 3 but got "
                   "size 4 for tensor number 1 in the list."},
                  {[] {
                     cat(Tensors{ones({2, 3}), ones({2})});
                   },
                   "Tensors must have same number of dimensions: got 2 and 1"},
                  {[] {
                     cat(Tensors{ones({}), ones({})});
                   },
                   "zero-dimensional tensor (at position 0) cannot be concatenated"},
                  {[] {
                     cat(Tensors{ones({0}), ones({})});
                   },
                   "zero-dimensional tensor (at position 1) cannot be concatenated"},
                  {[] { cat(Tensors{ones({2})}, 1); },
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)"},
                  {[] {
                     cat(Tensors{ones({2}), Tensor()});
                   },
                   "is undefined"}};
  return row;
}

Row cat_last_row() {
  Row row = joining_row(
      "cat_last",
      {{{{2, 3}}, {{2, 1}}, {{2, 4}}}, {{{0}}, {{2, 2, 3}}, {{2, 2, 1}}}, {{{2, 0}}, {{2, 2}}}});
  row.call = [](const Tensors& in) { return Tensors{cat(in, -1)}; };
  row.reference = [](const Arrays& in) { return Arrays{joined(in, -1)}; };
  return row;
}

Row stack_row() {
  Row row = joining_row("stack", {{{{2, 3}}, {{2, 3}}}, {{{4}}, {{4}}, {{4}}}, {{{3, 0}}}});
  row.covers = {"stack"};
  row.call = [](const Tensors& in) { return Tensors{stack(in, 1)}; };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    sizes.insert(sizes.begin() + 1, int64_t(in.size()));
    return Arrays{build(sizes, [&](Position p) {
      const Array& from = in[size_t(p[1])];
      p.erase(p.begin() + 1);
      return at(from, p);
    })};
  };
  row.refusals = {
      {[] { stack(Tensors{}); }, "stack expects a non-empty TensorList"},
      {[] {
         stack(Tensors{ones({2}), ones({3})});
       },
       "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"}};
  return row;
}

/// Splits an array along a dimension into pieces of these widths.
Arrays pieces(const Array& in, size_t dim, const std::vector<int64_t>& widths) {
  Arrays out;
  int64_t start = 0;
  for (int64_t width : widths) {
    std::vector<int64_t> sizes = in.sizes;
    sizes[dim] = width;
    out.push_back(build(sizes, [&](Position p) {
      p[dim] += start;
      return at(in, p);
    }));
    start += width;
  }
  return out;
}

Row splitting_row(std::string name, std::string covers, std::function<Tensors(const Tensor&)> op,
                  std::vector<int64_t> widths) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(covers)};
  row.cases = {{{{5}}}, {{{5, 2}}}, {{{5, 0}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [op = std::move(op)](const Tensors& in) { return op(in[0]); };
  row.reference = [widths = std::move(widths)](const Arrays& in) {
    return pieces(in[0], 0, widths);
  };
  return row;
}

Row split_row() {
  Row row = splitting_row("split", "split", [](const Tensor& x) { return x.split(2); }, {2, 2, 1});
  row.refusals = {{[] { ones({}).split(1); }, "split expects at least a 1-dimensional tensor"},
                  {[] { ones({3}).split(-1); },
                   "split expects split_size be non-negative, but got split_size=-1"},
                  {[] { ones({3}).split(0); },
                   "split_size can only be 0 if dimension size is 0, but got dimension size of 3"}};
  return row;
}

Row split_sizes_row() {
  Row row = splitting_row("split_sizes", "split_with_sizes",
                          [](const Tensor& x) {
                            return x.split(IntArrayRef{1, 0, 4}, 0);
                          },
                          {1, 0, 4});
  row.refusals = {{[] {
                     ones({3}).split(IntArrayRef{1, 1}, 0);
                   },
                   "split_with_sizes expects split_sizes to sum exactly to 3"},
                  {[] {
                     ones({3}).split(IntArrayRef{4, -1}, 0);
                   },
                   "split_with_sizes expects split_sizes"}};
  return row;
}

Row chunk_row() {
  Row row = splitting_row("chunk", "split", [](const Tensor& x) { return x.chunk(4); }, {2, 2, 1});
  row.refusals = {
      {[] { ones({3}).chunk(0); }, "chunk expects `chunks` to be greater than 0, got: 0"}};
  return row;
}

Row unbind_row() {
  Row row;
  row.name = "unbind";
  row.covers = {"unbind"};
  row.cases = {{{{3, 2}}}, {{{2}}}, {{{2, 0}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return in[0].unbind(); };
  row.reference = [](const Arrays& in) {
    Arrays slices = pieces(in[0], 0, std::vector<int64_t>(size_t(in[0].sizes[0]), 1));
    for (Array& slice : slices) slice.sizes.erase(slice.sizes.begin());
    return slices;
  };
  return row;
}

const Register registered_cat[] = {Register(cat_row()),         Register(cat_last_row()),
                                   Register(stack_row()),       Register(split_row()),
                                   Register(split_sizes_row()), Register(chunk_row()),
                                   Register(unbind_row())};

TEST(Join, CatPromotesAndEmptyTensorsHaveChunks) {
  EXPECT_EQ(cat(Tensors{ones({2}, kInt), ones({1}, kHalf)}).scalar_type(), kHalf);
  EXPECT_EQ(ones({0}).chunk(3).size(), 3u);
}

TEST(Join, ComplexTensors) {
  const Tensor x = full({2}, Scalar(complex<double>(1, 2)), kComplexDouble);
  EXPECT_EQ(cat(Tensors{x, ones({1})}).sum().item<complex<double>>(), complex<double>(3, 4));
}

TEST(Join, ChannelsLastIsKeptIfAllInputsHaveIt) {
  const auto image = [](int64_t channels) {
    return ones({2, channels, 3, 3}).contiguous(MemoryFormat::ChannelsLast);
  };
  EXPECT_TRUE(cat({image(4), image(2)}, 1).is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(cat({image(4), ones({2, 4, 3, 3})}, 0).is_contiguous());
  for (const char* mode : {"constant", "reflect"})
    EXPECT_TRUE(pad(image(3), {1, 1, 1, 1}, mode).is_contiguous(MemoryFormat::ChannelsLast))
        << mode;
  EXPECT_TRUE(group_norm(image(4), 2).is_contiguous(MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace hearth::testing
