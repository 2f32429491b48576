// The out= forms of creation functions, and of functions that copy a computed result to `out`.
#include <gtest/gtest.h>

#include "hearth/hearth.h"

namespace hearth::testing {
namespace {

TEST(OutForms, CreationFunctionsFillAndResize) {
  Tensor out = empty({0}, kInt);
  const auto emptied = [&out]() -> Tensor& { return out.resize_({0}); };
  EXPECT_TRUE(ones_out(out, {2, 2}).equal(ones({2, 2}, kInt)));
  EXPECT_TRUE(zeros_out(emptied(), {3}).equal(zeros({3}, kInt)));
  EXPECT_TRUE(full_out(emptied(), {2}, 7).equal(full({2}, 7, kInt)));
  EXPECT_TRUE(arange_out(emptied(), 4).equal(tensor({0, 1, 2, 3}, kInt)));
  EXPECT_TRUE(arange_out(emptied(), 1, 7, 2).equal(tensor({1, 3, 5}, kInt)));
  EXPECT_TRUE(eye_out(emptied(), 2).equal(tensor({{1, 0}, {0, 1}}, kInt)));
  EXPECT_EQ(empty_out(emptied(), {5, 1}).sizes(), IntArrayRef({5, 1}));
  Tensor real = empty({0}, kDouble);
  EXPECT_TRUE(linspace_out(real, 0, 1, 3).equal(tensor({0.0, 0.5, 1.0}, kDouble)));
  EXPECT_EQ(out.scalar_type(), kInt);
}

TEST(OutForms, RandomFunctionsDrawTheSameNumbers) {
  Tensor out = empty({0});
  const auto draws_same = [&out](Tensor& (*into)(Tensor&), Tensor (*create)()) {
    manual_seed(3);
    into(out);
    manual_seed(3);
    return out.equal(create());
  };
  EXPECT_TRUE(draws_same([](Tensor& o) -> Tensor& { return rand_out(o, {20}); },
                         [] { return rand({20}); }));
  EXPECT_TRUE(draws_same([](Tensor& o) -> Tensor& { return randn_out(o, {20}); },
                         [] { return randn({20}); }));
  EXPECT_TRUE(draws_same([](Tensor& o) -> Tensor& { return randint_out(o, 2, 9, {20}); },
                         [] { return randint(2, 9, {20}, kFloat); }));
  EXPECT_TRUE(draws_same([](Tensor& o) -> Tensor& { return randperm_out(o, 20); },
                         [] { return randperm(20, kFloat); }));
  const auto probabilities = [] { return full({20}, 0.5); };
  EXPECT_TRUE(draws_same([](Tensor& o) -> Tensor& { return bernoulli_out(o, full({20}, 0.5)); },
                         [] { return full({20}, 0.5).bernoulli(); }));
  Tensor drawn = empty({0}, kLong);
  manual_seed(3);
  multinomial_out(drawn, probabilities(), 5);
  manual_seed(3);
  EXPECT_TRUE(drawn.equal(probabilities().multinomial(5)));
}

TEST(OutForms, WriteTheFunctionsResult) {
  const Tensor x = arange(6, kFloat).view({2, 3});
  Tensor out;
  const auto fresh = [&out]() -> Tensor& { return out = empty({0}); };
  EXPECT_TRUE(mean_out(fresh(), x, 1).equal(tensor({1.0, 4.0}, kFloat)));
  EXPECT_TRUE(stack_out(fresh(), {x[0], x[1]}).equal(x));
  EXPECT_TRUE(linear_out(fresh(), x, ones({1, 3})).equal(tensor({{3.0}, {12.0}}, kFloat)));
  EXPECT_TRUE(adaptive_avg_pool2d_out(fresh(), x.view({1, 1, 2, 3}), {1, 1})
                  .equal(full({1, 1, 1, 1}, 2.5)));
  Tensor indices = empty({0}, kLong);
  EXPECT_TRUE(searchsorted_out(indices, x[0], x[0]).equal(tensor({0, 1, 2}, kLong)));
}

TEST(OutForms, RejectInvalidOutputs) {
  Tensor integers = empty({0}, kLong), leaf = ones({2}).requires_grad_();
  EXPECT_THROW(rand_out(integers, {2}), Error);
  EXPECT_THROW(mean_out(integers, ones({2}), 0), Error);
  EXPECT_THROW(arange_out(leaf, 3), Error);
  Tensor undefined;
  EXPECT_THROW(zeros_out(undefined, {2}), Error);
  EXPECT_THROW(eye_out(undefined, 2), Error);
}

}  // namespace
}  // namespace hearth::testing
