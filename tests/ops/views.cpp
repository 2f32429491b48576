#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/throws.h"
#include "tests/support/view_rows.h"

namespace hearth::testing {
namespace {

const std::vector<Case> kTransposeCases = {{{{3, 5}}}, {{{2, 3, 4}}}, {{{1, 2, 3, 2}}}, {{{2, 0}}}};

Row select_row() {
  Row row = view_row(
      "select", {"select", "select_backward"}, {{{{3, 5}}}, {{{2, 3, 4}}}, {{{0, 2}}}},
      [](const Tensor& x) { return x.select(1, -1); },
      [](std::vector<int64_t> sizes) {
        const int64_t last = sizes[1] - 1;
        sizes.erase(sizes.begin() + 1);
        return ViewDefinition{sizes, [last](Position p) {
                                p.insert(p.begin() + 1, last);
                                return p;
                              }};
      });
  row.refusals = {{[] {
                     ones({2, 3}).select(1, 3);
                   },
                   "select(): index 3 out of range for tensor of size [2, 3] at dimension 1"},
                  {[] { ones({}).select(0, 0); }, "select() cannot be applied to a 0-dim tensor."},
                  {[] { ones({2}).select(1, 0); },
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)"}};
  return row;
}

Row slice_row() {
  Row row = view_row(
      "slice", {"slice", "slice_backward"}, {{{{3, 7}}}, {{{2, 5, 2}}}, {{{2, 1}}}, {{{3, 0}}}},
      [](const Tensor& x) { return x.slice(1, 1, {}, 2); },
      [](std::vector<int64_t> sizes) {
        sizes[1] = sizes[1] / 2;
        return ViewDefinition{sizes, [](Position p) {
                                p[1] = 1 + 2 * p[1];
                                return p;
                              }};
      });
  row.refusals = {{[] { ones({2}).slice(0, 0, 1, 0); }, "slice step must be positive"},
                  {[] { ones({}).slice(0); }, "slice() cannot be applied to a 0-dim tensor."}};
  return row;
}

Row narrow_row() {
  Row row = view_row(
      "narrow", {"slice"}, {{{{3, 7}}}, {{{2, 4, 2}}}},
      [](const Tensor& x) { return x.narrow(-2, 1, 1); },
      [](std::vector<int64_t> sizes) {
        const size_t dim = sizes.size() - 2;
        sizes[dim] = 1;
        return ViewDefinition{sizes, [dim](Position p) {
                                p[dim] += 1;
                                return p;
                              }};
      });
  row.refusals = {
      {[] { ones({3}).narrow(0, 1, 3); }, "start (1) + length (3) exceeds dimension size (3)."},
      {[] { ones({3}).narrow(0, 4, 0); },
       "start out of range (expected to be in range of [-3, 3], but got 4)"},
      {[] { ones({3}).narrow(0, 0, -1); }, "narrow(): length must be non-negative."},
      {[] { ones({}).narrow(0, 0, 1); }, "narrow() cannot be applied to a 0-dim tensor."}};
  return row;
}

Row permute_row() {
  Row row = view_row(
      "permute", {"permute"}, {{{{2, 3, 4}}}, {{{3, 1, 2}}}, {{{2, 0, 3}}}},
      [](const Tensor& x) {
        return x.permute({2, 0, -2});
      },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{{sizes[2], sizes[0], sizes[1]}, [](const Position& p) {
                                return Position{p[1], p[2], p[0]};
                              }};
      });
  row.refusals = {{[] {
                     ones({2, 3}).permute({0, 0});
                   },
                   "permute(): duplicate dims are not allowed."},
                  {[] {
                     ones({2, 3}).permute({0});
                   },
                   "is not equal to len(dims) = 1"}};
  return row;
}

ViewDefinition swapped(std::vector<int64_t> sizes, size_t a, size_t b) {
  std::swap(sizes[a], sizes[b]);
  return {sizes, [a, b](Position p) {
            std::swap(p[a], p[b]);
            return p;
          }};
}

Row transpose_row() {
  Row row = view_row(
      "transpose", {"transpose"}, kTransposeCases,
      [](const Tensor& x) { return x.transpose(0, -1); },
      [](const std::vector<int64_t>& sizes) { return swapped(sizes, 0, sizes.size() - 1); });
  row.refusals = {{[] {
                     ones({2, 3}).transpose(0, 2);
                   },
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)"}};
  return row;
}

Row t_row() {
  Row row = view_row(
      "t", {"t"}, {{{{3, 5}}}, {{{4}}}, {{{}}}}, [](const Tensor& x) { return x.t(); },
      [](const std::vector<int64_t>& sizes) {
        return sizes.size() == 2 ? swapped(sizes, 0, 1)
                                 : ViewDefinition{sizes, [](const Position& p) { return p; }};
      });
  row.refusals = {{[] {
                     ones({2, 3, 4}).t();
                   },
                   "t() expects a tensor with <= 2 dimensions, but self is 3D"}};
  return row;
}

Row expand_row() {
  Row row = view_row(
      "expand", {"expand"}, {{{{3, 1}}}, {{{1, 1}}}, {{{0, 1}}}},
      [](const Tensor& x) {
        return x.expand({2, -1, 4});
      },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{{2, sizes[0], 4}, [](const Position& p) {
                                return Position{p[1], 0};
                              }};
      });
  row.refusals = {{[] { ones({3}).expand({4}); },
                   "The expanded size of the tensor (4) must match the existing size (3) at "
                   "non-singleton dimension 0.  Target sizes: "
                   "[4].  Tensor sizes: [3]"},
                  {[] {
                     ones({2, 3}).expand({3});
                   },
                   "expand(CPUFloatType{[2, 3]}, size=[3]): the number of sizes provided (1) "
                   "must be greater or equal to the number of "
                   "dimensions in the tensor (2)"},
                  {[] {
                     ones({3}).expand({-1, 3});
                   },
                   "isn't allowed in a leading, non-existing dimension 0"}};
  return row;
}

Row view_op_row() {
  Row row = reshaping_row(
      "view", {"view"}, {{{{4, 3}}}, {{{2, 3, 2}}}, {{{6, 1}}}},
      [](const Tensor& x) {
        return x.contiguous().view({2, -1});
      },
      [](const std::vector<int64_t>& sizes) {
        return std::vector<int64_t>{2, count_of(sizes) / 2};
      });
  row.refusals = {{[] {
                     ones({4}).view({3, -1});
                   },
                   "shape '[3, -1]' is invalid for input of size 4"},
                  {[] {
                     ones({4}).view({-1, -1});
                   },
                   "only one dimension can be inferred"},
                  {[] {
                     ones({4}).view({-2, -2});
                   },
                   "invalid shape dimension -2"},
                  {[] {
                     ones({0}).view({-1, 0});
                   },
                   "because the unspecified dimension size -1 can be any value and is ambiguous"},
                  {[] {
                     ones({2, 3}).t().view({6});
                   },
                   "view size is not compatible with input tensor's size and stride"},
                  {[] {
                     ones({4}).view({int64_t(1) << 40, int64_t(1) << 40});
                   },
                   "is invalid for input of size 4"}};
  return row;
}

Row reshape_row() {
  return reshaping_row(
      "reshape", {"view", "clone"}, {{{{4, 3}}}, {{{2, 3, 2}}}, {{{2, 1, 5}}}},
      [](const Tensor& x) {
        return x.reshape({-1, 2});
      },
      [](const std::vector<int64_t>& sizes) {
        return std::vector<int64_t>{count_of(sizes) / 2, 2};
      });
}

Row flatten_row() {
  Row row = reshaping_row(
      "flatten", {"view"}, {{{{2, 3, 4}}}, {{{3, 2}}}, {{{2, 3, 0}}}},
      [](const Tensor& x) { return x.flatten(1); },
      [](const std::vector<int64_t>& sizes) {
        return std::vector<int64_t>{sizes[0], count_of({sizes.begin() + 1, sizes.end()})};
      });
  row.refusals = {{[] {
                     ones({2, 3}).flatten(1, 0);
                   },
                   "flatten() has invalid args: start_dim cannot come after end_dim"}};
  return row;
}

Row unsqueeze_row() {
  Row row = reshaping_row(
      "unsqueeze", {"unsqueeze"}, {{{{3, 5}}}, {{{4}}}, {{{2, 0}}}},
      [](const Tensor& x) { return x.unsqueeze(-2); },
      [](std::vector<int64_t> sizes) {
        sizes.insert(sizes.end() - 1, 1);
        return sizes;
      });
  row.refusals = {{[] { ones({2}).unsqueeze(2); },
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)"}};
  return row;
}

Row squeeze_row() {
  return reshaping_row(
      "squeeze", {"squeeze"}, {{{{1, 3, 1}}}, {{{2, 3}}}, {{{1}}}, {{{1, 0}}}},
      [](const Tensor& x) { return x.squeeze(); },
      [](std::vector<int64_t> sizes) {
        std::erase(sizes, 1);
        return sizes;
      });
}

Row squeeze_dim_row() {
  Row row = reshaping_row(
      "squeeze_dim", {"squeeze"}, {{{{1, 3, 1}}}, {{{2, 3}}}, {{{1}}}, {{{}}}},
      [](const Tensor& x) { return x.squeeze(-1); },
      [](std::vector<int64_t> sizes) {
        if (!sizes.empty() && sizes.back() == 1) sizes.pop_back();
        return sizes;
      });
  row.refusals = {{[] { ones({2}).squeeze(1); },
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)"}};
  return row;
}

Row alias_row() {
  return reshaping_row(
      "alias", {"alias"}, {{{{3, 5}}}, {{{}}}, {{{0}}}}, [](const Tensor& x) { return x.alias(); },
      [](const std::vector<int64_t>& sizes) { return sizes; });
}

/// A row for a view of the overlapping pairs [1, 2], [2, 3] and [3, 4].
Row as_strided_row() {
  Row row = view_row(
      "as_strided", {"as_strided"}, {{{{5}}}, {{{2, 4}}}},
      [](const Tensor& x) {
        return x.contiguous().as_strided({3, 2}, {1, 1}, 1);
      },
      [](const std::vector<int64_t>& sizes) {
        return ViewDefinition{
            {3, 2}, [sizes](const Position& p) { return position_of(1 + p[0] + p[1], sizes); }};
      });
  row.refusals = {
      {[] { ones({4}).as_strided({5}, {1}); }, "are out of bounds for storage of size 16"},
      {[] {
         ones({4}).as_strided({2}, {1, 1});
       },
       "mismatch in length of strides and shape"},
      {[] { ones({4}).as_strided({2}, {-1}); }, "Negative strides are not supported"},
      {[] { ones({4}).as_strided({2}, {1}, -1); }, "invalid storage offset -1"},
      {[] {
         ones({4}).as_strided({2, 2}, {int64_t(1) << 62, 1});
       },
       ""}};
  return row;
}

const Register registered_views[] = {
    Register(select_row()),      Register(slice_row()),     Register(narrow_row()),
    Register(permute_row()),     Register(transpose_row()), Register(t_row()),
    Register(expand_row()),      Register(view_op_row()),   Register(reshape_row()),
    Register(flatten_row()),     Register(unsqueeze_row()), Register(squeeze_row()),
    Register(squeeze_dim_row()), Register(alias_row()),     Register(as_strided_row()),
};

TEST(Views, ShareMemoryAndVersion) {
  const Tensor base = zeros({2, 3});
  const Tensor view = base.transpose(0, 1).select(0, 1);
  view.fill_(7);
  EXPECT_EQ(base.sum().item<float>(), 14);
  EXPECT_EQ(base._version(), view._version());
  EXPECT_TRUE(view.is_view());
}

TEST(Views, SupportComplexTensors) {
  const Tensor x = full({2, 3}, Scalar(complex<double>(1, 2)), kComplexDouble);
  EXPECT_EQ(x.permute({1, 0}).slice(0, 1).select(0, 0).sum().item<complex<double>>(),
            complex<double>(2, 4));
}

TEST(Views, ReshapeOfAnEmptyTensorToItself) {
  EXPECT_EQ(ones({2, 0}).reshape({0, 5}).sizes().vec(), (std::vector<int64_t>{0, 5}));
}

TEST(Views, SetReplacesTheMemory) {
  const Tensor source = arange(6, kFloat);
  Tensor x = zeros({2});
  EXPECT_FALSE(x.is_set_to(source));
  const int64_t version = x._version();
  EXPECT_TRUE(x.set_(source).is_set_to(source));
  EXPECT_GT(x._version(), version);
  EXPECT_TRUE(source.is_set_to(source.view({6})));
  EXPECT_FALSE(source.is_set_to(source.slice(0, 1)));
  x.set_(source, 1, {2, 2}, {2, 1});
  EXPECT_TRUE(x.equal(tensor({{1.f, 2.f}, {3.f, 4.f}})));
  EXPECT_TRUE(x.set_(source.storage()).is_set_to(source));
  x.set_(source.storage(), 4, {5});
  EXPECT_TRUE(x.slice(0, 0, 2).equal(tensor({4.f, 5.f})));
  EXPECT_EQ(source.storage().nbytes(), 36u);
  EXPECT_EQ(x.set_().sizes().vec(), (std::vector<int64_t>{0}));
  EXPECT_ERROR(x.set_(source.to(kLong)),
               "Could not set tensor of type long int to a tensor of type float");
  EXPECT_ERROR(x.set_(source, -1, {2}), "Tensor: invalid storage offset -1");
  EXPECT_ERROR(zeros({2}).requires_grad_().set_(source),
               "a leaf Variable that requires grad is being used in an in-place operation.");
  EXPECT_ERROR(x.is_set_to(Tensor()), "an undefined Tensor");
  EXPECT_ERROR(Tensor().is_set_to(x), "an undefined Tensor");
}

TEST(Views, SetRefusesAGeometryOutsideTheMemory) {
  const Tensor source = arange(6, kFloat), x = zeros({2});
  constexpr int64_t kHuge = int64_t(1) << 62;
  EXPECT_ERROR(
      x.set_(source, 0, {5}, {kHuge}),
      "Storage size calculation overflowed with sizes=[5] and strides=[4611686018427387904]");
  EXPECT_ERROR(x.set_(source, 2 * (kHuge - 1) + 1, {2}, {1}),
               "Storage size calculation overflowed");
  EXPECT_ERROR(x.set_(source, 0, {5}, {-1}),
               "Storage size calculation overflowed with sizes=[5] and strides=[-1]");
  EXPECT_ERROR(x.set_(source.storage(), 4, {5}, {-1}), "Storage size calculation overflowed");
  EXPECT_ERROR(x.set_(source, 0, {-5}, {1}), "negative dimension -5");
  EXPECT_ERROR(x.set_(source, 0, {20, 30}, {1}), "unequal size length (2) and stride length (1)");
  EXPECT_ERROR(x.set_(source, 0, {20}, {30, 1}), "unequal size length (1) and stride length (2)");
  EXPECT_EQ(source.storage().nbytes(), 24u);
  EXPECT_TRUE(x.equal(zeros({2})));
}

// The results below are LibTorch's.
TEST(Views, SetHasNoDerivative) {
  const Tensor a = ones({3}).requires_grad_(), y = a * 2;
  y.set_(ones({2, 2}));
  EXPECT_EQ(y.grad_fn()->name(), "NotImplemented");
  EXPECT_ERROR(y.sum().backward(), "derivative for set_ is not implemented");
  EXPECT_ERROR(autograd::grad({y.sum()}, {a}), "derivative for set_ is not implemented");
  const Tensor x = zeros({1});
  x.set_(a * 2);
  EXPECT_TRUE(x.requires_grad());
  EXPECT_ERROR(x.sum().backward(), "derivative for set_ is not implemented");
  const Tensor base = a * 2, part = base.slice(0, 1);
  part.set_(zeros({2}));
  EXPECT_ERROR(part.sum().backward(), "derivative for set_ is not implemented");
}

TEST(Views, SetKeepsTheHistoryIfNoGraphIsRecorded) {
  const Tensor a = ones({2, 2}).requires_grad_(), b = a * 1, v = b[0], y = a * 2;
  {
    const NoGradGuard no_grad;
    v.set_(full({2}, 5.0));
    y.set_(zeros({2, 2}));
  }
  EXPECT_TRUE(v.is_view());
  v.mul_(7);
  EXPECT_TRUE(v.equal(full({2}, 35.0)));
  EXPECT_TRUE(b.equal(ones({2, 2})));
  v.sum().backward();
  EXPECT_TRUE(a.grad().equal(tensor({{7.f, 7.f}, {0.f, 0.f}})));
  y.sum().backward();
  EXPECT_TRUE(a.grad().equal(tensor({{9.f, 9.f}, {2.f, 2.f}})));
}

}  // namespace
}  // namespace hearth::testing
