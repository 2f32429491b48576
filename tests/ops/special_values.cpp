// The special functions: values at the arguments of a fixture, gradients, limits, errors and names.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "functors/special.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/special.h"
#include "hearth/tensor_literal.h"
#include "ops/call.h"
#include "tests/support/fixtures.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// A line of the fixture: a function's name, its arguments and its values.
struct FixtureLine {
  std::string name;
  std::vector<double> arguments[2], values;
};

std::vector<FixtureLine> fixture_lines() {
  std::vector<FixtureLine> lines;
  std::ifstream file(fixture_path("special_cases.txt"));
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    FixtureLine& line = lines.emplace_back();
    words >> line.name;
    for (std::string word; words >> word;) {
      std::vector<double> numbers;
      std::istringstream parts(word);
      for (std::string part; std::getline(parts, part, ':');) numbers.push_back(std::stod(part));
      line.arguments[0].push_back(numbers[0]);
      line.arguments[1].push_back(numbers.size() > 2 ? numbers[1] : 0);
      line.values.push_back(numbers.back());
    }
  }
  return lines;
}

/// special::polygamma for each order n.
Tensor polygammas(const Tensor& n, const Tensor& x) {
  std::vector<Tensor> values;
  for (int64_t i = 0; i < n.numel(); ++i)
    values.push_back(special::polygamma(n[i].item<int64_t>(), x[i]));
  return stack(values);
}

/// special::name(a, b), or special::name(a).
Tensor value_of(const std::string& name, const Tensor& a, const Tensor& b) {
  using Unary = Tensor (*)(const Tensor&);
  using Binary = Tensor (*)(const Tensor&, const Tensor&);
#define HEARTH_ENTRY(name) \
  { #name, special::name }
  static const std::map<std::string, Unary> unary{HEARTH_ENTRY(airy_ai),
                                                  HEARTH_ENTRY(bessel_j0),
                                                  HEARTH_ENTRY(bessel_j1),
                                                  HEARTH_ENTRY(bessel_y0),
                                                  HEARTH_ENTRY(bessel_y1),
                                                  HEARTH_ENTRY(digamma),
                                                  HEARTH_ENTRY(entr),
                                                  HEARTH_ENTRY(erfcx),
                                                  HEARTH_ENTRY(gammaln),
                                                  HEARTH_ENTRY(i0),
                                                  HEARTH_ENTRY(i0e),
                                                  HEARTH_ENTRY(i1),
                                                  HEARTH_ENTRY(i1e),
                                                  HEARTH_ENTRY(log_ndtr),
                                                  HEARTH_ENTRY(logit),
                                                  HEARTH_ENTRY(modified_bessel_k0),
                                                  HEARTH_ENTRY(modified_bessel_k1),
                                                  HEARTH_ENTRY(ndtri),
                                                  HEARTH_ENTRY(scaled_modified_bessel_k0),
                                                  HEARTH_ENTRY(scaled_modified_bessel_k1),
                                                  HEARTH_ENTRY(sinc),
                                                  HEARTH_ENTRY(spherical_bessel_j0)};
  static const std::map<std::string, Binary> binary{{"polygamma", polygammas},
                                                    HEARTH_ENTRY(chebyshev_polynomial_t),
                                                    HEARTH_ENTRY(chebyshev_polynomial_u),
                                                    HEARTH_ENTRY(chebyshev_polynomial_v),
                                                    HEARTH_ENTRY(chebyshev_polynomial_w),
                                                    HEARTH_ENTRY(gammainc),
                                                    HEARTH_ENTRY(gammaincc),
                                                    HEARTH_ENTRY(hermite_polynomial_h),
                                                    HEARTH_ENTRY(hermite_polynomial_he),
                                                    HEARTH_ENTRY(laguerre_polynomial_l),
                                                    HEARTH_ENTRY(legendre_polynomial_p),
                                                    HEARTH_ENTRY(shifted_chebyshev_polynomial_t),
                                                    HEARTH_ENTRY(shifted_chebyshev_polynomial_u),
                                                    HEARTH_ENTRY(shifted_chebyshev_polynomial_v),
                                                    HEARTH_ENTRY(shifted_chebyshev_polynomial_w),
                                                    HEARTH_ENTRY(xlog1py),
                                                    HEARTH_ENTRY(zeta)};
#undef HEARTH_ENTRY
  const auto found = unary.find(name);
  return found != unary.end() ? found->second(a) : binary.at(name)(a, b);
}

void expect_fixture(const FixtureLine& line, const TensorOptions& options, double relative) {
  const auto count = int64_t(line.values.size());
  const auto tensor_of = [&](const std::vector<double>& numbers) {
    return from_blob(const_cast<double*>(numbers.data()), {count}, kDouble).to(options);
  };
  const Array got =
      to_array(value_of(line.name, tensor_of(line.arguments[0]), tensor_of(line.arguments[1])));
  for (size_t i = 0; i < line.values.size(); ++i) {
    const double x = line.arguments[0][i], y = line.arguments[1][i], wanted = line.values[i];
    if (options.dtype() == kFloat && (double(float(x)) != x || double(float(y)) != y)) continue;
    const double stored = options.dtype() == kFloat ? double(float(wanted)) : wanted;
    EXPECT_TRUE(is_close(got.values[i], stored, relative, 2e-15))
        << line.name << "(" << x << ", " << y << ") = " << got.values[i] << " for " << stored;
  }
}

/// The functions that are computed in float32 for float32 inputs. All others use float64.
const std::set<std::string> kElementary{"entr", "logit", "sinc", "xlog1py"};

TEST(Special, ValuesMatchTheFixture) {
  const std::vector<FixtureLine> lines = fixture_lines();
  EXPECT_EQ(lines.size(), 39u);
  for (const FixtureLine& line : lines)
    for (const Device device : devices()) {
      expect_fixture(line, TensorOptions(kDouble).device(device), 1e-13);
      expect_fixture(line, TensorOptions(kFloat).device(device),
                     kElementary.count(line.name) ? 6e-7 : 1.3e-7);
    }
}

/// Ai(-a) is not larger than its amplitude, 1 / (sqrt(pi) a^(1/4)), even where the phase has no
/// correct digit.
TEST(Special, AiryIsBoundedForLargeArguments) {
  for (double a = 1e9; a < 1e200; a *= 977) {
    const double value = special_airy_ai(full({}, -a, kDouble)).item<double>();
    EXPECT_LE(std::fabs(value), 0.5642 / std::sqrt(std::sqrt(a))) << -a;
  }
}

/// zeta(s, q) for negative q, also near 0. For odd s, the terms of negative and of positive q + k
/// cancel in pairs.
TEST(Special, ZetaOfNegativeNumbers) {
  const auto zeta = [](double s, double q) {
    return special_zeta(full({}, s, kDouble), full({}, q, kDouble)).item<double>();
  };
  EXPECT_EQ(zeta(2, -0x1p-80), 0x1p160);
  EXPECT_EQ(zeta(3, -0x1p-80), -0x1p240);
  EXPECT_EQ(zeta(3, -0.5), zeta(3, 1.5));
  EXPECT_EQ(zeta(5, -1000.5), zeta(5, 1001.5));
}

/// Some results require no gradient; for others backward throws.
TEST(Special, MissingDerivatives) {
  const Tensor x = ones({2}).requires_grad_();
  EXPECT_FALSE(special_airy_ai(x).requires_grad());
  EXPECT_FALSE(special_chebyshev_polynomial_t(x, 3).requires_grad());
  EXPECT_ERROR(special_zeta(x, ones({2})).sum().backward(),
               "the derivative for 'zeta' is not implemented.");
  EXPECT_ERROR(igamma(x, ones({2})).sum().backward(),
               "the derivative for 'igamma: input' is not implemented.");
  EXPECT_ERROR(igammac(x, ones({2})).sum().backward(),
               "the derivative for 'igammac: input' is not implemented.");
}

/// The functions of functors/special.h have functor numbers above those of all families.
TEST(Special, FunctorNumbersAreOutsideTheFamilies) {
  std::set<std::string> found;
  for (const OpRecord* op : all_ops()) {
    const std::string name = op->info->name;
    if (name != "special_airy_ai" && name != "special_zeta" && name != "digamma") continue;
    found.insert(name);
    EXPECT_GE(fn::family_of(op->functor), fn::kFamilyCount) << name;
  }
  EXPECT_EQ(found.size(), 3u);
}

TEST(Special, Refusals) {
  EXPECT_ERROR(special_erfcx(ones({1}, kHalf)), "not implemented for 'Half'");
  EXPECT_ERROR(igamma(ones({1}, kLong), ones({1}, kLong)), "\"igamma\" not implemented for 'Long'");
  EXPECT_ERROR(polygamma(-1, ones({1})), "polygamma(n, x) does not support negative n.");
  EXPECT_ERROR(mvlgamma(ones({1}), 0), "p has to be greater than or equal to 1");
  EXPECT_ERROR(mvlgamma(ones({1}, kBool), 1), "The input tensor may not be a boolean tensor.");
  EXPECT_ERROR(mvlgamma(ones({1}, kComplexFloat), 1),
               "\"mvlgamma\" not implemented for 'ComplexFloat'");
  EXPECT_ERROR(ones({1}, kLong).lgamma_(),
               "result type Float can't be cast to the desired output type Long");
}

/// The gradients at 0 and outside the domain are PyTorch's.
TEST(Special, GradientsAtLimits) {
  const auto slope = [](const std::function<Tensor(const Tensor&)>& f, double x) {
    const Tensor at = full({}, x, kDouble).requires_grad_();
    return autograd::grad({f(at)}, {at})[0].item<double>();
  };
  EXPECT_EQ(slope(special_entr, 0), INFINITY);
  EXPECT_EQ(slope(special_i1, 0), 0.5);
  EXPECT_EQ(slope(special_i1e, 0), 0.5);
  EXPECT_EQ(slope(special_bessel_j1, 0), 0.5);
  EXPECT_EQ(slope(special_bessel_y1, 0), INFINITY);
  EXPECT_EQ(slope(sinc, 0), 0);
  const auto plain = [](const Tensor& x) { return logit(x); };
  const auto clamped = [](const Tensor& x) { return logit(x, 0.125); };
  EXPECT_EQ(slope(sinc, 1), -1);
  EXPECT_NEAR(slope(sinc, 1e-5), -3.289868133371756e-05, 1e-19);
  EXPECT_EQ(slope(plain, -0.0), -INFINITY);
  EXPECT_EQ(slope(plain, 1), INFINITY);
  EXPECT_TRUE(std::isnan(slope(plain, -0.5)));
  EXPECT_TRUE(std::isnan(slope(clamped, NAN)));
  EXPECT_EQ(slope(plain, 0), INFINITY);
  EXPECT_EQ(slope(clamped, 0.0625), 0);
  EXPECT_EQ(slope(clamped, 0.5), 4);
}

/// The gradients of a log(1 + b) are PyTorch's.
TEST(Special, GradientsOfXlog1pyAtLimits) {
  const auto slopes = [](double x, double y) {
    const Tensor a = full({}, x, kDouble).requires_grad_(), b = full({}, y, kDouble);
    return std::pair(
        autograd::grad({special_xlog1py(a, b)}, {a})[0].item<double>(),
        autograd::grad({special_xlog1py(x, b.requires_grad_())}, {b})[0].item<double>());
  };
  EXPECT_EQ(slopes(0, -2), std::pair(0., 0.));
  EXPECT_EQ(slopes(0, INFINITY), std::pair(double(INFINITY), 0.));
  EXPECT_EQ(slopes(-2, -1), std::pair(-double(INFINITY), -double(INFINITY)));
  EXPECT_EQ(slopes(0, -1).first, 0);
  EXPECT_TRUE(std::isnan(slopes(0, -1).second));
  EXPECT_TRUE(std::isnan(slopes(1, -2).first));
}

TEST(Special, NamesOfTheSameFunction) {
  const Tensor x = tensor({0.25, 0.5}), y = tensor({2., 3.});
  EXPECT_TRUE(special_gammaln(x).equal(lgamma(x)));
  EXPECT_TRUE(special_digamma(x).equal(digamma(x)));
  EXPECT_TRUE(special_psi(x).equal(digamma(x)));
  EXPECT_TRUE(special_polygamma(1, x).equal(polygamma(1, x)));
  EXPECT_TRUE(special_multigammaln(y, 2).equal(mvlgamma(y, 2)));
  EXPECT_TRUE(special_gammainc(y, x).equal(igamma(y, x)));
  EXPECT_TRUE(special_gammaincc(y, x).equal(igammac(y, x)));
  EXPECT_TRUE(special_i0(x).equal(i0(x)));
  EXPECT_TRUE(special_sinc(x).equal(sinc(x)));
  EXPECT_TRUE(special_logit(x, 0.375).equal(logit(x, 0.375)));
}

TEST(Special, NamesOfNodes) {
  const Tensor x = ones({2}).requires_grad_();
  EXPECT_EQ(special_i0e(x).grad_fn()->name(), "SpecialI0EBackward0");
  EXPECT_EQ(special_xlog1py(x, x).grad_fn()->name(), "SpecialXlog1PyBackward0");
  EXPECT_EQ(special_zeta(2, x).grad_fn()->name(), "SpecialZetaBackward1");
  EXPECT_EQ(special_zeta(x, 2).grad_fn()->name(), "SpecialZetaBackward2");
  EXPECT_EQ(special_bessel_j0(x).grad_fn()->name(), "SpecialBesselJ0Backward0");
  EXPECT_EQ(polygamma(1, x).grad_fn()->name(), "PolygammaBackward0");
}

}  // namespace
}  // namespace hearth::testing
