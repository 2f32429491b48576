#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/autograd.h"
#include "tests/support/view_rows.h"

namespace hearth::testing {
namespace {

Row diagonal_row() {
  Row row = view_row(
      "diagonal", {"diagonal", "diagonal_backward"},
      {{{{3, 5}}}, {{{2, 3}}}, {{{4, 2, 4}}}, {{{0, 3}}}},
      [](const Tensor& x) { return x.diagonal(1, 0, -1); },
      [](std::vector<int64_t> sizes) {
        const int64_t length = std::max<int64_t>(0, std::min(sizes.front(), sizes.back() - 1));
        sizes.erase(sizes.begin());
        sizes.back() = length;
        return ViewDefinition{sizes, [](Position p) {
                                p.insert(p.begin(), p.back());
                                p.back() += 1;
                                return p;
                              }};
      });
  row.refusals = {{[] {
                     ones({2, 3}).diagonal(0, 1, 1);
                   },
                   "diagonal dimensions cannot be identical 1, 1"},
                  {[] { ones({3}).diagonal(); }, "Dimension out of range"}};
  return row;
}

/// out[..., i, i + offset] = in[..., i], or in[..., i + offset] if offset is negative.
Row diag_embed_row(std::string name, int64_t offset, std::function<Tensor(const Tensor&)> op,
                   std::vector<Case> cases) {
  Row row = view_row(std::move(name), {"diagonal_backward"}, std::move(cases), std::move(op), {});
  row.reference = [offset](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    sizes.back() += std::abs(offset);
    sizes.push_back(sizes.back());
    return Arrays{build(sizes, [&](Position p) {
      const int64_t column = p.back();
      p.pop_back();
      const int64_t row_number = p.back();
      p.back() -= std::max<int64_t>(-offset, 0);
      return column - row_number == offset && p.back() >= 0 ? at(in[0], p) : 0;
    })};
  };
  return row;
}

Row diag_row() {
  Row row = view_row(
      "diag", {"diagonal", "clone"}, {{{{3, 5}}}, {{{4, 2}}}},
      [](const Tensor& x) { return x.diag(-1); },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{{std::min(sizes[0] - 1, sizes[1])}, [](const Position& p) {
                                return Position{p[0] + 1, p[0]};
                              }};
      });
  row.out = [](Tensor& out, const Tensors& in) { diag_out(out, in[0], -1); };
  row.refusals = {{[] { ones({2, 2, 2}).diag(); }, "diag(): Supports 1D or 2D tensors. Got 3D"}};
  return row;
}

/// A row for unfold with windows of three elements along dimension 0.
Row unfold_row(std::string name, int64_t step) {
  Row row = view_row(
      std::move(name), {"unfold", "unfold_backward"}, {{{{7}}}, {{{5, 2}}}, {{{3, 0}}}},
      [step](const Tensor& x) { return x.unfold(0, 3, step); },
      [step](std::vector<int64_t> sizes) {
        sizes[0] = (sizes[0] - 3) / step + 1;
        sizes.push_back(3);
        return ViewDefinition{sizes, [step](Position p) {
                                p[0] = p[0] * step + p.back();
                                p.pop_back();
                                return p;
                              }};
      });
  row.refusals = {{[] { ones({5}).unfold(0, 6, 1); },
                   "maximum size for tensor at dimension 0 is 5 but size is 6"},
                  {[] { ones({5}).unfold(0, 2, 0); }, "step is 0 but must be > 0"},
                  {[] { ones({5}).unfold(0, -1, 1); }, "size is -1 but must be >= 0"}};
  return row;
}

/// A row for a copy of input 0 with input 1 at index 1 of dimension 1.
Row part_row(std::string name, std::vector<int64_t> src,
             std::function<Tensor(const Tensor&, const Tensor&)> op) {
  Row row;
  row.name = std::move(name);
  row.covers = {"select", "slice", "clone"};
  row.mixes_devices = true;  // src is copied
  row.cases = {{{{3, 4}}, {src}}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[0].sizes, [&](const Position& p) {
      return p[1] == 1 ? in[1].values[size_t(p[0])] : at(in[0], p);
    })};
  };
  row.refusals = {{[=] {
                     op(ones({3, 4}), ones({5, 5}));
                   },
                   "expected src to have a size equal to the slice of self. src size = [5, 5], "
                   "slice size = "}};
  return row;
}

const std::vector<Case> kVectors = {{{{3}}}, {{{2, 3}}}, {{{0}}}};
const Register registered_diagonals[] = {
    Register(diagonal_row()),
    Register(diag_embed_row(
        "diag_embed", -1, [](const Tensor& x) { return x.diag_embed(-1); }, kVectors)),
    Register(diag_embed_row("diagflat", 2, [](const Tensor& x) { return x.diagflat(2); },
                            {{{{3}}}, {{{1}}}})),
    Register(
        diag_embed_row("diag_of_vector", 0, [](const Tensor& x) { return x.diag(); }, {{{{3}}}})),
    Register(diag_row()),
    Register(unfold_row("unfold_overlapping", 1)),
    Register(unfold_row("unfold_apart", 4)),
    Register(
        part_row("select_scatter", {3},
                 [](const Tensor& x, const Tensor& src) { return x.select_scatter(src, 1, 1); })),
    Register(
        part_row("slice_scatter", {3, 1},
                 [](const Tensor& x, const Tensor& src) { return x.slice_scatter(src, 1, 1, 2); })),
};

TEST(Diagonals, ShareMemory) {
  const Tensor x = zeros({3, 3});
  x.diagonal().fill_(2);
  EXPECT_TRUE(x.equal(eye(3).mul(2)));
  EXPECT_TRUE(zeros({2, 3}).diagonal_scatter(ones({2})).equal(eye(2, 3)));
}

TEST(Diagonals, UnfoldOfA0dTensor) {
  EXPECT_EQ(full({}, 5.0).unfold(0, 1, 1).sizes().vec(), (std::vector<int64_t>{1}));
  const Tensor x = ones({}, TensorOptions().requires_grad(true));
  x.unfold(0, 1, 1).sum().backward();
  EXPECT_EQ(x.grad().item<float>(), 1);
}

}  // namespace
}  // namespace hearth::testing
