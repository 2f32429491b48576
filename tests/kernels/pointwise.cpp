#include "seam/pointwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "functors/arithmetic.h"
#include "functors/compare.h"
#include "functors/math.h"
#include "tests/kernels/pointwise_support.h"

namespace hearth::testing {
namespace {

constexpr ScalarType kDtypes[] = {kByte,  kChar,   kShort,        kInt,           kLong, kHalf,
                                  kFloat, kDouble, kComplexFloat, kComplexDouble, kBool, kBFloat16};

template <class T>
double to_double(T x) {
  return static_cast<double>(x);
}
template <class T>
double to_double(complex<T> x) {
  return x.real();
}

/// Element i of an array of any dtype; the real part of a complex number.
double read(const std::vector<unsigned char>& data, ScalarType dtype, int64_t i) {
  switch (dtype) {
#define HEARTH_READ(type, Name)                                    \
  case ScalarType::Name: {                                         \
    type x;                                                        \
    std::memcpy(&x, data.data() + size_t(i) * sizeof x, sizeof x); \
    return to_double(x);                                           \
  }
    HEARTH_DTYPES(HEARTH_READ)
#undef HEARTH_READ
    default: return 0;
  }
}

void write(std::vector<unsigned char>& data, ScalarType dtype, int64_t i, int value) {
  switch (dtype) {
#define HEARTH_WRITE(type, Name)                                   \
  case ScalarType::Name: {                                         \
    const type x = static_cast<type>(static_cast<float>(value));   \
    std::memcpy(data.data() + size_t(i) * sizeof x, &x, sizeof x); \
    break;                                                         \
  }
    HEARTH_DTYPES(HEARTH_WRITE)
#undef HEARTH_WRITE
    default: break;
  }
}

/// A strided array of small whole numbers, surrounded by guard elements.
struct Array {
  static constexpr int64_t kGuard = 64;
  ScalarType dtype;
  std::vector<int64_t> strides;
  std::vector<unsigned char> bytes;

  Array(ScalarType type, const std::vector<int64_t>& sizes,
        const std::vector<int64_t>& element_strides, unsigned seed)
      : dtype(type), strides(element_strides) {
    int64_t span = 1;
    for (size_t d = 0; d < sizes.size(); ++d)
      span += std::max<int64_t>(sizes[d] - 1, 0) * element_strides[d];
    bytes.resize(size_t(span + 2 * kGuard) * element_size(dtype));
    std::mt19937 generator(seed);
    for (int64_t i = 0; i < span + 2 * kGuard; ++i)
      write(bytes, dtype, i, int(generator() % (dtype == kBool ? 2 : 11)));
  }
  Operand operand() {
    return testing::operand(bytes.data() + size_t(kGuard) * element_size(dtype), dtype, strides);
  }
  int64_t offset(const std::vector<int64_t>& index) const {
    return std::inner_product(index.begin(), index.end(), strides.begin(), kGuard);
  }
};

/// Advances to the next index in row-major order; returns false after the last one.
bool advance(std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// Compares out = f(a, b), computed with every instruction set, with `reference`. Bytes between the
/// elements of `out` must stay unchanged.
template <class F, class R>
void check(const F& functor, const R& reference, ScalarType compute,
           const std::vector<int64_t>& sizes, Array& out, Array& a, Array& b) {
  const auto before = out.bytes;
  for (const cpu::PointwiseTable* table : tables()) {
    out.bytes = before;
    std::vector<Operand> in{a.operand(), b.operand()};
    in.resize(size_t(fn::arity<F>));
    cpu::run_with(*table, params(functor, Formula::kValue, compute, sizes, out.operand(), in));
    auto expected = before;
    std::vector<int64_t> index(sizes.size());
    do {
      const double value = reference(read(a.bytes, a.dtype, a.offset(index)),
                                     read(b.bytes, b.dtype, b.offset(index)));
      write(expected, out.dtype, out.offset(index), int(value));
    } while (advance(index, sizes));
    ASSERT_TRUE(expected == out.bytes)
        << F::info.name << " " << int(a.dtype) << " " << int(b.dtype) << " -> " << int(out.dtype)
        << " in " << int(compute) << ", sizes " << ::testing::PrintToString(sizes) << ", strides "
        << ::testing::PrintToString(out.strides) << ::testing::PrintToString(a.strides)
        << ::testing::PrintToString(b.strides);
  }
}

const auto sum = [](double a, double b) { return a + b; };
const auto first = [](double a, double) { return a; };
const auto less = [](double a, double b) { return double(a < b); };

/// Strides without gaps for dimensions in the given order, multiplied by `step`.
std::vector<int64_t> dense(const std::vector<int64_t>& sizes, const std::vector<size_t>& order,
                           int64_t step = 1) {
  std::vector<int64_t> strides(sizes.size());
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= sizes[order[i]];
  }
  return strides;
}
std::vector<int64_t> dense(const std::vector<int64_t>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return dense(sizes, order);
}

TEST(Pointwise, SupportsEveryLength) {
  for (const ScalarType dtype : {kFloat, kDouble, kInt, kShort, kByte, kBool, kHalf, kComplexFloat})
    for (int64_t n = 0; n < 150; ++n) {
      Array out(dtype, {n}, {1}, 1), a(dtype, {n}, {1}, 2), b(dtype, {n}, {1}, 3);
      if (n > 0)
        check(fn::Copy{}, first, dtype, {n}, out, a, b);
      else
        cpu::run_with(cpu::pointwise_table(), params(fn::Copy{}, Formula::kValue, dtype, {0},
                                                     out.operand(), {a.operand()}));
      if (n > 0 && dtype != kBool) check(fn::Add{}, sum, dtype, {n}, out, a, b);
    }
}

TEST(Pointwise, SupportsZeroDimensions) {
  Array out(kFloat, {}, {}, 1), a(kFloat, {}, {}, 2), b(kInt, {}, {}, 3);
  check(fn::Add{}, sum, kFloat, {}, out, a, b);
}

TEST(Pointwise, ConvertsBetweenAllDtypes) {
  for (const ScalarType from : kDtypes)
    for (const ScalarType to : kDtypes) {
      if (to == kBool && from != kBool) continue;  // see ConvertsToBool
      Array out(to, {2000}, {1}, 1), a(from, {2000}, {1}, 2), strided(from, {2000}, {3}, 4),
          b(to, {2000}, {2}, 3);
      check(fn::Copy{}, first, from, {2000}, out, a, b);
      check(fn::Copy{}, first, from, {2000}, out, strided, b);
      if (to == kBool || is_complex(from) || is_complex(to)) continue;
      check(fn::Add{}, sum, kDouble, {2000}, out, a, strided);
      check(fn::Add{}, sum, kHalf, {2000}, out, strided, b);
      check(fn::Add{}, sum, kBFloat16, {2000}, b, a, out);
      Array flags(kBool, {2000}, {1}, 1), longs(kLong, {2000}, {2}, 1);
      check(fn::Lt{}, less, kFloat, {2000}, flags, a, out);
      check(fn::Lt{}, less, kHalf, {2000}, longs, a, out);
    }
}

TEST(Pointwise, SupportsAnyStrides) {
  const std::vector<std::vector<int64_t>> shapes{{7, 5},    {3, 1000},   {1000, 3},    {100, 70},
                                                 {2, 3, 4}, {5, 40, 33}, {2, 3, 2, 50}};
  std::mt19937 generator(5);
  for (const auto& sizes : shapes) {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (int round = 0; round < 12; ++round) {
      std::shuffle(order.begin(), order.end(), generator);
      Array a(kFloat, sizes, dense(sizes, order, round % 3 == 0 ? 2 : 1), 1);
      std::shuffle(order.begin(), order.end(), generator);
      auto strides = dense(sizes, order);
      if (round % 2) strides[generator() % strides.size()] = 0;
      Array b(round % 4 == 1 ? kInt : kFloat, sizes, strides, 2);
      Array out(kFloat, sizes, round < 6 ? dense(sizes) : dense(sizes, order, 1 + round % 2), 3);
      check(fn::Add{}, sum, kFloat, sizes, out, a, b);
      check(fn::Copy{}, first, kFloat, sizes, out, a, b);
    }
  }
}

TEST(Pointwise, SupportsLargeTransposedInputs) {
  const std::vector<int64_t> sizes{301, 517};
  for (const ScalarType dtype : {kByte, kShort, kFloat, kDouble, kComplexDouble}) {
    Array a(dtype, sizes, {1, 301}, 1), b(dtype, sizes, {0, 1}, 2), out(dtype, sizes, {517, 1}, 3);
    check(fn::Copy{}, first, dtype, sizes, out, a, b);
    check(fn::Add{}, sum, dtype, sizes, out, a, b);
  }
}

TEST(Pointwise, SupportsScalarOperands) {
  Array a(kFloat, {100000}, {1}, 1), out(kFloat, {100000}, {1}, 2);
  for (const cpu::PointwiseTable* table : tables()) {
    cpu::run_with(*table, params(fn::Add{{2, 2}}, Formula::kValue, kFloat, {100000}, out.operand(),
                                 {a.operand(), number(3.0)}));
    for (int64_t i = 0; i < 100000; ++i)
      ASSERT_EQ(read(out.bytes, kFloat, Array::kGuard + i),
                read(a.bytes, kFloat, Array::kGuard + i) + 6)
          << i;
  }
}

TEST(Pointwise, SupportsInplaceOutput) {
  for (const int64_t n : {5, 8, 9, 31, 1000, 5000})
    for (const int64_t stride : {1, 2})
      for (const ScalarType dtype : {kFloat, kHalf, kByte}) {
        Array a(dtype, {n}, {stride}, 1), b(kFloat, {n}, {1}, 2);
        const Array before = a;
        for (const cpu::PointwiseTable* table : tables()) {
          a.bytes = before.bytes;
          cpu::run_with(*table, params(fn::Add{}, Formula::kValue, dtype, {n}, a.operand(),
                                       {a.operand(), b.operand()}));
          for (int64_t i = 0; i < n; ++i)
            ASSERT_EQ(
                read(a.bytes, dtype, a.offset({i})),
                read(before.bytes, dtype, a.offset({i})) + read(b.bytes, kFloat, b.offset({i})));
        }
      }
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& values) {
  std::vector<To> out(values.size());
  const auto p = params(fn::Copy{}, Formula::kValue, dtype_of<From>, {int64_t(values.size())},
                        operand(out.data(), dtype_of<To>, {1}),
                        {operand(const_cast<From*>(values.data()), dtype_of<From>, {1})});
  cpu::run_with(cpu::pointwise_table(), p);
  return out;
}

/// PyTorch's results on x86: conversions to uint8 and int64 go through int64, others through int32,
/// where values out of range become the lowest integer.
TEST(Pointwise, ConvertsOutOfRangeFloatsAsPyTorch) {
  const float inf = HUGE_VALF;
  std::vector<float> x{300, -1, 3e9f, 1e20f, inf, -inf, NAN, 2.9f, -2.9f, 256.5f, -129};
  while (x.size() < 110) x.push_back(x[x.size() - 11]);  // 10 times the same 11 numbers
  const int32_t low = INT32_MIN;
  const int64_t lowest = INT64_MIN;
  const auto tail = [](auto values) { return decltype(values)(values.begin() + 99, values.end()); };
  EXPECT_EQ(tail(converted<uint8_t>(x)),
            (std::vector<uint8_t>{44, 255, 0, 0, 0, 0, 0, 2, 254, 0, 127}));
  EXPECT_EQ(tail(converted<int8_t>(x)),
            (std::vector<int8_t>{44, -1, 0, 0, 0, 0, 0, 2, -2, 0, 127}));
  EXPECT_EQ(tail(converted<int16_t>(x)),
            (std::vector<int16_t>{300, -1, 0, 0, 0, 0, 0, 2, -2, 256, -129}));
  EXPECT_EQ(tail(converted<int32_t>(x)),
            (std::vector<int32_t>{300, -1, low, low, low, low, low, 2, -2, 256, -129}));
  EXPECT_EQ(tail(converted<int64_t>(x)), (std::vector<int64_t>{300, -1, 3000000000, lowest, lowest,
                                                               lowest, lowest, 2, -2, 256, -129}));
}

TEST(Pointwise, ConvertsToBool) {
  bool out[5];
  const double x[5] = {0, -0.0, 0.5, NAN, -3};
  cpu::run_with(cpu::pointwise_table(),
                params(fn::Copy{}, Formula::kValue, kDouble, {5}, operand(out, kBool, {1}),
                       {operand(const_cast<double*>(x), kDouble, {1})}));
  EXPECT_FALSE(out[0] || out[1]);
  EXPECT_TRUE(out[2] && out[3] && out[4]);
}

/// All values of Half and BFloat16, and floats around the middles between them, compared with
/// half.h's conversions.
TEST(Pointwise, ConvertsHalvesExactly) {
  std::vector<Half> halves;
  std::vector<BFloat16> bfloats;
  std::vector<float> floats;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    halves.push_back(Half::from_bits(uint16_t(bits)));
    bfloats.push_back(BFloat16::from_bits(uint16_t(bits)));
    // In a float's bits, the last bit of a Half is 0x2000 and that of a BFloat16 0x10000. Half of
    // it leads to the middle between two values.
    for (const int32_t delta : {-1, 0, 1})
      for (const float base : {float(halves.back()), float(bfloats.back())})
        floats.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(base) +
                                              (bits % 2 ? 0x1000u : 0x8000u) + uint32_t(delta)));
  }
  const auto same = [](float a, float b) {
    return a == b ? std::signbit(a) == std::signbit(b) : a != a && b != b;
  };
  const auto wide_halves = converted<float>(halves);
  const auto wide_bfloats = converted<float>(bfloats);
  for (size_t i = 0; i < halves.size(); ++i)
    ASSERT_TRUE(same(wide_halves[i], halves[i]) && same(wide_bfloats[i], bfloats[i])) << i;
  const auto as_half = converted<Half>(floats);
  const auto as_bfloat = converted<BFloat16>(floats);
  for (size_t i = 0; i < floats.size(); ++i)
    ASSERT_TRUE(same(as_half[i], Half(floats[i])) && same(as_bfloat[i], BFloat16(floats[i])))
        << floats[i];
}

TEST(Pointwise, RoundsHalvesOnce) {
  const std::vector<Half> a{Half(1.0f), Half(0.1f)}, b{Half(0x1p-11f), Half(1000.0f)};
  const auto product = apply<Half>(cpu::pointwise_table(), fn::Mul{}, Formula::kValue, {a, b});
  EXPECT_EQ(product[0].x, b[0].x);
  EXPECT_EQ(product[1].x, Half(float(a[1]) * 1000.0f).x);
  // 2^-11 + (1 + 2^-10)^2 lies above the middle of two neighbouring Half values. If the product
  // were rounded first, it would lack its last part, 2^-20, and the sum would become the lower one.
  const std::vector<Half> small(100, Half(0x1p-11f)), factor(100, Half(1 + 0x1p-10f));
  const fn::Add scaled_sum{{{1 + 0x1p-10}}};
  for (const cpu::PointwiseTable* table : tables())
    for (const Half result : apply<Half>(*table, scaled_sum, Formula::kValue, {small, factor}))
      ASSERT_EQ(result.x, Half(1 + 0x1p-9f + 0x1p-10f).x);
}

TEST(Pointwise, AddAndMulOfBoolsAreOrAndAnd) {
  bool a[4] = {false, false, true, true}, b[4] = {false, true, false, true}, out[4];
  const std::vector<Operand> in{operand(a, kBool, {1}), operand(b, kBool, {1})};
  cpu::run_with(cpu::pointwise_table(),
                params(fn::Add{}, Formula::kValue, kBool, {4}, operand(out, kBool, {1}), in));
  EXPECT_TRUE(!out[0] && out[1] && out[2] && out[3]);
  unsigned char byte;
  std::memcpy(&byte, &out[3], 1);
  EXPECT_EQ(byte, 1);
  cpu::run_with(cpu::pointwise_table(),
                params(fn::Mul{}, Formula::kValue, kBool, {4}, operand(out, kBool, {1}), in));
  EXPECT_TRUE(!out[0] && !out[1] && !out[2] && out[3]);
}

TEST(Pointwise, ReportsSupportedFormulas) {
  const auto supported = [](auto functor, Formula formula, ScalarType dtype) {
    return cpu::pointwise_supported(fn::number_of<decltype(functor)>, formula, dtype);
  };
  EXPECT_TRUE(supported(fn::Exp{}, Formula::kValue, kHalf));
  EXPECT_FALSE(supported(fn::Exp{}, Formula::kValue, kInt));
  EXPECT_FALSE(supported(fn::Eq{}, Formula::kGradA, kFloat));
  EXPECT_TRUE(supported(fn::Where{}, Formula::kGradC, kBFloat16));
  EXPECT_TRUE(supported(fn::Exp{}, Formula::kValue, kComplexFloat));
  EXPECT_FALSE(supported(fn::Abs{}, Formula::kValue, kComplexFloat));
}

}  // namespace
}  // namespace hearth::testing
