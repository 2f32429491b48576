#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "tests/ops/products.h"

namespace hearth::testing {
namespace {

Row einsum_row(std::string name, std::string equation, std::vector<Case> cases,
               std::function<Array(const Arrays&)> reference) {
  Row row = product_row(
      std::move(name), std::move(cases),
      [equation](const Tensors& in) { return einsum(equation, in); }, std::move(reference));
  row.covers = {"bmm"};
  return row;
}

/// The product of two matrices.
Array matrix_product(const Arrays& in) {
  return summed({in[0].sizes[0], in[1].sizes[1]}, in[1].sizes[0],
                [&](const Position& p, int64_t k) {
                  return at(in[0], {p[0], k}) * at(in[1], {k, p[1]});
                });
}

const Register registered_einsum[] = {
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

/// An equation, its operands and the expected result.
struct EinsumCase {
  const char* equation;
  Tensors operands;
  Tensor wanted;
};

TEST(Einsum, Values) {
  const Tensor a = arange(6, kDouble).view({2, 3}), square = arange(9, kDouble).view({3, 3}),
               v = arange(3, kDouble), batch = arange(24, kDouble).view({2, 3, 4});
  const EinsumCase sums[] = {
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
  for (const EinsumCase& sum : sums)
    EXPECT_TRUE(einsum(sum.equation, sum.operands).equal(sum.wanted)) << sum.equation;
  EXPECT_TRUE(einsum("ij,jk,k->i", {a, square, v}, {1, 2, 0, 1}).equal(a.mv(square.mv(v))));
}

TEST(Einsum, InvalidEquationsThrow) {
  const auto expect_error = [](const char* equation, const Tensors& operands, const char* text) {
    try {
      einsum(equation, operands);
      ADD_FAILURE() << equation;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
          << equation << " threw: " << error.what();
    }
  };
  const Tensor a = ones({2, 3});
  expect_error("ij,jk", {a, a},
               "subscript j has size 2 for operand 1 which does not broadcast with "
               "previously seen size 3");
  expect_error("ii->i", {a},
               "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2");
  expect_error("ij->ik", {a},
               "output subscript k does not appear in the equation for any input operand");
  expect_error("ij,j", {a}, "fewer operands were provided than specified in the equation");
  expect_error("ij", {a, a}, "more operands were provided than specified in the equation");
  expect_error("i1", {a}, "invalid subscript given at index 1 in the equation string");
  expect_error("ijk", {a},
               "the number of subscripts in the equation (3) does not match the number of "
               "dimensions (2) for operand 0 and no ellipsis was given");
  expect_error("ij->ii", {a}, "output subscript i appears more than once in the output");
  expect_error("..ij", {a}, "found '.' for operand 0 that is not part of any ellipsis");
  expect_error("...i...", {a}, "found '.' for operand 0 for which an ellipsis was already found");
}

}  // namespace
}  // namespace hearth::testing
