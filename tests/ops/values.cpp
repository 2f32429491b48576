// The values and arguments that ops accept, and PyTorch's errors for those that they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "tests/support/op_table.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

/// The first line of the error that f throws.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string text = error.what_without_backtrace();
    return text.substr(0, text.find('\n'));
  }
  return "no error";
}

std::string no_conversion(const char* type) {
  return std::string("value cannot be converted to type ") + type + " without overflow";
}

TEST(Values, NumbersOutsideTheDtypesRangeThrow) {
  const auto full_error = [](const Scalar& value, ScalarType type) {
    return error_of([&] { full({2}, value, type); });
  };
  EXPECT_EQ(full_error(300, kByte), no_conversion("uint8_t"));
  EXPECT_EQ(full_error(-256, kByte), no_conversion("uint8_t"));
  EXPECT_EQ(full_error(-0.5, kByte), no_conversion("uint8_t"));
  EXPECT_EQ(full_error(256.0, kByte), no_conversion("uint8_t"));
  EXPECT_EQ(full_error(200, kChar), no_conversion("int8_t"));
  EXPECT_EQ(full_error(-128.5, kChar), no_conversion("int8_t"));
  EXPECT_EQ(full_error(40000, kShort), no_conversion("int16_t"));
  EXPECT_EQ(full_error(0x1p31, kInt), no_conversion("int"));
  EXPECT_EQ(full_error(0x1p63, kLong), no_conversion("int64_t"));
  EXPECT_EQ(full_error(NAN, kLong), no_conversion("int64_t"));
  EXPECT_EQ(full_error(1e40, kFloat), no_conversion("float"));
  EXPECT_EQ(full_error(65505, kHalf), no_conversion("c10::Half"));
  EXPECT_EQ(full_error(3.4e38, kBFloat16), no_conversion("c10::BFloat16"));
  const Scalar imaginary = complex<double>(1, 2), wide = complex<double>(1e40, 2);
  EXPECT_EQ(full_error(imaginary, kFloat), no_conversion("float"));
  EXPECT_EQ(full_error(wide, kComplexFloat), no_conversion("c10::complex<float>"));
  EXPECT_EQ(error_of([] { full({0}, 300, kByte); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([] { full({2}, 1e40); }), no_conversion("float"));
  EXPECT_EQ(error_of([] { full_like(ones({2}, kByte), 300); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([] { scalar_tensor(300, kByte); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([] { scalar_tensor(1e40); }), no_conversion("float"));
  EXPECT_EQ(error_of([] { zeros({2}, kChar).fill_(200); }), no_conversion("int8_t"));
  EXPECT_EQ(error_of([] { ones({2}).fill_(complex<double>(1, 2)); }), no_conversion("float"));
  EXPECT_EQ(error_of([] { linspace(0, 1e40, 3); }), no_conversion("float"));
}

TEST(Values, NumbersThatFitAreStored) {
  const auto stored = [](const Scalar& value, ScalarType type) {
    return full({2}, value, type).to(kDouble)[1].item<double>();
  };
  EXPECT_EQ(stored(-1, kByte), 255);
  EXPECT_EQ(stored(-255, kByte), 1);
  EXPECT_EQ(stored(255.5, kByte), 255);
  EXPECT_EQ(stored(127.5, kChar), 127);
  EXPECT_EQ(stored(-0x1p63, kLong), -0x1p63);
  EXPECT_EQ(stored(NAN, kBool), 1);
  EXPECT_EQ(stored(-0.5, kBool), 1);
  EXPECT_EQ(stored(-INFINITY, kHalf), -INFINITY);
  EXPECT_TRUE(std::isnan(stored(NAN, kBFloat16)));
  EXPECT_EQ(stored(65504, kHalf), 65504);
  EXPECT_EQ(stored(complex<double>(1, 0), kFloat), 1);
  // A single element of a half type is rounded without a check.
  EXPECT_EQ(full({}, 65505, kHalf).item<float>(), 65504);
  EXPECT_EQ(full({1, 1}, 1e6, kHalf).item<float>(), INFINITY);
  EXPECT_EQ(ones({1}, kBFloat16).fill_(-1e40).item<float>(), -INFINITY);
  EXPECT_EQ(error_of([] { full({}, complex<double>(1, 2), kHalf); }), no_conversion("double"));
  EXPECT_EQ(error_of([] { ones({1}, kHalf).expand({3}).fill_(1e6); }), no_conversion("c10::Half"));
  EXPECT_EQ(scalar_tensor(1e6, kHalf).item<float>(), INFINITY);
  EXPECT_EQ(tensor({1., 1e6}, kHalf)[1].item<float>(), INFINITY);
  EXPECT_EQ(error_of([] { (void)tensor({1., 1e40}, kFloat); }), no_conversion("float"));
  EXPECT_EQ(scalar_tensor(1e40, kBFloat16).item<float>(), INFINITY);
  EXPECT_EQ(full({2}, 300, TensorOptions(kByte).device(kMeta)).size(0), 2);
}

TEST(Values, NumbersAmongOtherArguments) {
  const Tensor bytes = ones({2}, kByte), mask = ones({2}, kBool), halfs = ones({2}, kHalf);
  EXPECT_EQ(error_of([&] { bytes.add(bytes, 300); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([&] { ones({2}).add(1, 1e40); }), no_conversion("float"));
  EXPECT_EQ(error_of([&] { bytes.pow(300); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([&] { halfs.pow(1e6); }), no_conversion("c10::Half"));
  EXPECT_EQ(error_of([&] { where(mask, bytes, 300); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([&] { where(mask, 300, bytes); }), no_conversion("uint8_t"));
  EXPECT_EQ(error_of([&] { where(mask, 1e40, 2); }), no_conversion("float"));
  EXPECT_EQ(where(mask.logical_not(), halfs, -1e9)[0].item<float>(), -INFINITY);
  EXPECT_EQ(where(mask.logical_not(), bytes, -1)[0].item<int>(), 255);
  const Tensor square = ones({2, 2});
  EXPECT_EQ(error_of([&] { addmm(square, square, square, 1e40); }), no_conversion("float"));
  EXPECT_EQ(bytes.add(300)[0].item<int>(), 45);
}

TEST(Values, BoundsOfRandomIntegers) {
  const auto randint_error = [](int64_t low, int64_t high, ScalarType type) {
    return error_of([&] { randint(low, high, {2}, type); });
  };
  EXPECT_EQ(randint_error(0, 300, kByte), "to - 1 is out of bounds for unsigned char");
  EXPECT_EQ(randint_error(-1, 2, kByte), "from is out of bounds for unsigned char");
  EXPECT_EQ(randint_error(0, 129, kChar), "to - 1 is out of bounds for signed char");
  EXPECT_EQ(randint_error(0, 3, kBool), "to - 1 is out of bounds for bool");
  EXPECT_EQ(randint_error(0, (1LL << 31) + 1, kInt), "to - 1 is out of bounds for int");
  EXPECT_EQ(randint_error(0, 100000, kHalf), "to - 1 is out of bounds for c10::Half");
  EXPECT_EQ(randint_error(-100000, 5, kHalf), "from is out of bounds for c10::Half");
  EXPECT_EQ(randint_error(5, 5, kLong),
            "random_ expects 'from' to be less than 'to', but got from=5 >= to=5");
  EXPECT_EQ(randint_error(0, 256, kByte), "no error");
  EXPECT_EQ(randint_error(0, 2, kBool), "no error");
  EXPECT_EQ(randint_error(INT64_MIN, INT64_MAX, kLong), "no error");
}

/// The expected numbers are PyTorch's after manual_seed(1).
TEST(Values, BoundsOfRandomIntegersAreRoundedToTheDtype) {
  const Warnings warnings;
  const auto drawn = [](int64_t from, int64_t to, ScalarType type) {
    manual_seed(1);
    const Tensor x = zeros({3}, type).random_(from, to).to(kDouble);
    return std::vector<double>(x.data_ptr<double>(), x.data_ptr<double>() + 3);
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(drawn(0, 3001, kHalf), (Numbers{12, 1990, 211}));
  EXPECT_EQ(drawn(2049, 2051, kHalf), (Numbers{2050, 2050, 2048}));
  EXPECT_EQ(drawn(3, 4000, kBFloat16), (Numbers{157, 892, 3648}));
  EXPECT_EQ(drawn(-2049, 7, kBFloat16), (Numbers{-884, -70, -2040}));
  EXPECT_EQ(drawn(0, (1 << 24) + 3, kFloat), (Numbers{12710631, 4685294, 6761828}));
  EXPECT_EQ(Warnings::said().size(), 6U);  // one for every bound that the dtype rounds
  EXPECT_EQ(error_of([] { zeros({2}, kBFloat16).random_(2049, 2051); }),
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
            "from=2064 >= to=2051");
}

TEST(Values, BoundsOfUniformNumbers) {
  const auto uniform_error = [](double from, double to, ScalarType type) {
    return error_of([&] { zeros({2}, type).uniform_(from, to); });
  };
  EXPECT_EQ(uniform_error(0, 1e40, kFloat), "to is out of bounds for float");
  EXPECT_EQ(uniform_error(-INFINITY, 0, kFloat), "from is out of bounds for float");
  EXPECT_EQ(uniform_error(0, NAN, kFloat), "to is out of bounds for float");
  EXPECT_EQ(uniform_error(0, 1e5, kHalf), "to is out of bounds for c10::Half");
  EXPECT_EQ(uniform_error(-3e38, 3e38, kFloat),
            "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38 and "
            "from=-3e+38 which result in to-from to exceed the limit");
}

TEST(Values, PermutationsOutsideTheDtypesRangeThrow) {
  const auto randperm_error = [](int64_t n, ScalarType type) {
    return error_of([&] { randperm(n, type); });
  };
  EXPECT_EQ(randperm_error(3000, kHalf), "n cannot be greater than 2049 for Half type.");
  EXPECT_EQ(randperm_error(300, kByte), no_conversion("uint8_t"));
  EXPECT_EQ(randperm_error(129, kChar), no_conversion("int8_t"));
  EXPECT_EQ(randperm_error(30, kBool), "\"randperm\" not implemented for 'Bool'");
  EXPECT_EQ(randperm_error(2049, kHalf), "no error");
  EXPECT_EQ(randperm_error(256, kByte), "no error");
}

TEST(Values, SubtractionOfBoolsThrows) {
  const std::string two_bools =
      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
      "`logical_xor()` operator instead.";
  const std::string one_bool =
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
      "invert a mask, use the `~` or `logical_not()` operator instead.";
  const Tensor b = ones({2}, kBool), x = ones({2}), i = ones({2}, kLong);
  EXPECT_EQ(error_of([&] { b - b; }), two_bools);
  EXPECT_EQ(error_of([&] { b - true; }), two_bools);
  EXPECT_EQ(error_of([&] { true - b; }), two_bools);
  EXPECT_EQ(error_of([&] { b - i; }), one_bool);
  EXPECT_EQ(error_of([&] { x - b; }), one_bool);
  EXPECT_EQ(error_of([&] { b - 1; }), one_bool);
  EXPECT_EQ(error_of([&] { 1 - b; }), one_bool);
  EXPECT_EQ(error_of([&] { x - true; }), one_bool);
  EXPECT_EQ(error_of([&] { i.clone().sub_(b); }), one_bool);
  EXPECT_THROW(b - 1, NotImplementedError);
  EXPECT_EQ((3 - i)[0].item<int64_t>(), 2);
  EXPECT_EQ((2.5 - i).scalar_type(), kFloat);
  EXPECT_EQ(rsub(x, 3, 2)[0].item<float>(), 1);
}

TEST(Values, IntegerDivisionByZeroThrows) {
  const Tensor i = full({2}, 7, kLong), divisors = arange(2);
  EXPECT_EQ(error_of([&] { i.fmod(0); }), "ZeroDivisionError");
  EXPECT_EQ(error_of([&] { i.fmod(divisors); }), "ZeroDivisionError");
  EXPECT_EQ(error_of([&] { i.clone().fmod_(0); }), "ZeroDivisionError");
  EXPECT_TRUE(i.fmod(0.0).isnan().all().item<bool>());
  EXPECT_TRUE(ones({2}).fmod(0).isnan().all().item<bool>());
  EXPECT_EQ(empty({0}, kLong).fmod(0).numel(), 0);
  EXPECT_EQ(full({1}, INT64_MIN, kLong).fmod(-1)[0].item<int64_t>(), 0);
}

TEST(Values, NegativePowersOfIntegersThrow) {
  const std::string text = "Integers to negative integer powers are not allowed.";
  const Tensor i = full({2}, 3, kLong);
  EXPECT_EQ(error_of([&] { i.pow(-1); }), text);
  EXPECT_EQ(error_of([&] { i.clone().pow_(-1); }), text);
  EXPECT_EQ(error_of([&] { ones({2}, kBool).pow(-1); }), text);
  EXPECT_NEAR(i.pow(-1.0)[0].item<float>(), 1 / 3.0, 1e-6);
  EXPECT_EQ(i.pow(full({2}, -1, kLong))[0].item<int64_t>(), 0);
  EXPECT_EQ(ones({2}).pow(-1)[0].item<float>(), 1);
}

TEST(Values, SizesThatOverflowThrow) {
  for (const char* device : {"cpu", "meta"}) {
    const auto options = TensorOptions(device);
    const Tensor huge = ones({1}, options).expand({1LL << 62});
    EXPECT_EQ(error_of([&] {
                cat({huge, huge, huge, huge, ones({2}, options)});
              }),
              "cat(): the sum of the sizes of dimension 0 overflows int64");
    EXPECT_EQ(error_of([&] {
                zeros({0, INT64_MAX / 2, 8}, options).flatten(1);
              }),
              "Stride calculation overflowed");
    EXPECT_EQ(error_of([&] {
                zeros({1LL << 62, 8, 0}, options).flatten(0, 1);
              }),
              "numel: integer multiplication overflow");
  }
}

TEST(Values, InvalidRangesThrow) {
  EXPECT_EQ(error_of([] { arange(0, 1, NAN); }), "step must be finite but got nan");
  EXPECT_EQ(error_of([] { arange(0, 1, INFINITY); }), "step must be finite but got inf");
  EXPECT_EQ(error_of([] { arange(INT64_MIN, INT64_MAX); }), "invalid size, possible overflow?");
  EXPECT_EQ(error_of([] { arange(0, INT64_MIN, -1); }), "invalid size, possible overflow?");
  EXPECT_EQ(error_of([] { arange(0, 10, 0); }), "step must be nonzero");
  static_assert(!std::is_constructible_v<TensorOptions, std::nullptr_t>);
  static_assert(!std::is_convertible_v<int, TensorOptions>);
}

TEST(Values, NumbersFillExpandedTensorsButTensorsThrow) {
  for (const Device device : devices()) {
    const Tensor base = ones({3, 1}, TensorOptions(device)), wide = base.expand({3, 4});
    const int64_t version = base._version();
    wide.fill_(5);
    EXPECT_TRUE(base.eq(5).all().item<bool>());
    EXPECT_GT(base._version(), version);
    wide.zero_();
    EXPECT_TRUE(wide.eq(0).all().item<bool>());
    EXPECT_EQ(error_of([&] { wide.fill_(ones({})); }).rfind("unsupported operation: more than", 0),
              0U);
    EXPECT_EQ(error_of([&] { wide.copy_(ones({})); }).rfind("unsupported operation: more than", 0),
              0U);
  }
}

TEST(Values, HooksMayZeroExpandedGradients) {
  const Tensor x = ones({3}, requires_grad()), y = x * 2;
  y.register_hook([](Tensor g) { return g.zero_(); });
  y.sum().backward();
  EXPECT_TRUE(x.grad().eq(0).all().item<bool>());
}

TEST(Values, FillAccepts0dTensorsOnAnyDevice) {
  for (const Device device : devices()) {
    const Tensor number = full({}, 4, TensorOptions(kFloat).device(device).requires_grad(true));
    const Tensor x = ones({3}) * 1;
    x.fill_(number);
    EXPECT_TRUE(x.eq(4).all().item<bool>());
    x.sum().backward();
    EXPECT_EQ(number.grad().item<float>(), 3);
  }
}

TEST(Values, WhereAcceptsByteConditions) {
  const Tensor condition = arange(3, kByte), x = ones({3});
  const Tensor y = where(condition, x, x * 2);
  EXPECT_EQ(y[0].item<float>(), 2);
  EXPECT_EQ(y[2].item<float>(), 1);
}

TEST(Values, BatchNormAcceptsWeightsOfAnyShape) {
  const Tensor x = randn({4, 3}), mean = zeros({3}), var = ones({3});
  const Tensor weight = full({3, 1}, 2.0, requires_grad()), bias = zeros({1, 3}, requires_grad());
  const Tensor y = batch_norm(x, weight, bias, mean, var, false, 0.1, 0, false);
  EXPECT_TRUE(y.allclose(x * 2));
  y.sum().backward();
  EXPECT_TRUE(weight.grad().sizes().equals(weight.sizes()));
  EXPECT_TRUE(bias.grad().sizes().equals(bias.sizes()));
  EXPECT_EQ(error_of([&] { batch_norm(x, ones({4}), bias, mean, var, false, 0.1, 0, false); }),
            "weight should contain 3 elements not 4");
}

TEST(Values, BatchNormStatisticsThatRequireGradThrow) {
  const Tensor x = randn({4, 3}), mean = zeros({3}, requires_grad()), var = ones({3});
  const auto call = [&] { batch_norm(x, Tensor(), Tensor(), mean, var, true, 0.1, 0, false); };
  EXPECT_EQ(error_of(call),
            "The function 'native_batch_norm' is not differentiable with respect to argument "
            "'running_mean'. This input cannot have requires_grad True.");
  const NoGradGuard off;
  EXPECT_EQ(error_of(call), "no error");
}

TEST(Values, ErrorsNameTheArgumentOnTheWrongDevice) {
  const auto named = [](const char* argument, const std::string& text) {
    return text.find(std::string("for argument ") + argument + " in") != std::string::npos;
  };
  Tensor out = ones({2}, TensorOptions(kMeta));
  const Tensor x = ones({2});
  EXPECT_PRED2(named, "out", error_of([&] { gelu_out(out, x); }));
  EXPECT_PRED2(named, "out", error_of([&] { add_out(out, x, 1); }));
  EXPECT_PRED2(named, "self", error_of([&] { where(x > 0, out, 1); }));
  EXPECT_PRED2(named, "other", error_of([&] { where(x > 0, x, out); }));
}

TEST(Values, GeneratorsOfUnavailableDevicesThrow) {
  EXPECT_EQ(error_of([] { make_generator("meta"); }), "META device type not an accelerator.");
  EXPECT_NE(error_of([] { make_generator("cuda:9"); }), "no error");
  if (!cuda::is_available()) return;
  const Generator gpu = make_generator("cuda");
  EXPECT_EQ(gpu.device(), Device("cuda:0"));
  EXPECT_EQ(error_of([&] { rand({2}, gpu); }),
            "Expected a 'cpu' device type for generator but found 'cuda'");
}

}  // namespace
}  // namespace hearth::testing
