// The dtypes without kernels: conversions, bit for bit as in PyTorch (tests/oracle/dtype_cases.py),
// and the operators that move and compare their elements or compute with them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/float8.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/support/devices.h"
#include "tests/support/fixtures.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

#define HEARTH_STORED(type, Name) ScalarType::Name,
constexpr ScalarType kStored[] = {HEARTH_STORED_DTYPES(HEARTH_STORED)};
constexpr ScalarType kAllTypes[] = {HEARTH_ALL_DTYPES(HEARTH_STORED)};
#undef HEARTH_STORED

ScalarType type_called(const std::string& name) {
  for (const ScalarType type : kAllTypes)
    if (name == python_name_of(type)) return type;
  ADD_FAILURE() << name;
  return kFloat;
}

/// The lines of the fixture that begin with a word, without it.
std::vector<std::string> lines_of(const std::string& word) {
  std::ifstream file(fixture_path("dtype_cases.txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(word + " ")) lines.push_back(line.substr(word.size() + 1));
  EXPECT_FALSE(lines.empty());
  return lines;
}

std::vector<Device> test_devices() {
  if (cuda::device_count() == 0) return {kCPU};
  return {kCPU, last_gpu()};
}

/// The tensor of one dimension with these bytes, in hexadecimal.
Tensor tensor_of_bytes(const std::string& hexadecimal, ScalarType type) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  return tensor(bytes, kByte).view(type);
}

/// Whether the bytes agree; NaNs of types other than float8 are equal.
bool have_same_bits(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type()) return false;
  if (!has_kernels(a.scalar_type()) || !is_differentiable(a.scalar_type()))
    return a.view(kByte).equal(b.view(kByte));
  const Tensor real = a.is_complex() ? view_as_real(a) : a,
               other = b.is_complex() ? view_as_real(b) : b;
  const Tensor differ = real.view(kByte).ne(other.view(kByte)).view({real.numel(), -1}).any(1);
  return !differ.logical_and(real.isnan().logical_and(other.isnan()).logical_not().flatten())
              .any()
              .item<bool>();
}

TEST(StoredDtypes, ConvertAsInPyTorch) {
  for (const std::string& line : lines_of("convert")) {
    std::istringstream words(line);
    std::string from, to, given, expected;
    words >> from >> to >> given >> expected;
    const Tensor source = tensor_of_bytes(given, type_called(from));
    const Tensor wanted = tensor_of_bytes(expected, type_called(to));
    for (const Device device : test_devices()) {
      const Tensor result = source.to(device).to(wanted.scalar_type()).cpu();
      EXPECT_TRUE(have_same_bits(result, wanted))
          << from << " to " << to << " on " << device << ":\n"
          << source << "\n"
          << result << "\n"
          << wanted;
    }
  }
}

/// A conversion of many elements, with gaps or transposed, is the same as one of a few.
TEST(StoredDtypes, ConvertAnyLayout) {
  for (const Device device : test_devices()) {
    const Tensor numbers =
        arange(3000, TensorOptions(kFloat).device(device)).remainder(100).view({50, 60});
    for (const ScalarType type : kStored) {
      const Tensor stored = numbers.to(type);
      const Tensor rounded = stored.to(kFloat);
      if (type == kUInt16) {
        EXPECT_TRUE(rounded.equal(numbers));
      }
      for (const auto& layout : {+[](const Tensor& t) { return t.t(); },
                                 +[](const Tensor& t) { return t.slice(1, 1, 60, 3); },
                                 +[](const Tensor& t) {
                                   return t[7].expand({30, 60});
                                 }}) {
        EXPECT_TRUE(layout(numbers).to(type).to(kFloat).equal(layout(rounded))) << type;
        EXPECT_TRUE(layout(stored).to(kFloat).equal(layout(rounded))) << type;
        EXPECT_TRUE(layout(stored).contiguous().equal(layout(stored))) << type;
        EXPECT_TRUE(layout(stored).to(kDouble).to(kFloat).equal(layout(rounded))) << type;
      }
      const Tensor target = zeros({60, 50}, numbers.options()).t();
      EXPECT_TRUE(target.copy_(stored).equal(rounded)) << type;
      const Tensor stored_target = zeros({60, 50}, numbers.options().dtype(type)).t();
      EXPECT_TRUE(stored_target.copy_(numbers).equal(stored)) << type;
    }
  }
}

TEST(StoredDtypes, AreCreatedAndMoved) {
  for (const Device device : test_devices())
    for (const ScalarType type : kStored) {
      const TensorOptions options = TensorOptions(type).device(device);
      const Tensor t = tensor({{1, 2, 4}, {8, 16, 32}}, options);
      const auto expect = [&](const Tensor& result, const Tensor& expected) {
        EXPECT_EQ(result.scalar_type(), type);
        EXPECT_TRUE(result.cpu().to(kFloat).equal(expected)) << type << " on " << device << "\n"
                                                             << result;
      };
      const Tensor f = t.cpu().to(kFloat),
                   index = tensor({1, 0, 1}, TensorOptions(kLong).device(device)), i = index.cpu();
      expect(ones({2, 3}, options), ones({2, 3}));
      expect(full({3}, 2, options), full({3}, 2.F));
      expect(zeros_like(t) = t.clone().zero_().fill_(4), full({2, 3}, 4.F));
      expect(cat({t, t}, 1), cat({f, f}, 1));
      expect(stack({t, t.flip(0)}), stack({f, f.flip(0)}));
      expect(t.index({index}), f.index({i}));
      expect(t.index_select(1, index), f.index_select(1, i));
      expect(t.index_put({index.slice(0, 0, 2)}, t), f.index_put({i.slice(0, 0, 2)}, f));
      expect(t.gather(1, index.expand({2, 3})), f.gather(1, i.expand({2, 3})));
      expect(t.scatter(1, index.expand({2, 3}).slice(1, 0, 2), t),
             f.scatter(1, i.expand({2, 3}).slice(1, 0, 2), f));
      expect(t.roll(1, 1), f.roll(1, 1));
      if (type != kFloat8_e8m0fnu) expect(t[0].diag(), f[0].diag());  // it has no zero
      expect(t.repeat({2, 2}), f.repeat({2, 2}));
      expect(constant_pad_nd(t, {1, 1}, 1), constant_pad_nd(f, {1, 1}, 1));
      expect(where(t == 4, t, t.flip(1)), where(f == 4, f, f.flip(1)));
      expect(where(t == 4, t, 1), where(f == 4, f, 1));
      expect(t.permute({1, 0}).reshape({6}), f.permute({1, 0}).reshape({6}));
      expect(t.masked_select(t.eq(8)), tensor({8.F}));
      expect(t.view(kByte).view(type), f);
      EXPECT_EQ(t.element_size(), int64_t(element_size(type)));
      EXPECT_EQ(t[1][2].item<double>(), 32);
      EXPECT_EQ(empty({2}, options.device(kMeta)).to(kFloat).scalar_type(), kFloat);
      EXPECT_TRUE(t.equal(t.clone()));
      EXPECT_FALSE(t.equal(t.flip(0)));
      EXPECT_TRUE(t.any().item<bool>());
      EXPECT_TRUE(t.all().item<bool>());
      EXPECT_EQ(t.sum(kFloat).item<float>(), 63);
      EXPECT_EQ(t.mean(kFloat).item<float>(), 10.5F);
    }
}

TEST(StoredDtypes, Compute) {
  for (const Device device : test_devices()) {
    for (const ScalarType type : {kUInt16, kUInt32, kUInt64}) {
      const int64_t largest = type == kUInt16 ? 0xffff : type == kUInt32 ? int64_t{0xffffffff} : -1;
      const Tensor t =
          tensor({largest, int64_t(3), int64_t(0)}, TensorOptions(kLong).device(device)).to(type);
      const auto expect = [&](const Tensor& result, std::vector<int64_t> expected) {
        EXPECT_TRUE(result.cpu().to(kLong).equal(tensor(expected))) << type << "\n" << result;
      };
      expect(t * t, {1, 9, 0});
      expect(t & 6, {largest & 6, 2, 0});
      expect(t | 4, {largest, 7, 4});
      expect(t ^ t, {0, 0, 0});
      expect(t == 3, {0, 1, 0});
      expect(t.isfinite(), {1, 1, 1});
      expect(t.cumsum(0).slice(0, 1),
             {type == kUInt64 ? 2 : largest + 3, type == kUInt64 ? 2 : largest + 3});
      EXPECT_EQ(t.sum().scalar_type(), kLong);
      EXPECT_EQ((t + 1.5).scalar_type(), kFloat);
      EXPECT_EQ((t + 1.5)[1].item<float>(), 4.5F);
      EXPECT_EQ(t.sqrt()[1].item<float>(), std::sqrt(3.F));
      EXPECT_EQ((t + ones({3}, TensorOptions(kDouble).device(device)))[1].item<double>(), 4);
      EXPECT_ERROR(t + t, "\"add\" not implemented for '" + std::string(name_of(type)) + "'");
      EXPECT_ERROR(t.lt(t), "not implemented for '" + std::string(name_of(type)) + "'");
      EXPECT_ERROR(t.max(), "not implemented for '" + std::string(name_of(type)) + "'");
      EXPECT_ERROR(arange(3, type), "not implemented for '" + std::string(name_of(type)) + "'");
      EXPECT_ERROR(
          t + t.to(kLong),
          "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote");
    }
    const Tensor f = tensor({1.5F, 3.F, NAN}, TensorOptions(device)).to(kFloat8_e5m2);
    EXPECT_TRUE((f * f).cpu().slice(0, 0, 2).to(kFloat).equal(tensor({2.F, 8.F})))
        << f * f;                                                       // 2.25 is a tie
    EXPECT_TRUE((f == 1.6).cpu().equal(tensor({true, false, false})));  // 1.6 is rounded to 1.5
    EXPECT_TRUE(f.isnan().cpu().equal(tensor({false, false, true})));
    EXPECT_ERROR(f + f, "\"add\" not implemented for 'Float8_e5m2'");
    EXPECT_ERROR(f.sum(), "not implemented for 'Float8_e5m2'");
    EXPECT_ERROR(f.matmul(f), "not implemented for 'Float8_e5m2'");
    EXPECT_ERROR(
        f * f.to(kFloat),
        "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and Float");
    EXPECT_EQ((f.to(kFloat) + f[0]).scalar_type(), kFloat);
  }
}

/// PyTorch's results of torch.full and Tensor.item.
TEST(StoredDtypes, Numbers) {
  EXPECT_EQ(full({}, UINT64_MAX, kUInt64).item().toUInt64(), UINT64_MAX);
  EXPECT_EQ(full({}, UINT64_MAX, kUInt64).item().type(), kUInt64);
  EXPECT_EQ(full({}, 3, kUInt64).item().type(), kLong);
  EXPECT_EQ(full({}, 1.8e19, kUInt64).item<uint64_t>(), 18000000000000000000U);
  EXPECT_EQ(full({}, -1, kUInt16).item<int64_t>(), 65535);
  EXPECT_EQ(full({}, -0xffff, kUInt16).item<int64_t>(), 1);
  EXPECT_EQ(full({}, 65535.5, kUInt16).item<int64_t>(), 65535);
  EXPECT_EQ(full({}, -4294967295, kUInt32).item<int64_t>(), 1);
  EXPECT_EQ(full({}, 1e39, kFloat8_e4m3fn).item<double>(), 448);
  EXPECT_EQ(full({}, 1e6, kFloat8_e5m2).item<double>(), INFINITY);
  EXPECT_TRUE(std::isnan(full({}, 1e6, kFloat8_e4m3fnuz).item<double>()));
  EXPECT_EQ(full({}, -0.5, kFloat8_e8m0fnu).item<double>(), 0.5);
  EXPECT_EQ(static_cast<double>(full({}, 3, kFloat8_e4m3fn).item<Float8_e4m3fn>()), 3);
  for (const Scalar& value :
       {Scalar(-65536), Scalar(65536), Scalar(1e6), Scalar(-0.5), Scalar(NAN)})
    EXPECT_ERROR(full({}, value, kUInt16),
                 "value cannot be converted to type uint16_t without overflow");
  EXPECT_ERROR(full({}, -1.0, kUInt64),
               "value cannot be converted to type uint64_t without overflow");
  EXPECT_ERROR(full({}, 0x1p64, kUInt64),
               "value cannot be converted to type uint64_t without overflow");
  EXPECT_ERROR(Scalar(UINT64_MAX).toLong(),
               "value cannot be converted to type int64_t without overflow");
  EXPECT_EQ(Scalar(UINT64_MAX).toDouble(), 0x1p64);
  EXPECT_EQ(to_string(Scalar(UINT64_MAX)), "18446744073709551615");
  EXPECT_FALSE(Scalar(UINT64_MAX).equal(-1));
  EXPECT_TRUE(Scalar(uint64_t{3}).equal(3));
}

/// PyTorch's results of torch.full, which checks the range unless there is one element.
TEST(StoredDtypes, NumbersBeyondTheRangeOfFloat8) {
  const struct {
    ScalarType type;
    std::vector<Scalar> fitting, too_large;
  } cases[] = {
      {kFloat8_e5m2, {57344, -57344, INFINITY, NAN, 500}, {57345, 60000, -57345., 1e39}},
      {kFloat8_e4m3fn, {448, -448.0, NAN}, {449, 464.0, -500, -1e39, INFINITY, UINT64_MAX}},
      {kFloat8_e5m2fnuz, {57344, -57344, NAN}, {57345, -60000, 1e39, -INFINITY}},
      {kFloat8_e4m3fnuz, {240, -240, NAN}, {241, 248.0, -241, INFINITY}},
      {kFloat8_e8m0fnu,
       {0, -1, 0x1p-127, 0x1p127, NAN, UINT64_MAX, true, false},
       {0.0, -1.0, 0x1p-128, 0x1.1p127, INFINITY, complex<double>(1, 0)}},
  };
  for (const auto& c : cases) {
    const std::string text =
        detail::str("value cannot be converted to type ", TypeMeta(c.type).name());
    for (const Scalar& value : c.fitting) EXPECT_NO_THROW(full({2}, value, c.type)) << c.type;
    for (const Scalar& value : c.too_large) {
      EXPECT_ERROR(full({2}, value, c.type), text);
      EXPECT_ERROR(full({0}, value, c.type), text);
      EXPECT_NO_THROW(full({1}, value, c.type)) << c.type;
    }
    EXPECT_ERROR(full({1}, complex<double>(1, 2), c.type), "converted to type double without");
    EXPECT_ERROR(ones({2}, c.type).masked_fill(tensor({true, false}), 1e9),
                 detail::str("\"masked_fill\" not implemented for '", name_of(c.type), "'"));
  }
  const Tensor x = tensor({448.F, 1.F}).to(kFloat8_e4m3fn);
  EXPECT_TRUE((x == 1e6).equal(tensor({true, false})));
  EXPECT_EQ(where(tensor({true, false}), 1e6, x)[0].item<double>(), 448);
  EXPECT_EQ(tensor({1., 1e6}, kFloat8_e4m3fn)[1].item<double>(), 448);
  EXPECT_EQ(tensor({1, 60000}, kFloat8_e5m2)[1].item<double>(), 57344);
}

TEST(StoredDtypes, HaveGradients) {
  const Tensor x = tensor({1.F, 2.F}).requires_grad_();
  (x.to(kFloat8_e4m3fn).to(kFloat) * 3).sum().backward();
  EXPECT_TRUE(x.grad().equal(full({2}, 3.F)));
  EXPECT_TRUE(zeros({2}, TensorOptions(kFloat8_e5m2).requires_grad(true)).requires_grad());
  EXPECT_ERROR(zeros({2}, TensorOptions(kUInt16).requires_grad(true)), "floating point");
}

TEST(StoredDtypes, ReduceOnlyIntoTypesWithKernels) {
  for (const ScalarType type : {kFloat8_e4m3fn, kFloat8_e5m2fnuz, kUInt16, kUInt64}) {
    const std::string text = detail::str("_cpu\" not implemented for '", name_of(type), "'");
    const Tensor x = ones({4, 4}, is_float8(type) ? kFloat : kLong);
    EXPECT_ERROR(x.sum(type), "\"sum" + text);
    EXPECT_ERROR(x.sum({1}, false, type), "\"sum" + text);
    EXPECT_ERROR(x.to(type).sum(type), "\"sum" + text);
    EXPECT_ERROR(x.prod(type), "\"prod_out" + text);
    Tensor out = empty({0}, type);
    EXPECT_ERROR(sum_out(out, x, {1}), "\"sum" + text);
    EXPECT_ERROR(prod_out(out, x, 1), "\"prod_out" + text);
  }
  EXPECT_ERROR(ones({4}).nansum(std::nullopt, false, kFloat8_e5m2), "\"nansum_cpu\" not impl");
  EXPECT_ERROR(ones({4}).nansum(std::nullopt, false, kUInt16), "\"sum_cpu\" not implemented");
}

TEST(StoredDtypes, SmallestNumbersOfE8m0AreTrue) {
  const Tensor x = zeros({4}, kByte).view(kFloat8_e8m0fnu);  // 2^-127
  EXPECT_TRUE(x.any().item<bool>());
  EXPECT_TRUE(x.all().item<bool>());
  EXPECT_EQ(x.count_nonzero().item<int64_t>(), 4);
}

TEST(StoredDtypes, NanBecomesTheIntegersOfPyTorch) {
  for (const ScalarType type : {kFloat8_e5m2fnuz, kFloat8_e4m3fnuz, kFloat8_e8m0fnu}) {
    EXPECT_EQ(full({70}, NAN).to(type).to(kLong)[69].item<int64_t>(), 0);
    EXPECT_EQ(full({1}, NAN).to(type).to(kInt).item<int32_t>(), 0);
    EXPECT_EQ(full({70}, NAN).to(type).to(kUInt64)[69].item<uint64_t>(), 0U);
  }
  EXPECT_EQ(full({1}, NAN).to(kFloat8_e4m3fn).to(kInt).item<int32_t>(), INT32_MIN);
}

TEST(StoredDtypes, WhereWithOut) {
  const Tensor x = tensor({1, 2}, kLong).to(kUInt64), condition = tensor({true, false});
  Tensor out = empty({0}, kUInt64);
  EXPECT_TRUE(where_out(out, condition, x, x.flip(0)).equal(tensor({1, 1}, kLong).to(kUInt64)));
}

}  // namespace
}  // namespace hearth::testing
