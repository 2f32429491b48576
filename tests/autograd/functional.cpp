// Products with Jacobians and Hessians. The values are PyTorch's.
#include "hearth/autograd/functional.h"

#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

namespace functional = autograd::functional;
using functional::Strategy;

Tensor square(const Tensor& x) { return x * x; }
Tensor cube_sum(const Tensor& x) { return x.pow(3).sum(); }

TEST(Functional, ProductsWithTheJacobian) {
  const Tensor x = vec({1, 2, 3}), v = vec({1, 0.5, -1});
  const auto [output, product] = functional::vjp(square, x, v);
  expect_values(output, {1, 4, 9});
  expect_values(product, {2, 2, -6});
  EXPECT_FALSE(output.requires_grad() || product.requires_grad());
  expect_values(functional::jvp(square, x, v).second, {2, 2, -6});
  expect_values(functional::vjp(cube_sum, x).second, {3, 12, 27});
  expect_values(functional::jvp(square, vec({2})[0]).second, {4});
}

TEST(Functional, JacobianByRowsAndColumns) {
  const Tensor x = vec({1, 2, 3}), y = vec({4, 5});
  const functional::ListFunction func = [](const variable_list& in) {
    return variable_list{in[0].unsqueeze(1) * in[1], in[1].sum(), ones({2})};
  };
  for (const Strategy strategy : {Strategy::ReverseMode, Strategy::ForwardMode}) {
    const auto blocks = functional::jacobian(func, {x, y}, false, false, strategy);
    ASSERT_EQ(blocks.size(), 3u);
    EXPECT_EQ(blocks[0][0].sizes().vec(), (std::vector<int64_t>{3, 2, 3}));
    expect_values(blocks[0][0], {4, 0, 0, 5, 0, 0, 0, 4, 0, 0, 5, 0, 0, 0, 4, 0, 0, 5});
    expect_values(blocks[0][1], {1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3});
    expect_values(blocks[1][0], {0, 0, 0});
    expect_values(blocks[1][1], {1, 1});
    expect_values(blocks[2][1], {0, 0, 0, 0});
    expect_values(functional::jacobian(square, x, false, false, strategy),
                  {2, 0, 0, 0, 4, 0, 0, 0, 6});
    EXPECT_EQ(functional::jacobian(square, empty({0}), false, false, strategy).sizes().vec(),
              (std::vector<int64_t>{0, 0}));
  }
}

TEST(Functional, Hessian) {
  const Tensor x = vec({1, 2, 3});
  // The last input has no influence.
  const functional::ListFunction func = [](const variable_list& in) {
    return variable_list{(in[0].pow(2) * in[1]).sum()};
  };
  for (const Strategy strategy : {Strategy::ReverseMode, Strategy::ForwardMode}) {
    const Tensor block = functional::hessian(cube_sum, x, false, false, strategy);
    expect_values(block, {6, 0, 0, 0, 12, 0, 0, 0, 18});
    EXPECT_FALSE(block.requires_grad() || x.requires_grad());
    const auto blocks = functional::hessian(func, {x, vec({4}), vec({5})}, false, false, strategy);
    expect_values(blocks[0][0], {8, 0, 0, 0, 8, 0, 0, 0, 8});
    expect_values(blocks[0][1], {2, 4, 6});
    EXPECT_EQ(blocks[0][1].sizes().vec(), (std::vector<int64_t>{3, 1}));
    expect_values(blocks[1][0], {2, 4, 6});
    expect_values(blocks[1][1], {0});
    expect_values(blocks[0][2], {0, 0, 0});
    expect_values(blocks[2][0], {0, 0, 0});
  }
  EXPECT_ERROR(functional::hessian(cube_sum, x, true, false, Strategy::ForwardMode),
               "`create_graph=True` and `strategy=\"forward-mode\"` are not supported together");
}

TEST(Functional, ProductsWithTheHessian) {
  const Tensor x = vec({1, 2, 3});
  for (const auto& [output, product] :
       {functional::vhp(cube_sum, x, x), functional::hvp(cube_sum, x, x)}) {
    expect_values(output, {36});
    expect_values(product, {6, 24, 54});
  }
  const functional::ListFunction func = [](const variable_list& in) {
    return variable_list{(in[0] * in[1]).sum() + in[2].sum()};
  };
  const variable_list inputs{x, vec({4, 5, 6}), x}, v{vec({1, 0, 2}), x, x};
  for (const auto& product :
       {functional::vhp(func, inputs, v).second, functional::hvp(func, inputs, v).second}) {
    expect_values(product[0], {1, 2, 3});
    expect_values(product[1], {1, 0, 2});
    expect_values(product[2], {0, 0, 0});
  }
}

TEST(Functional, CreateGraphKeepsTheInputsGraph) {
  const Tensor x = leaf({1, 2, 3});
  functional::jacobian(square, x, true).sum().backward();
  expect_values(x.grad(), {2, 2, 2});
  x.mutable_grad() = Tensor();
  functional::jvp(cube_sum, x, vec({1, 1, 1}), true).second.backward();
  expect_values(x.grad(), {6, 12, 18});
  EXPECT_FALSE(functional::vjp(square, x, x).second.requires_grad());
}

TEST(Functional, ForwardModeCallsTheFunctionWithCopies) {
  const Tensor x = vec({1, 2, 3});
  const functional::Function writes = [](const Tensor& t) {
    t.mul_(2);
    return t * t;
  };
  expect_values(functional::jacobian(writes, x, false, false, Strategy::ForwardMode).diagonal(),
                {8, 16, 24});
  expect_values(x, {1, 2, 3});
}

TEST(Functional, RefusesMixtureOfRealAndComplex) {
  const Tensor x = vec({1, 2}), z = view_as_complex(vec({1, 3}));
  EXPECT_ERROR(functional::vjp(square, x, x.to(kComplexFloat)),
               "both grad_output and output are required to have the same dtype");
  EXPECT_ERROR(functional::jacobian(square, z),
               "grad can be implicitly created only for real scalar outputs");
  expect_values(view_as_real(functional::jacobian(square, z, false, false, Strategy::ForwardMode)),
                {2, 6});
}

TEST(Functional, WorksWithoutGradMode) {
  const NoGradGuard off;
  expect_values(functional::hessian(cube_sum, vec({1, 2})), {6, 0, 0, 12});
  EXPECT_FALSE(GradMode::is_enabled());
}

TEST(Functional, RefusesWrongVectors) {
  const Tensor x = vec({1, 2, 3});
  EXPECT_ERROR(functional::vjp(square, x),
               "The vector v can only be None if the user-provided function returns a single "
               "Tensor with a single element.");
  EXPECT_ERROR(functional::hvp(cube_sum, x),
               "The vector v can only be None if the input to the user-provided function is a "
               "single Tensor with a single element.");
  EXPECT_ERROR(functional::jvp(square, x, vec({1, 2})),
               "v has invalid size: should be [3] but got [2].");
  const functional::ListFunction first = [](const variable_list& in) {
    return variable_list{in[0]};
  };
  EXPECT_ERROR(functional::jvp(first, {x, x}, {x}),
               "v is a tuple of invalid length: should be 2 but got 1.");
  EXPECT_ERROR(functional::jvp(first, {x, x}, {x, Tensor()}), "Entry 1 in v is undefined");
  EXPECT_ERROR(functional::hessian(square, x),
               "The Tensor returned by the function given to hessian should contain a single "
               "element");
  EXPECT_ERROR(functional::jacobian([](const Tensor&) { return Tensor(); }, x),
               "Output 0 of the user-provided function is undefined");
  EXPECT_ERROR(functional::jacobian(square, arange(3)), "floating point");
  EXPECT_ERROR(functional::jacobian(square, Tensor()), "must be defined");
}

TEST(Functional, StrictModeRefusesIndependentInputs) {
  const Tensor x = vec({1, 2, 3});
  const functional::ListFunction first = [](const variable_list& in) {
    return variable_list{in[0].pow(2).sum()};
  };
  EXPECT_ERROR(functional::vjp(first, {x, x}, {}, false, true),
               "The output of the user-provided function is independent of input 1. This is not "
               "allowed in strict mode.");
  EXPECT_ERROR(functional::jvp(first, {x, x}, {x, x}, false, true),
               "The output of the user-provided function is independent of input 1.");
  EXPECT_ERROR(functional::jacobian(first, {x, x}, false, true),
               "Output 0 of the user-provided function is independent of input 1.");
  EXPECT_ERROR(functional::hessian(first, {x, x}, false, true),
               "found that the jacobian of the user-provided function with respect to input 1 is "
               "independent of the input.");
  EXPECT_ERROR(functional::vhp([](const Tensor& t) { return t.sum(); }, x, x, false, true),
               "with respect to input 0 is independent of the input.");
  EXPECT_ERROR(functional::jacobian([](const Tensor& t) { return t.detach(); }, x, false, true),
               "Output 0 of the user-provided function does not require gradients.");
  EXPECT_ERROR(functional::jacobian([](const Tensor& t) { return t * 2; }, x, true, true),
               "not allowed in strict mode when create_graph=True.");
  EXPECT_ERROR(functional::jacobian(square, x, false, true, Strategy::ForwardMode),
               "are not supported together");
}

}  // namespace
}  // namespace hearth::testing
