#include "seam/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hearth/threads.h"
#include "tests/kernels/guarded.h"

namespace hearth::testing {
namespace {

using Sizes = std::vector<int64_t>;

struct Case {
  Sizes sizes;
  Sizes strides;  // empty: contiguous
  std::vector<bool> reduce;
};

Sizes reduced_sizes(const Case& c) {
  Sizes out = c.sizes;
  for (size_t d = 0; d < out.size(); ++d)
    if (c.reduce[d]) out[d] = 1;
  return out;
}

/// The index of the output element to which input element i contributes.
int64_t output_of(const Case& c, int64_t i) {
  int64_t result = 0, stride = 1;
  for (size_t d = c.sizes.size(); d-- > 0;) {
    const int64_t index = i % c.sizes[d];
    i /= c.sizes[d];
    if (c.reduce[d]) continue;
    result += index * stride;
    stride *= c.sizes[d];
  }
  return result;
}

std::vector<Case> cases() {
  return {
      {{}, {}, {}},
      {{1}, {}, {true}},
      {{7}, {}, {true}},
      {{7}, {}, {false}},
      {{1000}, {3}, {true}},
      {{1000}, {0}, {true}},
      {{300001}, {}, {true}},
      {{5, 0}, {}, {false, true}},
      {{0, 5}, {}, {false, true}},
      {{33, 65}, {}, {false, true}},
      {{33, 65}, {}, {true, false}},
      {{33, 65}, {}, {true, true}},
      {{33, 65}, {1, 33}, {true, false}},
      {{33, 65}, {1, 33}, {false, true}},
      {{33, 65}, {1, 40}, {true, true}},
      {{3, 1037}, {2000, 1}, {true, false}},
      {{2003, 3}, {}, {true, false}},
      {{2003, 10}, {}, {true, false}},
      {{2003, 3}, {}, {false, true}},
      {{9001, 40}, {}, {true, false}},
      {{300, 1500}, {}, {true, false}},
      {{4, 7, 49}, {}, {true, false, true}},
      {{4, 7, 49}, {343, 1, 7}, {true, false, true}},
      {{4, 7, 49}, {}, {false, true, false}},
      {{5, 6, 3}, {}, {true, false, true}},
      {{5, 6, 3}, {0, 1, 6}, {false, true, true}},
      {{5, 6, 3}, {1, 0, 5}, {true, true, false}},
      {{2, 3, 4, 5, 6}, {}, {false, true, false, true, false}},
      {{2, 3, 4, 5, 6}, {1, 2, 6, 24, 120}, {true, false, true, false, true}},
      {{2, 70, 300}, {}, {false, true, true}},
      {{600, 200, 3}, {}, {true, false, true}},
  };
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>)
    return double(value.real());
  else
    return double(value);
}

/// Fills with `num_values` different integers: around zero, or from zero in uint8 and bool.
template <class T>
void fill(Guarded<T>& x, int num_values) {
  std::mt19937 random(1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int value = int(random() % unsigned(num_values)) -
                      (std::is_signed_v<T> || sizeof(T) > 1 ? num_values / 2 : 0);
    if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>)
      x[i] = T(typename T::value_type(value), typename T::value_type(random() % 5));
    else
      x[i] = T(value);
  }
}

template <class In, class Out, class F, class Combine>
void check(const F& functor, double start, Combine combine, int num_values = 7) {
  int case_index = 0;
  for (const Case& c : cases()) {
    Guarded<In> in(c.sizes, c.strides);
    Guarded<Out> out(reduced_sizes(c));
    fill(in, num_values);
    std::vector<double> expected(size_t(out.numel()), start);
    for (int64_t i = 0; i < in.numel(); ++i) {
      double& e = expected[size_t(output_of(c, i))];
      e = combine(e, as_double(in[i]));
    }
    run_on_cpu(reduce_params(functor, in.view(), out.view()));
    for (int64_t i = 0; i < out.numel(); ++i)
      ASSERT_EQ(as_double(out[i]), as_double(Out(expected[size_t(i)])))
          << F::info.name << " of " << name_of(dtype_of<In>) << ", case " << case_index
          << ", output " << i;
    ASSERT_TRUE(out.intact());
    ++case_index;
  }
}

const auto add = [](double a, double b) { return a + b; };
const auto larger = [](double a, double b) { return a > b ? a : b; };
const auto smaller = [](double a, double b) { return a < b ? a : b; };
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Reduce, SumsEveryDtype) {
  check<uint8_t, int64_t>(fn::Sum{}, 0, add);
  check<int8_t, int64_t>(fn::Sum{}, 0, add);
  check<int16_t, int64_t>(fn::Sum{}, 0, add);
  check<int32_t, int64_t>(fn::Sum{}, 0, add);
  check<int64_t, int64_t>(fn::Sum{}, 0, add);
  check<bool, int64_t>(fn::Sum{}, 0, add);
  check<Half, float>(fn::Sum{}, 0, add);
  check<Half, Half>(fn::Sum{}, 0, add, 2);
  check<BFloat16, float>(fn::Sum{}, 0, add);
  check<float, float>(fn::Sum{}, 0, add);
  check<float, double>(fn::Sum{}, 0, add);
  check<double, double>(fn::Sum{}, 0, add);
  check<int32_t, float>(fn::Sum{}, 0, add);
  check<complex<float>, complex<float>>(fn::Sum{}, 0, add);
  check<complex<double>, complex<double>>(fn::Sum{}, 0, add);
}

TEST(Reduce, FindsMaximaAndMinima) {
  check<float, float>(fn::Max{}, -kInf, larger, 1000);
  check<float, float>(fn::Min{}, kInf, smaller, 1000);
  check<double, double>(fn::Max{}, -kInf, larger, 1000);
  check<BFloat16, BFloat16>(fn::Min{}, kInf, smaller, 100);
  check<Half, Half>(fn::Max{}, -kInf, larger, 100);
}

TEST(Reduce, AnyAndAllAreMaxAndMinInBool) {
  const auto any = [](double a, double b) { return double(a != 0 || b != 0); };
  const auto all = [](double a, double b) { return double(a != 0 && b != 0); };
  check<bool, bool>(fn::Max{}, 0, any, 2);
  check<bool, bool>(fn::Min{}, 1, all, 2);
  check<float, bool>(fn::Max{}, 0, any, 2);
}

TEST(Reduce, ComplexSumKeepsImaginaryParts) {
  Guarded<complex<float>> in({1000}), out({1});
  float real = 0, imag = 0;
  for (int i = 0; i < 1000; ++i) {
    in[i] = {float(i % 7), float(i % 11 - 5)};
    real += in[i].real();
    imag += in[i].imag();
  }
  run_on_cpu(reduce_params(fn::Sum{}, in.view(), out.view()));
  EXPECT_EQ(out[0], complex<float>(real, imag));
}

TEST(Reduce, MultipliesComplexNumbers) {
  Guarded<complex<double>> in({4}), out({1});
  in[0] = {1, 1};
  in[1] = {0, 2};
  in[2] = {3, 0};
  in[3] = {1, -1};
  run_on_cpu(reduce_params(fn::Prod{}, in.view(), out.view()));
  EXPECT_EQ(out[0], complex<double>(0, 12));  // (1+i)(1-i) * 2i * 3
}

TEST(Reduce, IntegersWrapAround) {
  Guarded<int64_t> in({3}), out({1});
  in[0] = std::numeric_limits<int64_t>::max();
  in[1] = 1;
  in[2] = 5;
  run_on_cpu(reduce_params(fn::Sum{}, in.view(), out.view()));
  EXPECT_EQ(out[0], std::numeric_limits<int64_t>::min() + 5);
}

TEST(Reduce, FindsExtremesOfInt32) {
  Guarded<int32_t> in({70}), largest({1}), smallest({1});
  for (int i = 0; i < 70; ++i) in[i] = i == 3 ? std::numeric_limits<int32_t>::min() : -i - 1;
  run_on_cpu(reduce_params(fn::Max{}, in.view(), largest.view()));
  run_on_cpu(reduce_params(fn::Min{}, in.view(), smallest.view()));
  EXPECT_EQ(largest[0], -1);
  EXPECT_EQ(smallest[0], std::numeric_limits<int32_t>::min());
}

TEST(Reduce, ReducesEmptyInputs) {
  Guarded<float> in({0, 3}), out({1, 3});
  run_on_cpu(reduce_params(fn::Sum{}, in.view(), out.view()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], 0);
  run_on_cpu(reduce_params(fn::Prod{}, in.view(), out.view()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], 1);
  run_on_cpu(reduce_params(fn::Mean(0), in.view(), out.view()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(out[i]));
  Guarded<bool> none({0}), answer({1});
  run_on_cpu(reduce_params(fn::Min{}, none.view(), answer.view()));
  EXPECT_TRUE(answer[0]);
  run_on_cpu(reduce_params(fn::Max{}, none.view(), answer.view()));
  EXPECT_FALSE(answer[0]);
}

TEST(Reduce, ComputesProductMeanAndNorm) {
  Guarded<float> in({2, 3}), out({2, 1});
  for (int i = 0; i < 6; ++i) in[i] = float(i + 1);
  run_on_cpu(reduce_params(fn::Prod{}, in.view(), out.view()));
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(out[1], 120);
  run_on_cpu(reduce_params(fn::Mean(3), in.view(), out.view()));
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 5);
  run_on_cpu(reduce_params(fn::Norm2{}, in.view(), out.view()));
  EXPECT_FLOAT_EQ(out[0], std::sqrt(14.f));
  EXPECT_FLOAT_EQ(out[1], std::sqrt(77.f));
}

TEST(Reduce, ExtremesPropagateNan) {
  for (const int64_t n : {1, 9, 100, 5000})
    for (const int64_t nan_row : {int64_t(0), n / 2, n - 1}) {
      Guarded<float> in({n, 3}), out({1, 3}), overall({1, 1});
      for (int64_t i = 0; i < in.numel(); ++i) in[i] = float(i);
      in[nan_row * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
      run_on_cpu(reduce_params(fn::Max{}, in.view(), out.view()));
      EXPECT_FALSE(std::isnan(out[0]));
      EXPECT_TRUE(std::isnan(out[1]));
      run_on_cpu(reduce_params(fn::Min{}, in.view(), overall.view()));
      EXPECT_TRUE(std::isnan(overall[0]));
    }
}

TEST(Reduce, SupportsAnyOutputStrides) {
  Guarded<float> in({4, 100, 5}), out({4, 1, 5}, {2, 99, 17});
  fill(in, 7);
  run_on_cpu(reduce_params(fn::Sum{}, in.view(), out.view()));
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 5; ++k) {
      float expected = 0;
      for (int64_t j = 0; j < 100; ++j) expected += in[i * 500 + j * 5 + k];
      EXPECT_EQ(out[i * 5 + k], expected);
    }
  EXPECT_TRUE(out.intact());
}

/// Sums of numbers of one sign lose only a few of float's 24 bits, for any shape.
TEST(Reduce, SumsAreAccurate) {
  for (const Case& c : {Case{{1 << 21}, {}, {true}}, Case{{1 << 19, 4}, {}, {true, false}},
                        Case{{1 << 12, 512}, {}, {true, false}},
                        Case{{4, 1 << 19}, {}, {false, true}}, Case{{1 << 20}, {2}, {true}}}) {
    Guarded<float> in(c.sizes, c.strides), out(reduced_sizes(c));
    std::mt19937 random(2);
    std::vector<double> expected(size_t(out.numel()), 0);
    for (int64_t i = 0; i < in.numel(); ++i) {
      in[i] = 0.1f + float(random() % 1000) * 1e-3f;
      expected[size_t(output_of(c, i))] += double(in[i]);
    }
    run_on_cpu(reduce_params(fn::Sum{}, in.view(), out.view()));
    for (int64_t i = 0; i < out.numel(); ++i)
      EXPECT_NEAR(out[i] / expected[size_t(i)], 1, 4e-7) << "case of " << c.sizes[0] << " rows";
  }
}

TEST(Reduce, ResultsDoNotDependOnThreadCount) {
  const int former = get_num_threads();
  for (const Case& c : {Case{{1 << 20}, {}, {true}}, Case{{5000, 300}, {}, {true, false}},
                        Case{{300, 5000}, {}, {false, true}}}) {
    Guarded<float> in(c.sizes, c.strides), on_one_thread(reduced_sizes(c)),
        on_several(reduced_sizes(c));
    std::mt19937 random(3);
    for (int64_t i = 0; i < in.numel(); ++i) in[i] = float(random()) * 1e-9f;
    set_num_threads(1);
    run_on_cpu(reduce_params(fn::Sum{}, in.view(), on_one_thread.view()));
    set_num_threads(5);
    run_on_cpu(reduce_params(fn::Sum{}, in.view(), on_several.view()));
    for (int64_t i = 0; i < on_one_thread.numel(); ++i) EXPECT_EQ(on_one_thread[i], on_several[i]);
  }
  set_num_threads(former);
}

}  // namespace
}  // namespace hearth::testing
