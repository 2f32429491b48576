#include "tests/ops/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearth/autograd.h"

namespace hearth::testing {
namespace {

Array mv_reference(const Array& mat, const Array& vec) {
  return summed({mat.sizes[0]}, vec.sizes[0], [&](const Position& p, int64_t k) {
    return at(mat, {p[0], k}) * vec.values[size_t(k)];
  });
}
Array outer_reference(const Array& a, const Array& b) {
  return build({a.sizes[0], b.sizes[0]},
               [&](const Position& p) { return a.values[size_t(p[0])] * b.values[size_t(p[1])]; });
}
Array sum_over_batches(const Array& batches) {
  return summed({batches.sizes[1], batches.sizes[2]}, batches.sizes[0],
                [&](const Position& p, int64_t k) {
                  return at(batches, {k, p[0], p[1]});
                });
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

/// A row for 2 * input 0 (broadcast) + 3 * product.
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
  Row row = product_row(
      "bilinear", {{{{2, 3}}, {{2, 4}}, {{5, 3, 4}}, {{5}}}},
      [](const Tensors& in) { return bilinear(in[0], in[1], in[2], in[3]); },
      [](const Arrays& in) {
        const Array out = summed({2, 5}, 12, [&](const Position& p, int64_t k) {
          return at(in[0], {p[0], k / 4}) * at(in[2], {p[1], k / 4, k % 4}) *
                 at(in[1], {p[0], k % 4});
        });
        return map({out, in[3]}, [](const double* x) { return x[0] + x[1]; });
      });
  row.refusals = {{[] {
                     bilinear(ones({}), ones({}), ones({1, 1, 1}));
                   },
                   "Dimension specified as -1 but tensor has no dimensions"},
                  {[] {
                     bilinear(ones({2}), ones({2}), ones({1, 1}));
                   },
                   "bilinear(): weight must be 3D, got 2D"}};
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

const Register registered_products[] = {
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
};

TEST(Products, TensordotBroadcastsContractedDimensions) {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  EXPECT_TRUE(tensordot(a, b, 1, 0).equal(a.mm(b)));
  EXPECT_TRUE(tensordot(ones({2, 1}), b, 1, 0).equal(full({2, 4}, 3.0)));
  EXPECT_THROW(tensordot(a, b, 0, 0), Error);
}

TEST(Products, MatrixPowersAndAddrWithBetaZero) {
  const Tensor a = arange(4, kDouble).view({2, 2});
  EXPECT_TRUE(a.matrix_power(5).equal(a.mm(a).mm(a).mm(a).mm(a)));
  EXPECT_TRUE(a.matrix_power(0).equal(eye(2, kDouble)));
  EXPECT_TRUE(full({2, 3}, NAN).addr(ones({2}), ones({3}), 0).equal(ones({2, 3})));
}

TEST(Products, SumsOverNoElementsAreZero) {
  const Tensor rows = ones({2, 3, 0});
  EXPECT_TRUE(rows.matmul(ones({0, 4})).equal(zeros({2, 3, 4})));
  EXPECT_TRUE(linear(rows, ones({4, 0})).equal(zeros({2, 3, 4})));
}

}  // namespace
}  // namespace hearth::testing
