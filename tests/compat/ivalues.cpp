// Values of any type: construction, queries and conversions. The expected results are LibTorch's.
#include <ATen/core/ivalue.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace {

using torch::IValue;
using Number = c10::complex<double>;

std::string text_of(const IValue& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(IValues, EnumerationsAreInts) {
  const IValue type = torch::kFloat, layout = torch::kStrided;
  const IValue format = torch::MemoryFormat::ChannelsLast;
  EXPECT_TRUE(type.isInt() && layout.isInt() && format.isInt());
  EXPECT_EQ(type.toInt(), 6);
  EXPECT_EQ(type.toScalarType(), torch::kFloat);
  EXPECT_EQ(type.to<torch::ScalarType>(), torch::kFloat);
  EXPECT_EQ(layout.toLayout(), torch::kStrided);
  EXPECT_EQ(format.toMemoryFormat(), torch::MemoryFormat::ChannelsLast);
}

TEST(IValues, ComplexNumbers) {
  const IValue z = Number(1, 2);
  EXPECT_TRUE(z.isComplexDouble() && z.isScalar() && !z.isDouble());
  EXPECT_EQ(z.toComplexDouble(), Number(1, 2));
  EXPECT_EQ(z.toScalar().toComplexDouble(), Number(1, 2));
  EXPECT_EQ(std::string(z.tagKind()), "ComplexDouble");
  EXPECT_TRUE(IValue(torch::Scalar(Number(1, 1))).isComplexDouble());
  EXPECT_EQ(text_of(z), "1.+2.j");
  EXPECT_EQ(text_of(Number(0.5, -2)), "0.5-2.j");
  EXPECT_TRUE(IValue(std::vector<Number>{Number(1, 2)}).isComplexDoubleList());
}

TEST(IValues, GeneratorsAndDevices) {
  const IValue generator = at::detail::createCPUGenerator(7), device = torch::Device("cpu");
  EXPECT_TRUE(generator.isGenerator() && device.isDevice());
  EXPECT_EQ(generator.toGenerator().current_seed(), 7U);
  EXPECT_EQ(std::string(generator.tagKind()), "Generator");
  EXPECT_EQ(device.toDevice(), torch::Device("cpu"));
  EXPECT_EQ(device.to<torch::Device>(), torch::Device("cpu"));
}

TEST(IValues, ListsOfBoolsAndStrings) {
  const IValue flags = std::vector<bool>{true, false};
  EXPECT_TRUE(flags.isBoolList() && flags.isList() && !flags.isIntList());
  EXPECT_EQ(flags.toBoolList().size(), 2U);
  EXPECT_FALSE(flags.toBoolList().get(1));
  EXPECT_EQ(text_of(flags), "[True, False]");
  const IValue names = std::vector<std::string>{"a", "b"};
  EXPECT_TRUE(names.isList() && !names.isTensorList());
  EXPECT_EQ(names.toListRef().size(), 2U);
  EXPECT_EQ(names.toListRef()[0].toStringRef(), "a");
  EXPECT_EQ(names.to<std::vector<std::string>>(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(IValue(std::vector<bool>()).isBoolList());
  EXPECT_FALSE(IValue(std::vector<int64_t>()).isBoolList());
  EXPECT_EQ(text_of(std::vector<std::vector<int64_t>>{{1}, {2, 3}}), "[[1], [2, 3]]");
}

TEST(IValues, ListsOfNumbersAndTensors) {
  const IValue ints = std::vector<int64_t>{1, 2, 3}, doubles = std::vector<double>{1, 2.5};
  EXPECT_EQ(std::string(ints.tagKind()), "GenericList");
  int64_t sum = 0;
  for (const int64_t x : ints.toIntList()) sum += x;
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(ints.toIntVector(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(ints.toListRef()[1].toInt(), 2);
  EXPECT_EQ(doubles.toDoubleList().vec(), (std::vector<double>{1, 2.5}));
  const IValue tensors = std::vector<torch::Tensor>{torch::ones(1), torch::zeros(1)};
  EXPECT_TRUE(tensors.isTensorList());
  EXPECT_EQ(tensors.toTensorVector().size(), 2U);
  EXPECT_EQ(tensors.toTensorList().get(0).item<float>(), 1);
  EXPECT_TRUE(IValue(c10::List<int64_t>()).isIntList());
  EXPECT_TRUE(IValue(c10::List<torch::Tensor>()).isTensorList());
}

TEST(IValues, ListsShareTheirContent) {
  const IValue ints = std::vector<int64_t>{1, 2};
  ints.toIntList().push_back(3);
  ints.toList().push_back(4);
  EXPECT_EQ(ints.toIntVector(), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(text_of(ints), "[1, 2, 3, 4]");
  const IValue tensors = std::vector<torch::Tensor>{torch::ones(1)};
  tensors.toTensorList().push_back(torch::zeros(1));
  EXPECT_EQ(tensors.toTensorVector().size(), 2U);
}

TEST(IValues, Dicts) {
  c10::Dict<std::string, std::string> dict;
  dict.insert("k", "v");
  const IValue value = dict;
  EXPECT_EQ(value.toGenericDict().at("k").toStringRef(), "v");
  EXPECT_EQ((value.to<c10::Dict<std::string, std::string>>().at("k")), "v");
  EXPECT_EQ(text_of(value), "{k: v}");
  using Map = std::unordered_map<std::string, int64_t>;
  const IValue map = Map{{"x", 3}};
  EXPECT_TRUE(map.isGenericDict());
  EXPECT_EQ(map.toGenericDict().at("x").toInt(), 3);
  EXPECT_EQ(map.to<Map>(), (Map{{"x", 3}}));
}

TEST(IValues, OptionalValuesAndTuples) {
  EXPECT_FALSE(IValue().toOptional<int64_t>().has_value());
  EXPECT_EQ(IValue(3).toOptional<int64_t>(), 3);
  EXPECT_EQ(IValue(2.5).to<std::optional<double>>(), 2.5);
  const IValue tuple = std::make_tuple(1, 2.5);
  EXPECT_EQ((std::get<1>(tuple.to<std::tuple<int64_t, double>>())), 2.5);
  EXPECT_EQ(tuple.toTupleRef().elements()[0].toInt(), 1);
}

TEST(IValues, StringsAndEquality) {
  const IValue text = "str";
  EXPECT_EQ(text.toString()->string(), "str");
  EXPECT_EQ(text.to<std::string>(), "str");
  EXPECT_TRUE(IValue(3) == IValue(3) && IValue("a") != IValue("b") && IValue(1) != IValue(1.0));
  EXPECT_EQ(c10::ivalue::from(3).toInt(), 3);
}

TEST(IValues, EqualityOfTensors) {
  const torch::Tensor one = torch::ones({1}), two = torch::ones({2}), undefined;
  EXPECT_TRUE(IValue(one) == IValue(torch::ones({1}, torch::kInt)));
  EXPECT_FALSE(IValue(one) == IValue(torch::zeros({1})));
  EXPECT_THROW(IValue(two) == IValue(two), c10::Error);
  EXPECT_THROW(IValue(undefined) == IValue(undefined), c10::Error);
  EXPECT_FALSE(IValue(undefined) == IValue());
  using Tensors = std::vector<torch::Tensor>;
  EXPECT_TRUE(IValue(Tensors{two, undefined}) == IValue(Tensors{two, undefined}));
  EXPECT_THROW(IValue(Tensors{two}) == IValue(Tensors{torch::ones({2})}), c10::Error);
  const auto tuple = [](const torch::Tensor& x) { return c10::ivalue::Tuple::create({IValue(x)}); };
  EXPECT_TRUE(IValue(tuple(two)) == IValue(tuple(two)));
  const IValue nan = c10::ivalue::Tuple::create({IValue(NAN)});
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(IValue(std::vector<IValue>{nan}) == IValue(std::vector<IValue>{nan}));
  EXPECT_THROW(IValue(tuple(two)) == IValue(tuple(torch::ones({2}))), c10::Error);
}

TEST(IValues, EqualityOfContainers) {
  using Ints = std::vector<int64_t>;
  EXPECT_TRUE(IValue(Ints{1}) == IValue(Ints{1}));
  EXPECT_FALSE(IValue(Ints{1}) == IValue(Ints{1, 2}) || IValue(Ints{1}) == IValue(Ints{2}));
  EXPECT_FALSE(IValue(Ints()) == IValue(std::vector<double>()));
  c10::impl::GenericList any(c10::AnyType::get()), self(c10::AnyType::get());
  any.push_back(1);
  EXPECT_FALSE(IValue(any) == IValue(Ints{1}));
  EXPECT_TRUE(any == any.copy() && IValue(any) == IValue(any.copy()));
  self.push_back(self);
  EXPECT_TRUE(self == self);
  self.clear();  // else it is never freed
  c10::Dict<std::string, int64_t> a, b;
  a.insert("x", 1);
  a.insert("y", 2);
  b.insert("y", 2);
  EXPECT_FALSE(a == b);
  b.insert("x", 1);
  EXPECT_TRUE(a == b && IValue(a) == IValue(b));
  EXPECT_TRUE(IValue(std::make_tuple(1, "a")) == IValue(std::make_tuple(1, "a")));
  EXPECT_FALSE(IValue(std::make_tuple(1, "a")) == IValue(std::make_tuple(1)));
  EXPECT_FALSE(IValue(NAN) == IValue(NAN));
  EXPECT_TRUE(IValue(Number(1, 2)) == IValue(Number(1, 2)));
}

TEST(IValues, WrongTypesThrow) {
  EXPECT_THROW(IValue(2).toIntList(), c10::Error);
  EXPECT_THROW(IValue(2).toBoolList(), c10::Error);
  EXPECT_THROW(IValue(2).toListRef(), c10::Error);
  EXPECT_THROW(IValue(2).toComplexDouble(), c10::Error);
  EXPECT_THROW(IValue(2).toGenerator(), c10::Error);
  EXPECT_THROW(IValue(1.0).toScalarType(), c10::Error);
  try {
    IValue("x").toScalar();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "IValue is not a Scalar");
  }
}

}  // namespace

TEST(IValues, CompareAsInPython) {
  const torch::Tensor t = torch::tensor({1, 2}), same_values = t.clone();
  const c10::IValue value(t), other(same_values);
  EXPECT_TRUE(value.equals(other).toTensor().all().item<bool>());
  EXPECT_FALSE(value.equals(c10::IValue(1)).toBool());
  EXPECT_TRUE(c10::IValue(1).equals(1).toBool());
  EXPECT_FALSE(c10::IValue(1).equals(1.0).toBool());
  EXPECT_TRUE(value.is(c10::IValue(t)));
  EXPECT_FALSE(value.is(other));
  EXPECT_TRUE(c10::IValue().is(c10::IValue()));
  const c10::IValue list(std::vector<int64_t>{3, 4}), copy = list;
  EXPECT_TRUE(list.is(copy));
  EXPECT_FALSE(list.is(c10::IValue(std::vector<int64_t>{3, 4})));
  EXPECT_TRUE(list.equals(c10::IValue(std::vector<int64_t>{3, 4})).toBool());
  EXPECT_EQ(list.toDimVector()[1], 4);
  EXPECT_FALSE(list.isObject() || list.isFuture() || list.isStorage());
}
