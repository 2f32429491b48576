// Values and gradients of complex operators compared with PyTorch's; tests/oracle/complex_cases.py
// made the fixture. Its operands have zeros and numbers on branch cuts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/support/fixtures.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

using Function = Tensor (*)(const Tensor& z, const Tensor& w);

complex<double> number(double real, double imag) { return {real, imag}; }

#define COMPLEX_UNARY(name)                                               \
  {                                                                       \
#name, [](const Tensor& z, const Tensor&) { return hearth::name(z); } \
  }
#define COMPLEX_CASE(name, ...)                                                                    \
  {                                                                                                \
#name, [](const Tensor& z, [[maybe_unused]] const Tensor& w) -> Tensor { return __VA_ARGS__; } \
  }

const std::map<std::string, Function> functions{
    COMPLEX_UNARY(exp),
    COMPLEX_UNARY(exp2),
    COMPLEX_UNARY(expm1),
    COMPLEX_UNARY(log),
    COMPLEX_UNARY(log2),
    COMPLEX_UNARY(log10),
    COMPLEX_UNARY(log1p),
    COMPLEX_UNARY(sqrt),
    COMPLEX_UNARY(rsqrt),
    COMPLEX_UNARY(square),
    COMPLEX_UNARY(reciprocal),
    COMPLEX_UNARY(sin),
    COMPLEX_UNARY(cos),
    COMPLEX_UNARY(tan),
    COMPLEX_UNARY(asin),
    COMPLEX_UNARY(acos),
    COMPLEX_UNARY(atan),
    COMPLEX_UNARY(sinh),
    COMPLEX_UNARY(cosh),
    COMPLEX_UNARY(tanh),
    COMPLEX_UNARY(asinh),
    COMPLEX_UNARY(acosh),
    COMPLEX_UNARY(atanh),
    COMPLEX_UNARY(sigmoid),
    COMPLEX_UNARY(abs),
    COMPLEX_UNARY(angle),
    COMPLEX_UNARY(sgn),
    COMPLEX_UNARY(neg),
    COMPLEX_UNARY(conj),
    COMPLEX_UNARY(conj_physical),
    COMPLEX_UNARY(sum),
    COMPLEX_UNARY(mean),
    COMPLEX_UNARY(prod),
    COMPLEX_UNARY(real),
    COMPLEX_UNARY(imag),
    COMPLEX_CASE(var, z.var()),
    COMPLEX_CASE(std, z.std()),
    COMPLEX_CASE(add, z.add(w, number(1, -2))),
    COMPLEX_CASE(sub, z.sub(w, number(0, 0.5))),
    COMPLEX_CASE(mul, z* w),
    COMPLEX_CASE(div, z / w),
    COMPLEX_CASE(pow, z.pow(w)),
    COMPLEX_CASE(pow_number, z.pow(2.5)),
    COMPLEX_CASE(pow_complex_number, z.pow(number(1, -1))),
    COMPLEX_CASE(pow_zero, z.pow(0)),
    COMPLEX_CASE(number_pow, hearth::pow(-2, z)),
    COMPLEX_CASE(cumsum, z.cumsum(1)),
    COMPLEX_CASE(cumprod, z.cumprod(1)),
    COMPLEX_CASE(prod_dim, z.prod(1)),
    COMPLEX_CASE(mm, z.mm(w.t())),
    COMPLEX_CASE(vdot, z.flatten().vdot(w.flatten())),
    COMPLEX_CASE(dot, z.flatten().dot(w.flatten())),
    COMPLEX_CASE(lerp, z.lerp(w, number(0.3, 0.1))),
    COMPLEX_CASE(addcmul, z.addcmul(z, w, number(0, 2))),
    COMPLEX_CASE(addcdiv, z.addcdiv(z, w, number(0, 2))),
    COMPLEX_CASE(norm, z.norm()),
    COMPLEX_CASE(norm_1, z.norm(1)),
    COMPLEX_CASE(norm_inf, linalg_vector_norm(z, INFINITY)),
    COMPLEX_CASE(complex, make_complex(real(z), imag(w))),
    COMPLEX_CASE(polar, polar(z.abs() + 1, real(w))),
    COMPLEX_CASE(where, hearth::where(real(z) > 0, z, w)),
    COMPLEX_CASE(real_times_complex, real(z) * w),
    COMPLEX_CASE(masked_fill, z.masked_fill(real(w) > 0, number(1, 1))),
    COMPLEX_CASE(cat, hearth::cat({z, w.conj()})),
    COMPLEX_CASE(var_dim, z.var(1)),
    COMPLEX_CASE(float_power, z.float_power(3)),
    COMPLEX_CASE(acosh_cut, make_complex(real(z).abs() * -1 - 1.5, imag(w) * 0).acosh()),
};
#undef COMPLEX_UNARY
#undef COMPLEX_CASE

/// The numbers of each section of a case.
using Sections = std::map<std::string, std::vector<double>>;

Sections sections_of(std::istringstream& words) {
  Sections result;
  std::vector<double>* section = nullptr;
  for (std::string word; words >> word;) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (*end != 0)
      section = &result[word];
    else
      section->push_back(value);
  }
  return result;
}

Tensor operand(const std::vector<double>& parts, Device device) {
  std::vector<double> copy = parts;
  const Tensor pairs = from_blob(copy.data(), {2, 3, 2}, TensorOptions(kDouble)).clone();
  return view_as_complex(pairs).to(device).requires_grad_();
}

/// Compares the parts of a tensor's elements; those of a real tensor have imaginary parts of 0.
void expect_parts(const Tensor& got, const std::vector<double>& wanted, const std::string& what) {
  const Tensor complex = got.detach().to(kComplexDouble);
  const std::vector<double> parts = to_array(view_as_real(complex)).values;
  ASSERT_EQ(parts.size(), wanted.size()) << what;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_equal = parts[i] == wanted[i] || (std::isnan(parts[i]) && std::isnan(wanted[i]));
    EXPECT_TRUE(is_equal || std::abs(parts[i] - wanted[i]) <= 1e-12 * (1 + std::abs(wanted[i])))
        << what << ", part " << i << ": " << parts[i] << " for " << wanted[i];
  }
}

void check(const std::string& name, const Sections& sections, Device device) {
  const Tensor z = operand(sections.at("z"), device), w = operand(sections.at("w"), device);
  const Tensor y = functions.at(name)(z, w);
  expect_parts(y, sections.at("y"), name);
  const Tensor order = arange(y.numel(), TensorOptions(kDouble).device(device)).view(y.sizes());
  const Tensor grad = make_complex(1 + order / 2, order / -3);
  y.backward(y.is_complex() ? grad : real(grad));
  for (const auto& [tensor, section] : {std::pair(z, "dz"), std::pair(w, "dw")}) {
    const Tensor gradient = tensor.grad().defined() ? tensor.grad() : zeros_like(tensor);
    expect_parts(gradient, sections.at(section), name + ", " + section);
  }
}

TEST(ComplexOracle, ValuesAndGradientsArePyTorchs) {
  std::ifstream file(fixture_path("complex_cases.txt"));
  size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const Sections sections = sections_of(words);
    for (const Device device : devices()) check(name, sections, device);
  }
  EXPECT_EQ(cases, functions.size());
}

}  // namespace
}  // namespace hearth::testing
