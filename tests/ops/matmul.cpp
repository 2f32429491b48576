#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// The dot product of the row of a at i with the column of b at j.
double dot(const Array& a, const Array& b, Position i, Position j) {
  double total = 0;
  const int64_t inner = a.sizes.back();
  for (int64_t k = 0; k < inner; ++k) {
    i.back() = k;
    j[j.size() - 2] = k;
    total += at(a, i) * at(b, j);
  }
  return total;
}

/// The product of matrices or batches of matrices; batch dimensions broadcast.
Array product(Array a, Array b) {
  const size_t num_dims = std::max(a.sizes.size(), b.sizes.size());
  for (Array* x : {&a, &b})
    while (x->sizes.size() < num_dims) x->sizes.insert(x->sizes.begin(), 1);
  std::vector<int64_t> sizes = a.sizes;
  for (size_t d = 0; d + 2 < num_dims; ++d)
    if (sizes[d] == 1) sizes[d] = b.sizes[d];
  sizes.back() = b.sizes.back();
  return build(sizes, [&](const Position& position) {
    Position i = position, j = position;
    for (size_t d = 0; d + 2 < num_dims; ++d) {
      if (a.sizes[d] == 1) i[d] = 0;
      if (b.sizes[d] == 1) j[d] = 0;
    }
    return dot(a, b, i, j);
  });
}

/// matmul: a vector on the left is a row, one on the right a column; the result lacks that
/// dimension.
Array matmul_reference(Array a, Array b) {
  const bool left_is_vector = a.sizes.size() == 1, right_is_vector = b.sizes.size() == 1;
  if (left_is_vector) a.sizes.insert(a.sizes.begin(), 1);
  if (right_is_vector) b.sizes.push_back(1);
  Array out = product(a, b);
  if (left_is_vector) out.sizes.erase(out.sizes.end() - 2);
  if (right_is_vector) out.sizes.pop_back();
  return out;
}

Row product_row(std::string name, std::vector<std::string> covers,
                Tensor (*op)(const Tensor&, const Tensor&),
                Tensor& (*out)(Tensor&, const Tensor&, const Tensor&)) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  row.dtypes = dtypes::kReal;
  row.slack = 8;
  row.call = [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
  row.reference = [](const Arrays& in) { return Arrays{matmul_reference(in[0], in[1])}; };
  row.out = [out](Tensor& target, const Tensors& in) { out(target, in[0], in[1]); };
  return row;
}

Row mm_row() {
  Row row = product_row("mm", {"mm"}, &hearth::mm, &hearth::mm_out);
  row.cases = {{{{3, 4}}, {{4, 2}}},
               {{{5, 5}}, {{5, 5}}},
               {{{1, 7}}, {{7, 1}}},
               {{{2, 0}}, {{0, 3}}},
               {{{0, 2}}, {{2, 3}}}};
  row.refusals = {{[] {
                     ones({2, 3}).mm(ones({2, 3}));
                   },
                   "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"},
                  {[] {
                     ones({3}).mm(ones({3, 2}));
                   },
                   "mm: self must be a matrix, got 1-D tensor"},
                  {[] {
                     ones({2, 3}).mm(ones({3}));
                   },
                   "mm: mat2 must be a matrix, got 1-D tensor"},
                  {[] {
                     ones({2, 3}).mm(ones({3, 2}, kDouble));
                   },
                   "expected m1 and m2 to have the same dtype, but got: float != double"},
                  {[] {
                     ones({2, 2}, kBool).mm(ones({2, 2}, kBool));
                   },
                   "not implemented for 'Bool'"}};
  return row;
}

Row bmm_row() {
  Row row = product_row("bmm", {"bmm"}, &hearth::bmm, &hearth::bmm_out);
  row.cases = {{{{2, 3, 4}}, {{2, 4, 2}}},
               {{{3, 1, 5}}, {{3, 5, 2}}},
               {{{0, 2, 3}}, {{0, 3, 2}}},
               {{{2, 2, 0}}, {{2, 0, 3}}}};
  row.refusals = {
      {[] {
         ones({2, 3, 4}).bmm(ones({3, 4, 2}));
       },
       "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [3, 4]."},
      {[] {
         ones({3, 4}).bmm(ones({3, 4, 2}));
       },
       "batch1 must be a 3D tensor"},
      {[] {
         ones({2, 3, 4}).bmm(ones({2, 4, 2}, kDouble));
       },
       "expected scalar type Float but found Double"}};
  return row;
}

Row matmul_row() {
  Row row = product_row("matmul", {"matmul", "mm", "bmm"}, &hearth::matmul, &hearth::matmul_out);
  row.cases = {{{{3}}, {{3}}},          {{{3}}, {{3, 2}}},
               {{{2, 3}}, {{3}}},       {{{2, 3}}, {{3, 4}}},
               {{{2, 4, 3}}, {{3, 2}}}, {{{2, 4, 3}}, {{3}}},
               {{{3}}, {{2, 3, 4}}},    {{{2, 1, 2, 3}}, {{4, 3, 2}}},
               {{{2, 3}}, {{2, 3, 2}}}, {{{0, 3}}, {{3, 2}}},
               {{{2, 0, 3}}, {{3, 2}}}, {{{2, 3, 1}}, {{1, 1, 2}}}};
  row.refusals = {
      {[] { ones({}).matmul(ones({3})); },
       "both arguments to matmul need to be at least 1D, but they are 0D and 1D"},
      {[] { ones({2}).matmul(ones({3})); },
       "inconsistent tensor size, expected tensor [2] and src [3] to have the same number"},
      {[] {
         ones({2, 3}).matmul(ones({4}));
       },
       "size mismatch, got input (2), mat (2x3), vec (4)"},
      {[] {
         ones({2, 3}).matmul(ones({2, 3}));
       },
       "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"},
      {[] {
         ones({2, 2, 3}).matmul(ones({3, 3, 2}));
       },
       "must match"},
      {[] {
         ones({2, 3, 4}).matmul(ones({3, 2}));
       },
       "mm: mat1 and mat2 shapes cannot be multiplied (6x4 and 3x2)"},
      {[] {
         ones({4, 3, 2}).transpose(0, 2).matmul(ones({3, 2}));
       },
       "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]"},
      {[] {
         ones({2, 3, 4}).matmul(ones({3}));
       },
       "size mismatch, got input (6), mat (6x4), vec (3)"},
      {[] { ones({3}).matmul(ones({3}, kDouble)); },
       "dot : expected both vectors to have same dtype, but found Float and Double"},
      {[] {
         ones({3, 3}).matmul(ones({3}, kDouble));
       },
       "addmv input tensors must have the same dtype, but got Double, Float, and Double"}};
  return row;
}

/// A row for beta * input 0 (broadcast) + alpha * product.
Row addmm_row(std::string name, double beta, double alpha) {
  Row row;
  row.name = std::move(name);
  row.covers = {"addmm"};
  row.cases = {{{{3, 2}}, {{3, 4}}, {{4, 2}}},
               {{{2}}, {{3, 4}}, {{4, 2}}},
               {{{3, 1}}, {{3, 4}}, {{4, 2}}},
               {{{}}, {{1, 3}}, {{3, 1}}},
               {{{2, 2}}, {{2, 0}}, {{0, 2}}}};
  row.dtypes = dtypes::kReal;
  row.slack = 8;
  const Scalar b = int64_t(beta), a = int64_t(alpha);
  row.call = [=](const Tensors& in) { return Tensors{addmm(in[0], in[1], in[2], b, a)}; };
  row.reference = [=](const Arrays& in) {
    return Arrays{map({in[0], product(in[1], in[2])},
                      [=](const double* x) { return beta * x[0] + alpha * x[1]; })};
  };
  row.out = [=](Tensor& out, const Tensors& in) { addmm_out(out, in[0], in[1], in[2], b, a); };
  row.inplace = [=](Tensor& self, const Tensors& in) { self.addmm_(in[1], in[2], b, a); };
  row.refusals = {{[] {
                     ones({2}).addmm(ones({2, 3}), ones({2, 3}));
                   },
                   "addmm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"},
                  {[] {
                     ones({3}).addmm(ones({2, 3}), ones({3, 2}));
                   },
                   "The expanded size of the tensor (2) must match the existing size (3) at "
                   "non-singleton dimension 1"},
                  {[] {
                     ones({2}, kDouble).addmm(ones({2, 3}), ones({3, 2}));
                   },
                   "must have the same dtype"}};
  return row;
}

TEST(Matmul, LargeIntegersAreExactFactors) {
  constexpr int64_t kFactor = (int64_t{1} << 53) + 1;  // not representable as a double
  const Tensor one = ones({1, 1}, kLong), zero = zeros({1, 1}, kLong),
               batch = ones({1, 1, 1}, kLong);
  EXPECT_EQ(addmm(zero, one, one, 1, kFactor).item<int64_t>(), kFactor);
  EXPECT_EQ(addmm(one, one, one, kFactor, 0).item<int64_t>(), kFactor);
  EXPECT_EQ(addmm(one, one, one, -kFactor, -kFactor).item<int64_t>(), -2 * kFactor);
  EXPECT_EQ(baddbmm(zero, batch, batch, 1, kFactor).item<int64_t>(), kFactor);
  EXPECT_EQ(addmv(zero[0], one, one[0], 1, kFactor).item<int64_t>(), kFactor);
  for (const Scalar& other : {Scalar(1.0), Scalar(1.5), Scalar(complex<double>(1, 0))}) {
    const Tensor sum = addmm(one, one, one, other, kFactor);
    EXPECT_EQ(sum.scalar_type(), kLong);
    EXPECT_EQ(sum.item<int64_t>(), kFactor + 1);
    EXPECT_EQ(addmm(one, one, one, kFactor, other).item<int64_t>(), kFactor + 1);
  }
  Tensor out = zeros({1, 1}, kLong);
  addmm_out(out, zero, one, one, 1, kFactor);
  EXPECT_EQ(out.item<int64_t>(), kFactor);
  EXPECT_EQ(out.addmm_(one, one, 0, -kFactor).item<int64_t>(), -kFactor);
}

const Register registered_matmul[] = {
    Register(mm_row()),
    Register(bmm_row()),
    Register(matmul_row()),
    Register(addmm_row("addmm", 1, 1)),
    Register(addmm_row("addmm_scaled", 2, 3)),
    Register(addmm_row("addmm_without_self", 0, 1)),
};

TEST(Linalg, AddmmWithBetaZeroIgnoresSelf) {
  const Tensor bias = full({2, 2}, NAN);
  EXPECT_TRUE(bias.addmm(ones({2, 3}), ones({3, 2}), 0).equal(full({2, 2}, 3.0)));
}

/// A large product to which one row is added; 37 and 203 are no multiples of a SIMD vector's width.
TEST(Linalg, AddmmAddsARowToManyRows) {
  manual_seed(3);
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t width : {37, 128, 203}) {
      const Tensor a = randn({600, 70}, dtype), b = randn({70, width}, dtype);
      const Tensor row = randn({width}, dtype);
      const Tensor expected = a.to(kDouble).matmul(b.to(kDouble)) * 2 + row.to(kDouble) * 0.5;
      EXPECT_TRUE(addmm(row, a, b, 0.5, 2).to(kDouble).allclose(expected, 1e-4, 1e-4)) << width;
    }
}

TEST(Linalg, ComplexProduct) {
  const Tensor a = full({1, 2}, Scalar(complex<double>(1, 1)), kComplexDouble);
  const Tensor b = full({2, 1}, Scalar(complex<double>(0, 1)), kComplexDouble);
  EXPECT_EQ(a.mm(b).item<complex<double>>(), complex<double>(-2, 2));
}

}  // namespace
}  // namespace hearth::testing
