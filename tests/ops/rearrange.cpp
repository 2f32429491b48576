#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/stream.h"
#include "tests/support/view_rows.h"

namespace hearth::testing {
namespace {

const std::vector<Case> kMatrices = {{{{3, 5}}}, {{{2, 3, 4}}}, {{{4, 1}}}, {{{2, 0, 3}}}};

int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

Row flip_row() {
  Row row = view_row(
      "flip", {"flip"}, kMatrices,
      [](const Tensor& x) {
        return x.flip({0, -1});
      },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{sizes, [sizes](Position p) {
                                p[0] = sizes[0] - 1 - p[0];
                                p.back() = sizes.back() - 1 - p.back();
                                return p;
                              }};
      });
  row.cases.push_back({{{2, 3, 2, 2}}});
  row.refusals = {{[] { ones({3}).flip(1); }, "Dimension out of range"},
                  {[] {
                     ones({3}).flip({0, 0});
                   },
                   "dim 0 appears multiple times in the list of dims"}};
  return row;
}

Row roll_row() {
  Row row = view_row(
      "roll", {"roll"}, kMatrices,
      [](const Tensor& x) {
        return x.roll({1, -2}, {0, -1});
      },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{sizes, [sizes](Position p) {
                                p[0] = modulo(p[0] - 1, sizes[0]);
                                p.back() = modulo(p.back() + 2, sizes.back());
                                return p;
                              }};
      });
  row.refusals = {
      {[] {
         ones({3}).roll({1, 1}, {0});
       },
       "shifts and dimensions must align. shifts: 2, dims:1"},
      {[] { ones({3}).roll(IntArrayRef(), IntArrayRef()); }, "`shifts` required"},
      {[] { ones({}).roll(1, 0); }, "Dimension specified as 0 but tensor has no dimensions"}};
  return row;
}

Row channel_shuffle_row() {
  Row row = view_row(
      "channel_shuffle", {"channel_shuffle"},
      {{{{2, 6, 3}}}, {{{1, 4, 2, 3}}}, {{{2, 2, 1, 2, 2}}}, {{{0, 4, 3}}}},
      [](const Tensor& x) { return channel_shuffle(x, 2); },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{sizes, [sizes](Position p) {
                                p[1] = p[1] % 2 * (sizes[1] / 2) + p[1] / 2;
                                return p;
                              }};
      });
  row.refusals = {{[] {
                     channel_shuffle(ones({3, 4}), 2);
                   },
                   "channel_shuffle expects input with > 2 dims, but got input with sizes [3, 4]"},
                  {[] {
                     channel_shuffle(ones({1, 4, 2}), 0);
                   },
                   "Number of groups to divide channels in must be positive. Value of groups:0"},
                  {[] {
                     channel_shuffle(ones({1, 3, 2}), 2);
                   },
                   "Number of channels must be divisible by groups. Got 3 channels and 2 groups."}};
  return row;
}

Row roll_flat_row() {
  return view_row(
      "roll_flat", {"roll"}, kMatrices, [](const Tensor& x) { return x.roll(2); },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{sizes, [sizes](const Position& p) {
                                return position_of(modulo(linear_of(p, sizes) - 2, count_of(sizes)),
                                                   sizes);
                              }};
      });
}

Row rot90_row() {
  Row row = view_row(
      "rot90", {"flip"}, {{{{3, 5}}}, {{{2, 3, 4}}}}, [](const Tensor& x) { return x.rot90(); },
      [](std::vector<int64_t> sizes) {
        const int64_t columns = sizes[1];
        std::swap(sizes[0], sizes[1]);
        return ViewDefinition{sizes, [columns](Position p) {
                                std::swap(p[0], p[1]);
                                p[1] = columns - 1 - p[1];
                                return p;
                              }};
      });
  row.refusals = {{[] {
                     ones({2, 3}).rot90(1, {0, 0});
                   },
                   "expected rotation dims to be different, but got dim0 = 0 and dim1 = 0"},
                  {[] { ones({2}).rot90(); }, "expected total dims >= 2, but got total dims = 1"}};
  return row;
}

/// A row for tril or triu.
Row triangle_row(std::string name, Tensor (*op)(const Tensor&, int64_t),
                 Tensor& (*inplace)(Tensor&, int64_t),
                 Tensor& (*out)(Tensor&, const Tensor&, int64_t), int64_t diagonal, bool upper) {
  Row row;
  row.name = std::move(name);
  row.covers = {upper ? "triu" : "tril"};
  row.cases = kMatrices;
  row.dtypes = dtypes::kRealAndBool;
  row.call = [=](const Tensors& in) { return Tensors{op(in[0], diagonal)}; };
  row.reference = [=](const Arrays& in) {
    return Arrays{build(in[0].sizes, [&](const Position& p) {
      const int64_t offset = p.back() - p[p.size() - 2];
      return (upper ? offset >= diagonal : offset <= diagonal) ? at(in[0], p) : 0;
    })};
  };
  row.out = [=](Tensor& target, const Tensors& in) { out(target, in[0], diagonal); };
  row.inplace = [=](Tensor& self, const Tensors&) { inplace(self, diagonal); };
  const std::string base = upper ? "triu" : "tril";
  row.refusals = {
      {[=] { op(ones({3}), 0); }, base + ": input tensor must have at least 2 dimensions"}};
  return row;
}

const Register registered_rearrange[] = {
    Register(flip_row()),
    Register(roll_row()),
    Register(channel_shuffle_row()),
    Register(roll_flat_row()),
    Register(rot90_row()),
    Register(triangle_row("tril", &tril, &tril_, &tril_out, 0, false)),
    Register(triangle_row("tril_above", &tril, &tril_, &tril_out, 1, false)),
    Register(triangle_row("triu", &triu, &triu_, &triu_out, 0, true)),
    Register(triangle_row("triu_below", &triu, &triu_, &triu_out, -1, true)),
};

TEST(Rearrange, DiagonalsOutsideTheMatrix) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(x.tril(INT64_MAX).equal(x));
  EXPECT_EQ(x.tril(INT64_MIN).sum().item<float>(), 0);
  EXPECT_TRUE(x.triu(INT64_MIN).equal(x));
}

TEST(Rearrange, FlipAndRollOf0dTensorsAndRepeatedDimensions) {
  EXPECT_EQ(full({}, 3.0).flip(0).item<float>(), 3);
  EXPECT_EQ(full({}, 3.0).roll(1).item<float>(), 3);
  EXPECT_EQ(arange(6).roll({1, 1}, {0, 0}).select(0, 0).item<int64_t>(), 4);
}

TEST(Rearrange, TriangleIndices) {
  EXPECT_TRUE(tril_indices(2, 3, 1).equal(ones({2, 3}).tril(1).nonzero().t()));
  EXPECT_TRUE(triu_indices(3, 3, 1).equal(ones({3, 3}).triu(1).nonzero().t()));
  EXPECT_EQ(tril_indices(2, 2, -5).sizes().vec(), (std::vector<int64_t>{2, 0}));
  EXPECT_THROW(triu_indices(-3, 3), Error);
}

TEST(Rearrange, LargeTensorsInParallel) {
  for (const Device device : devices()) {
    const Tensor x = arange(600 * 700, TensorOptions(kFloat).device(device)).view({600, 700});
    EXPECT_TRUE(x.tril(3).add(x.triu(4)).equal(x)) << device;
    EXPECT_TRUE(x.flip({0, 1}).flip({1}).flip({0}).equal(x)) << device;
    EXPECT_TRUE(x.roll({7, -9}, {0, 1}).roll({-7, 9}, {0, 1}).equal(x)) << device;
  }
}

}  // namespace
}  // namespace hearth::testing
