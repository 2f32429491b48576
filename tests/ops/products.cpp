#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>

#include "hearth/autograd.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// The sum over k of f(i, k), where the result has these sizes and k runs below count.
Array summed(std::vector<int64_t> sizes, int64_t count,
             const std::function<double(const Position&, int64_t)>& f) {
  return build(std::move(sizes), [&](const Position& p) {
    double total = 0;
    for (int64_t k = 0; k < count; ++k) total += f(p, k);
    return total;
  });
}

Array mv_reference(const Array& mat, const Array& vec) {
  return summed({mat.sizes[0]}, vec.sizes[0], [&](const Position& p, int64_t k) {
    return at(mat, {p[0], k}) * vec.values[size_t(k)];
  });
}
Array outer_reference(const Array& a, const Array& b) {
  return build({a.sizes[0], b.sizes[0]},
               [&](const Position& p) { return a.values[size_t(p[0])] * b.values[size_t(p[1])]; });
}
Array bmm_reference(const Array& a, const Array& b) {
  return summed({a.sizes[0], a.sizes[1], b.sizes[2]}, a.sizes[2],
                [&](const Position& p, int64_t k) {
                  return at(a, {p[0], p[1], k}) * at(b, {p[0], k, p[2]});
                });
}
Array sum_over_batches(const Array& all) {
  return summed({all.sizes[1], all.sizes[2]}, all.sizes[0], [&](const Position& p, int64_t k) {
    return at(all, {k, p[0], p[1]});
  });
}

Row product_row(std::string name, std::vector<Case> cases,
                std::function<Tensor(const Tensors&)> call,
                std::function<Array(const Arrays&)> reference) {
  Row row;
  row.covers = {name};
  row.name = std::move(name);
  row.cases = std::move(cases);
  row.dtypes = dtypes::kReal;
  row.slack = 8;
  row.call = [call = std::move(call)](const Tensors& in) { return Tensors{call(in)}; };
  row.reference = [reference = std::move(reference)](const Arrays& in) {
    return Arrays{reference(in)};
  };
  return row;
}

Row mv_row() {
  Row row = product_row(
      "mv", {{{{3, 4}}, {{4}}}, {{{2, 0}}, {{0}}}, {{{1, 5}}, {{5}}}},
      [](const Tensors& in) { return in[0].mv(in[1]); },
      [](const Arrays& in) { return mv_reference(in[0], in[1]); });
  row.out = [](Tensor& out, const Tensors& in) { mv_out(out, in[0], in[1]); };
  row.refusals = {
      {[] {
         ones({2, 3}).mv(ones({2}));
       },
       "size mismatch, got input (2), mat (2x3), vec (2)"},
      {[] { ones({3}).mv(ones({3})); }, "vector + matrix @ vector expected, got 1, 1, 1"},
      {[] {
         ones({2, 3}).mv(ones({3}, kDouble));
       },
       "addmv input tensors must have the same dtype, but got Double, Float, and Double"}};
  return row;
}

Row dot_row(std::string name, Tensor (*op)(const Tensor&, const Tensor&),
            Tensor& (*out)(Tensor&, const Tensor&, const Tensor&)) {
  Row row = product_row(
      name, {{{{4}}, {{4}}}, {{{0}}, {{0}}}, {{{1}}, {{1}}}},
      [op](const Tensors& in) { return op(in[0], in[1]); },
      [](const Arrays& in) {
        return summed({}, in[0].sizes[0], [&](const Position&, int64_t k) {
          return in[0].values[size_t(k)] * in[1].values[size_t(k)];
        });
      });
  row.out = [out](Tensor& target, const Tensors& in) { out(target, in[0], in[1]); };
  row.refusals = {
      {[op] { op(ones({2}), ones({3})); },
       "inconsistent tensor size, expected tensor [2] and src [3] to have the same number of "
       "elements, but got 2 and 3 elements respectively"},
      {[op] {
         op(ones({2, 2}), ones({2}));
       },
       "1D tensors expected, but got 2D and 1D tensors"},
      {[op] { op(ones({2}), ones({2}, kDouble)); },
       "dot : expected both vectors to have same dtype, but found Float and Double"},
      {[op, name] { op(ones({2}, kBool), ones({2}, kBool)); },
       "\"" + name + "\" not implemented for 'Bool'"}};
  return row;
}

Row outer_row() {
  Row row = product_row(
      "outer", {{{{3}}, {{4}}}, {{{0}}, {{2}}}},
      [](const Tensors& in) { return in[0].outer(in[1]); },
      [](const Arrays& in) { return outer_reference(in[0], in[1]); });
  row.covers = {"mul"};
  row.dtypes = dtypes::kRealAndBool;
  row.out = [](Tensor& out, const Tensors& in) { outer_out(out, in[0], in[1]); };
  row.refusals = {{[] {
                     ones({2, 3}).outer(ones({4}));
                   },
                   "outer: Expected 1-D argument self, but got 2-D"}};
  return row;
}

/// beta = 2 times input 0, broadcast, plus alpha = 3 times the product.
Row add_row(std::string name, std::vector<Case> cases, std::function<Tensor(const Tensors&)> call,
            std::function<Array(const Arrays&)> product) {
  return product_row(
      std::move(name), std::move(cases), std::move(call), [product](const Arrays& in) {
        return map({in[0], product(in)}, [](const double* x) { return 2 * x[0] + 3 * x[1]; });
      });
}

Row addmv_row() {
  Row row = add_row(
      "addmv", {{{{3}}, {{3, 4}}, {{4}}}, {{{}}, {{3, 2}}, {{2}}}},
      [](const Tensors& in) { return in[0].addmv(in[1], in[2], 2, 3); },
      [](const Arrays& in) { return mv_reference(in[1], in[2]); });
  row.out = [](Tensor& out, const Tensors& in) { addmv_out(out, in[0], in[1], in[2], 2, 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.addmv_(in[1], in[2], 2, 3); };
  return row;
}

Row addr_row() {
  Row row = add_row(
      "addr", {{{{3, 4}}, {{3}}, {{4}}}, {{{}}, {{3}}, {{2}}}},
      [](const Tensors& in) { return in[0].addr(in[1], in[2], 2, 3); },
      [](const Arrays& in) { return outer_reference(in[1], in[2]); });
  row.out = [](Tensor& out, const Tensors& in) { addr_out(out, in[0], in[1], in[2], 2, 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.addr_(in[1], in[2], 2, 3); };
  row.slack = 16;
  return row;
}

Row baddbmm_row() {
  Row row = add_row(
      "baddbmm", {{{{2, 3, 2}}, {{2, 3, 4}}, {{2, 4, 2}}}, {{{2}}, {{2, 3, 1}}, {{2, 1, 2}}}},
      [](const Tensors& in) { return in[0].baddbmm(in[1], in[2], 2, 3); },
      [](const Arrays& in) { return bmm_reference(in[1], in[2]); });
  row.out = [](Tensor& out, const Tensors& in) { baddbmm_out(out, in[0], in[1], in[2], 2, 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.baddbmm_(in[1], in[2], 2, 3); };
  row.refusals = {
      {[] {
         ones({3}).baddbmm(ones({2, 2, 3}), ones({2, 3, 2}));
       },
       "The expanded size of the tensor (2) must match the existing size (3) at non-singleton "
       "dimension 2.  Target sizes: [2, 2, 2].  Tensor sizes: [3]"},
      {[] {
         ones({2}, kDouble).baddbmm(ones({2, 2, 3}), ones({2, 3, 2}));
       },
       "Input dtypes must be the same, got: input double, batch1: float, batch2: float"}};
  return row;
}

Row addbmm_row() {
  Row row = add_row(
      "addbmm", {{{{3, 2}}, {{2, 3, 4}}, {{2, 4, 2}}}},
      [](const Tensors& in) { return in[0].addbmm(in[1], in[2], 2, 3); },
      [](const Arrays& in) { return sum_over_batches(bmm_reference(in[1], in[2])); });
  row.slack = 16;
  row.out = [](Tensor& out, const Tensors& in) { addbmm_out(out, in[0], in[1], in[2], 2, 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.addbmm_(in[1], in[2], 2, 3); };
  return row;
}

Row linear_row(std::string name, bool with_bias) {
  Row row = product_row(
      std::move(name),
      with_bias
          ? std::vector<Case>{{{{2, 3}}, {{4, 3}}, {{4}}},
                              {{{2, 2, 3}}, {{4, 3}}, {{4}}},
                              {{{3}}, {{2, 3}}, {{2}}}}
          : std::vector<Case>{{{{2, 3}}, {{4, 3}}}, {{{2, 2, 3}}, {{4, 3}}}, {{{3}}, {{2, 3}}}},
      [=](const Tensors& in) { return linear(in[0], in[1], with_bias ? in[2] : Tensor()); },
      [=](const Arrays& in) {
        std::vector<int64_t> sizes = in[0].sizes;
        sizes.back() = in[1].sizes[0];
        Array out = summed(sizes, in[1].sizes[1], [&](Position p, int64_t k) {
          const int64_t row_number = p.back();
          p.back() = k;
          return at(in[0], p) * at(in[1], {row_number, k});
        });
        return with_bias ? map({out, in[2]}, [](const double* x) { return x[0] + x[1]; }) : out;
      });
  row.covers = {"linear"};
  return row;
}

Row bilinear_row() {
  return product_row(
      "bilinear", {{{{2, 3}}, {{2, 4}}, {{5, 3, 4}}, {{5}}}},
      [](const Tensors& in) { return bilinear(in[0], in[1], in[2], in[3]); },
      [](const Arrays& in) {
        const Array out = summed({2, 5}, 12, [&](const Position& p, int64_t k) {
          return at(in[0], {p[0], k / 4}) * at(in[2], {p[1], k / 4, k % 4}) *
                 at(in[1], {p[0], k % 4});
        });
        return map({out, in[3]}, [](const double* x) { return x[0] + x[1]; });
      });
}

Row einsum_row(std::string name, std::string equation, std::vector<Case> cases,
               std::function<Array(const Arrays&)> reference) {
  Row row = product_row(
      std::move(name), std::move(cases),
      [equation](const Tensors& in) { return einsum(equation, in); }, std::move(reference));
  row.covers = {"bmm"};
  return row;
}

Row inner_row() {
  Row row = product_row(
      "inner", {{{{2, 3}}, {{4, 3}}}}, [](const Tensors& in) { return in[0].inner(in[1]); },
      [](const Arrays& in) {
        return summed({2, 4}, 3, [&](const Position& p, int64_t k) {
          return at(in[0], {p[0], k}) * at(in[1], {p[1], k});
        });
      });
  row.covers = {"tensordot"};
  row.refusals = {{[] {
                     ones({2, 3}).inner(ones({4, 2}));
                   },
                   "inner() the last dimension must match on both input tensors but got shapes [2, "
                   "3] and [4, 2]"}};
  return row;
}

Row kron_row() {
  Row row = product_row(
      "kron", {{{{2, 3}}, {{2, 2}}}, {{{2}}, {{2, 2}}}},
      [](const Tensors& in) { return in[0].kron(in[1]); },
      [](const Arrays& in) {
        Array a = in[0];
        if (a.sizes.size() == 1) a.sizes.insert(a.sizes.begin(), 1);
        return build({a.sizes[0] * 2, a.sizes[1] * 2}, [&](const Position& p) {
          return at(a, {p[0] / 2, p[1] / 2}) * at(in[1], {p[0] % 2, p[1] % 2});
        });
      });
  row.covers = {"mul"};
  row.out = [](Tensor& out, const Tensors& in) { kron_out(out, in[0], in[1]); };
  return row;
}

Row cross_row() {
  Row row = product_row(
      "cross", {{{{2, 3}}, {{2, 3}}}, {{{3}}, {{3}}}},
      [](const Tensors& in) { return in[0].cross(in[1], -1); },
      [](const Arrays& in) {
        return build(in[0].sizes, [&](const Position& p) {
          Position next = p, after = p;
          next.back() = (p.back() + 1) % 3;
          after.back() = (p.back() + 2) % 3;
          return at(in[0], next) * at(in[1], after) - at(in[0], after) * at(in[1], next);
        });
      });
  row.out = [](Tensor& out, const Tensors& in) { cross_out(out, in[0], in[1], -1); };
  row.refusals = {{[] {
                     ones({2, 2}).cross(ones({2, 2}), 1);
                   },
                   "linalg.cross: inputs dimension 1 must have length 3. Got 2 and 2"}};
  return row;
}

Row trace_row() {
  Row row = product_row(
      "trace", {{{{3, 4}}}, {{{2, 2}}}, {{{0, 2}}}},
      [](const Tensors& in) { return in[0].trace(); },
      [](const Arrays& in) {
        return summed({}, std::min(in[0].sizes[0], in[0].sizes[1]),
                      [&](const Position&, int64_t k) {
                        return at(in[0], {k, k});
                      });
      });
  row.results = {Result::kSum};
  row.refusals = {
      {[] { ones({3}).trace(); }, "trace: expected a matrix, but got tensor with dim 1"}};
  return row;
}

Array matrix_product(const Arrays& in) {
  return summed({in[0].sizes[0], in[1].sizes[1]}, in[1].sizes[0],
                [&](const Position& p, int64_t k) {
                  return at(in[0], {p[0], k}) * at(in[1], {k, p[1]});
                });
}

const Register registered[] = {
    Register(mv_row()),
    Register(dot_row("dot", &hearth::dot, &hearth::dot_out)),
    Register(dot_row("vdot", &hearth::vdot, &hearth::vdot_out)),
    Register(outer_row()),
    Register(addmv_row()),
    Register(addr_row()),
    Register(baddbmm_row()),
    Register(addbmm_row()),
    Register(linear_row("linear", true)),
    Register(linear_row("linear_without_bias", false)),
    Register(bilinear_row()),
    Register(inner_row()),
    Register(kron_row()),
    Register(cross_row()),
    Register(trace_row()),
    Register(einsum_row("einsum_matmul", "ij,jk->ik", {{{{2, 3}}, {{3, 4}}}}, matrix_product)),
    Register(einsum_row(
        "einsum_implicit", "cb,ba", {{{{2, 3}}, {{3, 4}}}},
        [](const Arrays& in) {
          const Array product = matrix_product(in);
          return build({4, 2}, [&](const Position& p) { return at(product, {p[1], p[0]}); });
        })),
    Register(einsum_row("einsum_ellipsis", "...ij,...jk->...ik", {{{{2, 3, 4}}, {{2, 4, 2}}}},
                        [](const Arrays& in) { return bmm_reference(in[0], in[1]); })),
};

struct Sum {
  const char* equation;
  Tensors operands;
  Tensor wanted;
};

TEST(Einsum, WhatEquationsMean) {
  const Tensor a = arange(6, kDouble).view({2, 3}), square = arange(9, kDouble).view({3, 3}),
               v = arange(3, kDouble), batch = arange(24, kDouble).view({2, 3, 4});
  const Sum sums[] = {
      {"ii->i", {square}, square.diagonal()},
      {"ii", {square}, square.trace()},
      {"ij->", {a}, a.sum()},
      {"ba", {a}, a.t()},
      {"bA", {a}, a.t()},
      {"i,i->i", {v, v}, v.mul(v)},
      {"i,j", {v, v}, v.outer(v)},
      {"...ij->ij", {batch}, batch.sum(0)},
      {"ij->...ji", {a}, a.t()},
      {"bij,j->bi", {batch, arange(4, kDouble)}, batch.matmul(arange(4, kDouble))},
      {"i,ij,j->", {arange(2, kDouble), a, v}, arange(2, kDouble).dot(a.mv(v))},
      {"ij,ij->ij", {a, a.narrow(1, 0, 1)}, a.mul(a.narrow(1, 0, 1))},
      {"...,...", {v.unsqueeze(1), arange(2, kDouble)}, v.unsqueeze(1).mul(arange(2, kDouble))},
      {"", {full({}, 3.0, kDouble)}, full({}, 3.0, kDouble)},
  };
  for (const Sum& sum : sums)
    EXPECT_TRUE(einsum(sum.equation, sum.operands).equal(sum.wanted)) << sum.equation;
  EXPECT_TRUE(einsum("ij,jk,k->i", {a, square, v}, {1, 2, 0, 1}).equal(a.mv(square.mv(v))));
}

TEST(Einsum, WhatEquationsMayNotSay) {
  const auto says = [](const char* equation, const Tensors& operands, const char* text) {
    try {
      einsum(equation, operands);
      ADD_FAILURE() << equation;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
          << equation << " said: " << error.what();
    }
  };
  const Tensor a = ones({2, 3});
  says("ij,jk", {a, a},
       "subscript j has size 2 for operand 1 which does not broadcast with "
       "previously seen size 3");
  says("ii->i", {a}, "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2");
  says("ij->ik", {a}, "output subscript k does not appear in the equation for any input operand");
  says("ij,j", {a}, "fewer operands were provided than specified in the equation");
  says("ij", {a, a}, "more operands were provided than specified in the equation");
  says("i1", {a}, "invalid subscript given at index 1 in the equation string");
  says("ijk", {a},
       "the number of subscripts in the equation (3) does not match the number of "
       "dimensions (2) for operand 0 and no ellipsis was given");
  says("ij->ii", {a}, "output subscript i appears more than once in the output");
  says("..ij", {a}, "found '.' for operand 0 that is not part of any ellipsis");
  says("...i...", {a}, "found '.' for operand 0 for which an ellipsis was already found");
}

TEST(Products, TensordotBroadcastsContractedDimensions) {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  EXPECT_TRUE(tensordot(a, b, 1, 0).equal(a.mm(b)));
  EXPECT_TRUE(tensordot(ones({2, 1}), b, 1, 0).equal(full({2, 4}, 3.0)));
  EXPECT_THROW(tensordot(a, b, 0, 0), Error);
}

TEST(Products, PowersOfMatrices) {
  const Tensor a = arange(4, kDouble).view({2, 2});
  EXPECT_TRUE(a.matrix_power(5).equal(a.mm(a).mm(a).mm(a).mm(a)));
  EXPECT_TRUE(a.matrix_power(0).equal(eye(2, kDouble)));
  EXPECT_TRUE(full({2, 3}, NAN).addr(ones({2}), ones({3}), 0).equal(ones({2, 3})));
}

TEST(Products, OverNothingAreZero) {
  const Tensor rows = ones({2, 3, 0});
  EXPECT_TRUE(rows.matmul(ones({0, 4})).equal(zeros({2, 3, 4})));
  EXPECT_TRUE(linear(rows, ones({4, 0})).equal(zeros({2, 3, 4})));
}

}  // namespace
}  // namespace hearth::testing
