// Functions and operators of c10::complex. The expected numbers are LibTorch's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <complex>
#include <limits>
#include <sstream>
#include <type_traits>

namespace {

using Number = c10::complex<double>;
using Single = c10::complex<float>;

void expect_value(Number found, double real, double imag) {
  EXPECT_NEAR(found.real(), real, 1e-11);
  EXPECT_NEAR(found.imag(), imag, 1e-11);
}

const Number kZ(0.3, -1.2), kW(2, 0.5);

TEST(ComplexFunctions, ExponentialsLogarithmsAndPowers) {
  expect_value(std::exp(kZ), 0.489131806374, -1.2581211692);
  expect_value(std::log(kZ), 0.212633867702, -1.32581766367);
  expect_value(std::log10(kZ), 0.0923457154088, -0.575795295341);
  expect_value(std::log2(kZ), 0.306765826459, -1.9127505685);
  expect_value(std::sqrt(kZ), 0.87662183628, -0.684445647106);
  expect_value(std::sqrt(Number(-4, 0)), 0, 2);
  expect_value(std::pow(kZ, kW), -2.45653087642, -1.66720118085);
  expect_value(std::pow(kZ, 2.0), -1.35, -0.72);
  expect_value(std::pow(2.0, kZ), 0.829254154901, -0.909974787063);
  expect_value(std::pow(Single(1, 2), 2.0), -3, 4);
  static_assert(std::is_same_v<decltype(std::pow(Single(), 2.0)), Number>);
  static_assert(std::is_same_v<decltype(std::exp(Single())), Single>);
}

TEST(ComplexFunctions, ExponentialsAndLogarithmsNearZero) {
  expect_value(std::log1p(kZ), 0.570516502276, -0.745419476274);
  expect_value(std::expm1(kZ), -0.510868193626, -1.2581211692);
  const Number tiny(1e-20, 2e-20);
  EXPECT_DOUBLE_EQ(std::log1p(tiny).real(), 1e-20);
  EXPECT_DOUBLE_EQ(std::log1p(tiny).imag(), 2e-20);
  EXPECT_DOUBLE_EQ(std::expm1(tiny).real(), 1e-20);
  EXPECT_DOUBLE_EQ(std::expm1(tiny).imag(), 2e-20);
}

TEST(ComplexFunctions, Trigonometry) {
  expect_value(std::sin(kZ), 0.535085307448, -1.44204351175);
  expect_value(std::cos(kZ), 1.7297853327, 0.446076331699);
  expect_value(std::tan(kZ), 0.0884703001563, -0.856469291709);
  expect_value(std::asin(kZ), 0.191129655961, -1.03014409317);
  expect_value(std::acos(kZ), 1.37966667083, 1.03014409317);
  expect_value(std::atan(kZ), 1.14716332216, -0.908889954145);
  expect_value(std::sinh(kZ), 0.110345289726, -0.974296353235);
  expect_value(std::cosh(kZ), 0.378786516648, -0.283824815963);
  expect_value(std::tanh(kZ), 1.42087496819, -1.50748971198);
  expect_value(std::asinh(kZ), 0.744840468246, -1.19414794701);
  expect_value(std::acosh(kZ), 1.03014409317, -1.37966667083);
  expect_value(std::atanh(kZ), 0.120878250409, -0.894070677321);
}

TEST(ComplexFunctions, Parts) {
  EXPECT_EQ(std::conj(kZ), Number(0.3, 1.2));
  EXPECT_EQ(std::real(kZ), 0.3);
  EXPECT_EQ(std::imag(kZ), -1.2);
  EXPECT_NEAR(std::arg(kZ), -1.32581766367, 1e-11);
  EXPECT_NEAR(std::abs(kZ), 1.23693168769, 1e-11);
  EXPECT_NEAR(std::norm(kZ), 1.53, 1e-11);
  expect_value(c10::polar(2.0, 1.0), 1.08060461174, 1.68294196962);
  EXPECT_TRUE(std::numeric_limits<Number>::is_specialized);
}

TEST(ComplexFunctions, FoundByArgumentAndThroughStd) {
  expect_value(exp(kZ), 0.489131806374, -1.2581211692);
  using namespace std;
  expect_value(exp(kZ), 0.489131806374, -1.2581211692);
  expect_value(pow(kZ, kW), -2.45653087642, -1.66720118085);
  EXPECT_NEAR(abs(kZ), 1.23693168769, 1e-11);
}

TEST(ComplexFunctions, AssignmentAndConversion) {
  Number q;
  q = 3.0;
  EXPECT_EQ(q, Number(3, 0));
  q = std::complex<double>(1, 2);
  EXPECT_EQ(q, Number(1, 2));
  q = std::complex<float>(1, 1);
  EXPECT_EQ(q, Number(1, 1));
  q = Single(1, 2);
  EXPECT_EQ(q, Number(1, 2));
  q.real(5);
  q.imag(6);
  EXPECT_EQ(+q, Number(5, 6));
  EXPECT_EQ(2 - q, Number(-3, -6));
  EXPECT_TRUE(static_cast<bool>(q) && !static_cast<bool>(Number()));
  std::ostringstream text;
  text << q;
  EXPECT_EQ(text.str(), "(5,6)");
}

}  // namespace
