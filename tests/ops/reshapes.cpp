#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/support/throws.h"
#include "tests/support/view_rows.h"

namespace hearth::testing {
namespace {

using Sizes = std::vector<int64_t>;

Row repeat_row() {
  Row row = view_row(
      "repeat", {"expand", "clone", "view"}, {{{{3, 2}}}, {{{2}}}, {{{}}}, {{{0, 2}}}},
      [](const Tensor& x) {
        return x.repeat({2, 1, 3});
      },
      [](const Sizes& sizes) {
        Sizes padded(3 - sizes.size(), 1), target;
        padded.insert(padded.end(), sizes.begin(), sizes.end());
        const int64_t repeats[] = {2, 1, 3};
        for (size_t d = 0; d < 3; ++d) target.push_back(padded[d] * repeats[d]);
        return ViewDefinition{target, [=](const Position& p) {
                                Position origin(p.end() - int64_t(sizes.size()), p.end());
                                for (size_t d = 0; d < origin.size(); ++d) origin[d] %= sizes[d];
                                return origin;
                              }};
      });
  row.refusals = {{[] {
                     ones({2, 3}).repeat(2);
                   },
                   "Number of dimensions of repeat dims can not be smaller than number of "
                   "dimensions of tensor"},
                  {[] {
                     ones({2, 3}).repeat({2, -1});
                   },
                   "Trying to create tensor with negative dimension -3: [4, -3]"},
                  {[] {
                     ones({4, 0}).repeat({int64_t{1} << 62, 1});
                   },
                   "Storage size calculation overflowed"}};
  return row;
}

Row repeat_interleave_row() {
  Row row = view_row(
      "repeat_interleave", {"expand", "clone", "view"}, {{{{3, 2}}}, {{{2, 3, 2}}}},
      [](const Tensor& x) { return x.repeat_interleave(3, 1); },
      [](Sizes sizes) {
        sizes[1] *= 3;
        return ViewDefinition{sizes, [](Position p) {
                                p[1] /= 3;
                                return p;
                              }};
      });
  row.refusals = {{[] { ones({2}).repeat_interleave(-2, 0); }, "Repeats must be non-negative"},
                  {[] { ones({3}).repeat_interleave(ones({2}, kLong)); },
                   "repeats must have the same size as input along dim, but got repeats.size(0) = "
                   "2 and input.size(0) = 3"},
                  {[] { ones({4}).repeat_interleave(int64_t{1} << 62); },
                   "Storage size calculation overflowed"},
                  {[] { ones({}).repeat_interleave(2, 0); },
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)"},
                  {[] { repeat_interleave(ones({}), ones({1}, kLong), 0); },
                   "Dimension specified as 0 but tensor has no dimensions"},
                  {[] { repeat_interleave(ones({2})); },
                   "\"repeat_interleave_cpu\" not implemented for 'Float'"}};
  return row;
}

Row movedim_row() {
  Row row = view_row(
      "movedim", {"permute"}, {{{{2, 3, 4}}}},
      [](const Tensor& x) {
        return x.movedim({0, 1}, {-1, 0});
      },
      [](const Sizes& s) {
        return ViewDefinition{{s[1], s[2], s[0]}, [](const Position& p) {
                                return Position{p[2], p[0], p[1]};
                              }};
      });
  row.refusals = {{[] {
                     ones({2, 3}).movedim({0, 0}, {0, 1});
                   },
                   "movedim: repeated dim in `source` ([0, 0])"},
                  {[] {
                     ones({2, 3}).movedim({0, 1}, {1, 1});
                   },
                   "movedim: repeated dim in `destination` ([1, 1])"}};
  return row;
}

Row unflatten_row() {
  Row row = reshaping_row(
      "unflatten", {"view"}, {{{{6, 2}}}, {{{4, 3}}}},
      [](const Tensor& x) {
        return x.contiguous().unflatten(0, {2, -1});
      },
      [](const Sizes& s) {
        return Sizes{2, s[0] / 2, s[1]};
      });
  row.refusals = {
      {[] {
         ones({6, 2}).unflatten(0, {4, -1});
       },
       "unflatten: Provided sizes [4, -1] don't multiply up to the size of dim 0 (6) "
       "in the input tensor"},
      {[] { ones({6}).unflatten(0, IntArrayRef()); }, "unflatten: sizes must be non-empty"}};
  return row;
}

Row squeeze_dims_row() {
  return reshaping_row(
      "squeeze_dims", {"squeeze"}, {{{{1, 3, 1}}}, {{{2, 3, 1}}}},
      [](const Tensor& x) {
        return x.squeeze({0, 2});
      },
      [](Sizes s) {
        s.pop_back();
        if (s[0] == 1) s.erase(s.begin());
        return s;
      });
}

/// The row views tensors as their own dtype; ViewsAsOtherDtypes tests others.
Row view_dtype_row() {
  Row row = reshaping_row(
      "view_dtype", {"view_dtype"}, {{{{2, 4}}}, {{{3}}}},
      [](const Tensor& x) { return x.view(x.scalar_type()); }, [](const Sizes& s) { return s; });
  row.orders = 0;
  row.refusals = {{[] {
                     ones({2, 3}).view(kLong);
                   },
                   "self.size(-1) must be divisible by 2 to view Float as Long (different element "
                   "sizes), but got 3"},
                  {[] {
                     ones({2, 4}).t().view(kShort);
                   },
                   "self.stride(-1) must be 1 to view Float as Short (different element sizes), "
                   "but got 4"},
                  {[] { ones({}).view(kShort); },
                   "self.dim() cannot be 0 to view Float as Short (different element sizes)"}};
  return row;
}

Sizes joined(Sizes a, const Sizes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A row for padding of 1 on the left and 2 on the right of the last `dims` dimensions. `source`
/// maps an index and a size to the index of the copied element; a negative index stands for the
/// constant 0.
Row pad_row(std::string name, std::vector<std::string> covers, std::string_view mode,
            std::function<int64_t(int64_t, int64_t)> source, size_t dims = 1) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  const Sizes padded(dims, 3);
  row.cases = {{{joined({2}, padded)}}, {{joined({2, 1}, padded)}}};
  row.dtypes = dtypes::kReal;
  Sizes margins;
  for (size_t d = 0; d < dims; ++d) margins = joined(margins, {1, 2});
  row.call = [=](const Tensors& in) { return Tensors{pad(in[0], margins, mode)}; };
  row.reference = [=](const Arrays& in) {
    Sizes sizes = in[0].sizes;
    for (size_t d = sizes.size() - dims; d < sizes.size(); ++d) sizes[d] += 3;
    return Arrays{build(sizes, [&](Position p) {
      bool is_inside = true;
      for (size_t d = sizes.size() - dims; d < sizes.size(); ++d) {
        p[d] = source(p[d] - 1, in[0].sizes[d]);
        is_inside &= p[d] >= 0;
      }
      return is_inside ? at(in[0], p) : 0;
    })};
  };
  row.refusals = {{[=] {
                     pad(ones({1, 4}), 1, mode);
                   },
                   "Padding length must be divisible by 2"},
                  {[] {
                     pad(ones({1, 4}), {1, 2}, "foo");
                   },
                   "Unrecognised padding mode foo"},
                  {[] {
                     pad(ones({4}), {1, 2}, "reflect");
                   },
                   "Padding size 2 is not supported for 1D input tensor."},
                  {[] {
                     pad(ones({1, 4}), {4, 2}, "reflect");
                   },
                   "Argument #4: Padding size should be less than the corresponding input "
                   "dimension, but got: padding (4, 2) at dimension 1 of input [1, 4]"},
                  {[] {
                     pad(ones({1, 4}), {5, 2}, "circular");
                   },
                   "Padding value causes wrapping around more than once."}};
  return row;
}

int64_t reflected(int64_t i, int64_t size) { return size - 1 - std::abs(size - 1 - std::abs(i)); }
int64_t replicated(int64_t i, int64_t size) { return std::clamp<int64_t>(i, 0, size - 1); }

const Register registered_reshapes[] = {
    Register(repeat_row()),
    Register(repeat_interleave_row()),
    Register(movedim_row()),
    Register(unflatten_row()),
    Register(squeeze_dims_row()),
    Register(view_dtype_row()),
    Register(pad_row("pad_constant", {"constant_pad_nd"}, "constant",
                     [](int64_t i, int64_t size) { return i < size ? i : -1; })),
    Register(pad_row("pad_reflect", {"reflection_pad1d"}, "reflect", reflected)),
    Register(pad_row("pad_reflect_2d", {"reflection_pad2d"}, "reflect", reflected, 2)),
    Register(pad_row("pad_reflect_3d", {"reflection_pad3d"}, "reflect", reflected, 3)),
    Register(pad_row("pad_replicate", {"replication_pad1d"}, "replicate", replicated)),
    Register(pad_row("pad_replicate_2d", {"replication_pad2d"}, "replicate", replicated, 2)),
    Register(pad_row("pad_replicate_3d", {"replication_pad3d"}, "replicate", replicated, 3)),
    Register(pad_row("pad_circular", {"index_select"}, "circular",
                     [](int64_t i, int64_t size) { return (i + size) % size; })),
};

TEST(Reshapes, ViewsAsOtherDtypes) {
  const Tensor x = ones({2, 4});
  EXPECT_EQ(x.view(kInt).select(0, 0).select(0, 0).item<int64_t>(), 0x3f800000);
  EXPECT_EQ(x.view(kLong).sizes().vec(), (Sizes{2, 2}));
  EXPECT_EQ(x.slice(0, 1, 2).view(kShort).sizes().vec(), (Sizes{1, 8}));
  EXPECT_EQ(x.slice(0, 1, 2).view(kShort).max().item<int64_t>(), 0x3f80);
}

TEST(Reshapes, SplitsAndStacks) {
  const Tensor x = arange(7);
  const auto sizes = [](const std::vector<Tensor>& pieces) {
    Sizes result;
    for (const Tensor& t : pieces) result.push_back(t.size(0));
    return result;
  };
  EXPECT_EQ(sizes(x.tensor_split(3)), (Sizes{3, 2, 2}));
  EXPECT_EQ(sizes(x.tensor_split({2, 5, 9})), (Sizes{2, 3, 2, 0}));
  EXPECT_EQ(sizes(x.tensor_split({5, 2, -1})), (Sizes{5, 0, 4, 1}));
  EXPECT_EQ(sizes(arange(6).hsplit(3)), (Sizes{2, 2, 2}));
  EXPECT_THROW(arange(6).hsplit(4), Error);
  EXPECT_THROW(arange(6).vsplit(2), Error);
  EXPECT_EQ(hstack({arange(2), full({}, 5, kLong)}).sizes().vec(), (Sizes{3}));
  EXPECT_EQ(vstack({arange(2), arange(2)}).sizes().vec(), (Sizes{2, 2}));
  EXPECT_EQ(dstack({arange(2), arange(2)}).sizes().vec(), (Sizes{1, 2, 2}));
  EXPECT_EQ(column_stack({arange(2), ones({2, 2}, kLong)}).sizes().vec(), (Sizes{2, 3}));
  EXPECT_EQ(broadcast_tensors({ones({3, 1}), ones({2})})[1].sizes().vec(), (Sizes{3, 2}));
}

TEST(Reshapes, RepeatsByTensors) {
  const Tensor counts = arange(3);
  EXPECT_TRUE(repeat_interleave(counts).equal(arange(1, 3).repeat_interleave(counts.slice(0, 1))));
  EXPECT_EQ(ones({2, 3}).repeat_interleave(counts, 1).sizes().vec(), (Sizes{2, 3}));
  EXPECT_EQ(arange(3).tile({2, 2}).sizes().vec(), (Sizes{2, 6}));
  EXPECT_EQ(ones({2, 3}).tile(2).sizes().vec(), (Sizes{2, 6}));
}

TEST(Reshapes, PadCropsAndFills) {
  const Tensor x = arange(4, kFloat);
  EXPECT_TRUE(pad(x, {-1, 2}, "constant", 5).slice(0, 3).equal(full({2}, 5.0)));
  EXPECT_THROW(pad(x, {-3, -2}), Error);
  EXPECT_EQ(pad(ones({1, 2, 3, 3}), {1, 1, 2, 2}, "replicate").sizes().vec(), (Sizes{1, 2, 7, 5}));
  EXPECT_EQ(ones({2}, kLong).constant_pad_nd({1, 0}, int64_t(1) << 60).max().item<int64_t>(),
            int64_t(1) << 60);
}

/// Expected: PyTorch 2.15's texts.
TEST(Padding, ErrorsNameEachDimensionThatIsTooSmall) {
  const Tensor line = zeros({1, 1, 3}), image = zeros({1, 1, 3, 4}),
               volume = zeros({1, 1, 3, 4, 5});
  for (const char* mode : {"reflect", "replicate"}) {
    EXPECT_ERROR(pad(line, {-2, -4}, mode), "input (W: 3) is too small. Calculated output W: -3");
    EXPECT_ERROR(pad(image, {-2, -4, 0, 0}, mode),
                 "Calculated output H: 3 W: -2 must be >= 1 in every dimension (input H: 3, W: 4)");
    EXPECT_ERROR(pad(image, {0, 0, -2, -4}, mode),
                 "Calculated output H: -3 W: 4 must be >= 1 in every dimension (input H: 3, W: 4)");
    EXPECT_ERROR(pad(volume, {0, 0, 0, 0, -2, -4}, mode),
                 "Calculated output D: -3 H: 4 W: 5 must be >= 1 in every dimension (input D: 3, "
                 "H: 4, W: 5)");
  }
}

TEST(Grids, MeshgridsProductsAndNewTensors) {
  const auto ij = meshgrid({arange(2), arange(3)}), xy = meshgrid({arange(2), arange(3)}, "xy");
  EXPECT_EQ(ij[0].sizes().vec(), (Sizes{2, 3}));
  EXPECT_TRUE(xy[0].equal(ij[0].t()) && xy[1].equal(ij[1].t()));
  EXPECT_EQ(cartesian_prod({arange(2), arange(2)}).select(0, 2).select(0, 0).item<int64_t>(), 1);
  EXPECT_TRUE(logspace(0, 3, 4).equal(arange(4).to(kFloat).mul(0).add(10).pow(arange(4, kFloat))));
  const Tensor x = ones({2}, kDouble);
  EXPECT_EQ(x.new_zeros({3}).scalar_type(), kDouble);
  EXPECT_EQ(ones({2}, kLong).new_full({2}, 1.5).sum().item<int64_t>(), 2);
  EXPECT_EQ(x.new_ones({2}, kInt).scalar_type(), kInt);
  EXPECT_TRUE(ones({2}).isclose(ones({2}).add(1e-7)).all().item<bool>());
}

TEST(Reshapes, RepeatCountsThatOverflowThrow) {
  EXPECT_THROW(repeat_interleave(tensor({INT64_MAX, int64_t{1}})), Error);
  EXPECT_THROW(repeat_interleave(tensor({int64_t{1} << 58})), Error);
  EXPECT_THROW(repeat_interleave(ones({2}, TensorOptions(kLong).device(kMeta))),
               NotImplementedError);
}

TEST(Reshapes, RepeatInterleaveOfA0dTensorHasNoDimensions) {
  const Tensor x = full({}, 3.f);
  EXPECT_TRUE(x.repeat_interleave(2).equal(full({2}, 3.f)));
  for (const int64_t dim : {0, -1, 1})
    EXPECT_ERROR(x.repeat_interleave(2, dim), "Dimension out of range");
}

}  // namespace
}  // namespace hearth::testing
