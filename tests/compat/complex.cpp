// Complex numbers and tensors. The expected results are LibTorch's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <complex>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;
using Number = c10::complex<double>;

torch::Tensor numbers() {
  return torch::complex(torch::tensor({1.0, -3.0}), torch::tensor({2.0, 4.0}));
}

Number last_number(const torch::Tensor& t) { return t.reshape({-1})[-1].item<Number>(); }

void expect_near_number(Number a, Number b) {
  EXPECT_NEAR(a.real(), b.real(), 1e-6);
  EXPECT_NEAR(a.imag(), b.imag(), 1e-6);
}

TEST(Complex, ArithmeticOfNumbers) {
  using namespace c10::complex_literals;
  Number z(1, 2);
  z *= Number(0, 1);
  EXPECT_EQ(z, Number(-2, 1));
  EXPECT_EQ(z / Number(0, 1), Number(1, 2));
  const Number unknown = z / Number(0, NAN);
  EXPECT_TRUE(std::isnan(unknown.real()) && std::isnan(unknown.imag()));
  EXPECT_EQ(std::conj(z) + 1.0_id, Number(-2, 0));
  EXPECT_DOUBLE_EQ(std::abs(Number(3, 4)), 5);
  EXPECT_EQ(static_cast<std::complex<double>>(z), std::complex<double>(-2, 1));
  EXPECT_EQ(Number(std::complex<float>(1, 2)), Number(1, 2));
  EXPECT_EQ(c10::Scalar(z).conj().toComplexDouble(), Number(-2, -1));
}

TEST(Complex, PartsAreViews) {
  torch::Tensor z = numbers();
  EXPECT_EQ(z.scalar_type(), torch::kComplexFloat);
  EXPECT_TRUE(z.is_complex() && torch::is_complex(z) && !z.is_conj());
  torch::real(z).fill_(5);
  torch::view_as_real(z).select(-1, 1).mul_(2);
  EXPECT_EQ(last_number(z), Number(5, 8));
  EXPECT_TRUE(torch::view_as_complex(torch::view_as_real(z)).equal(z));
  EXPECT_TRUE(torch::imag(z).equal(torch::tensor({4.0f, 8.0f})));
  EXPECT_TRUE(torch::real(torch::ones(2)).equal(torch::ones(2)));
}

TEST(Complex, FunctionsOfNumbers) {
  const torch::Tensor z = numbers();
  EXPECT_TRUE(z.abs().allclose(torch::tensor({std::sqrt(5.0f), 5.0f})));
  EXPECT_TRUE(torch::angle(z).allclose(torch::atan2(torch::imag(z), torch::real(z))));
  expect_near_number(last_number(z.sgn()), Number(-0.6, 0.8));
  expect_near_number(last_number(torch::polar(z.abs(), z.angle())), Number(-3, 4));
  expect_near_number(last_number(z.conj().resolve_conj()), Number(-3, -4));
  expect_near_number(last_number(z * z - z / 2 + 1), Number(-4.5, -26));
  expect_near_number(last_number(z.exp().log()), Number(-3, 4 - 2 * M_PI));
  expect_near_number(last_number(z.pow(2).sqrt()), Number(3, -4));
  expect_near_number(last_number(2 * z + Number(0, 1)), Number(-6, 9));
  expect_near_number(last_number(z.add(z, Number(0, 1))), Number(-7, 1));
  expect_near_number(z.sum().item<Number>(), Number(-2, 6));
  expect_near_number(z.prod().item<Number>(), Number(-11, -2));
  EXPECT_FLOAT_EQ(z.norm().item<float>(), std::sqrt(30.0f));
  EXPECT_FLOAT_EQ(z.var().item<float>(), 10);
  expect_near_number(torch::vdot(z, z).item<Number>(), Number(30, 0));
  expect_near_number(torch::dot(z, z).item<Number>(), Number(-10, -20));
  expect_near_number(last_number(torch::outer(z, z).mm(z.unsqueeze(1))), Number(110, 20));
  EXPECT_TRUE(z.isfinite().all().item<bool>());
  EXPECT_TRUE((z == z).all().item<bool>());
}

TEST(Complex, Promotion) {
  const Number i(0, 1);
  EXPECT_EQ((torch::ones(2) * i).scalar_type(), torch::kComplexFloat);
  EXPECT_EQ((torch::ones(2, torch::kDouble) * i).scalar_type(), torch::kComplexDouble);
  EXPECT_EQ((torch::ones(2, torch::kLong) * i).scalar_type(), torch::kComplexFloat);
  EXPECT_EQ(torch::full({2}, i).scalar_type(), torch::kComplexFloat);
  EXPECT_EQ(torch::result_type(numbers(), 1.0), torch::kComplexFloat);
  EXPECT_EQ(torch::zeros(2, torch::kComplexDouble).abs().scalar_type(), torch::kDouble);
}

TEST(Complex, GradientsFollowPyTorchsConvention) {
  const torch::Tensor z = numbers().requires_grad_(), x = torch::tensor({2.0f, 3.0f});
  x.requires_grad_();
  (z * z * x).abs().sum().backward();
  // The loss is |z|² x. PyTorch's gradient is twice d loss / d conj(z), so 2 z x.
  EXPECT_TRUE(z.grad().allclose((2 * z * x).detach()));
  EXPECT_TRUE(x.grad().allclose(z.abs().square().detach()));
  EXPECT_EQ(x.grad().scalar_type(), torch::kFloat);
  const torch::Tensor w = numbers().requires_grad_();
  torch::real(w.exp()).sum().backward();
  EXPECT_TRUE(w.grad().allclose(w.exp().conj().detach()));
  EXPECT_NE(text_of_error([&] {
              (w * w).sum().backward();
            }).find("grad can be computed only for real scalar outputs but got "),
            std::string::npos);
}

TEST(Complex, Errors) {
  const torch::Tensor z = numbers(), x = torch::ones(2);
  EXPECT_EQ(text_of_error([&] { z.abs_(); }), "In-place abs is not supported for complex tensors.");
  EXPECT_EQ(text_of_error([&] { torch::imag(x); }),
            "imag is not implemented for tensors with non-complex dtypes.");
  EXPECT_EQ(text_of_error([&] { torch::complex(x, x.to(torch::kDouble)); }),
            "Expected object of scalar type Float but got scalar type Double for second argument");
  EXPECT_EQ(text_of_error([&] { torch::view_as_complex(torch::ones(3)); }),
            "Tensor must have a last dimension of size 2");
  EXPECT_EQ(text_of_error([&] { x.mul_(Number(0, 1)); }),
            "result type ComplexFloat can't be cast to the desired output type Float");
}

TEST(Complex, RandomNumbersOfBothParts) {
  torch::manual_seed(1);
  const torch::Tensor z = torch::randn({20}, torch::kComplexFloat);
  torch::manual_seed(1);
  EXPECT_TRUE(torch::view_as_real(z).allclose(torch::randn({20, 2}) * std::sqrt(0.5)));
}

}  // namespace
