// Numbers, strings, tuples, dicts and lists in archives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "hearth/io/archive.h"
#include "hearth/io/pt.h"
#include "hearth/ivalue_containers.h"
#include "hearth/tensor_literal.h"
#include "tests/io/archives.h"
#include "tests/support/throws.h"

namespace hearth::serialize {
namespace {

TEST(Archive, RoundTripsValues) {
  const double inf = std::numeric_limits<double>::infinity();
  OutputArchive root;
  root.write("int", INT64_MIN);
  root.write("size", size_t{3});
  root.write("double", 0.1);
  root.write("whole", 2.0);
  root.write("inf", -inf);
  root.write("nan", std::nan(""));
  root.write("true", true);
  root.write("text", "a \"b\" \xc3\xa9");
  root.write("ints", std::vector<int64_t>{1, -2});
  root.write("doubles", std::vector<double>{0.5, inf});
  root.write("tensors", std::vector<Tensor>{ones({1}), zeros({2})});
  root.write("none", IValue());
  InputArchive archive = through_stream(root);
  const auto get = [&](const std::string& key) {
    IValue value;
    archive.read(key, value);
    return value;
  };
  EXPECT_EQ(get("int").toInt(), INT64_MIN);
  EXPECT_EQ(get("double").toDouble(), 0.1);
  EXPECT_EQ(get("whole").toDouble(), 2);
  EXPECT_EQ(get("inf").toDouble(), -inf);
  EXPECT_TRUE(std::isnan(get("nan").toDouble()));
  EXPECT_TRUE(get("true").toBool());
  EXPECT_EQ(get("text").toStringRef(), "a \"b\" \xc3\xa9");
  EXPECT_EQ(get("ints").toIntVector(), (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(get("doubles").toDoubleVector(), (std::vector<double>{0.5, inf}));
  EXPECT_TRUE(get("none").isNone());
  const std::vector<Tensor> tensors = get("tensors").toTensorVector();
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_TRUE(tensors[1].equal(zeros({2})));

  size_t size = 0;
  int8_t narrow = 0;
  double number = 0;
  std::string text;
  bool flag = false;
  archive.read("size", size);
  archive.read("int", number);  // integers convert to double
  archive.read("text", text);
  archive(std::string("true"), flag);
  EXPECT_TRUE(size == 3 && number == -0x1p63 && flag && text.size() == 8);
  EXPECT_ERROR(archive.read("int", narrow), "'int' is -9223372036854775808, which does not fit");
}

std::string text_of(const IValue& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

TEST(Archive, RoundTripsTuplesDictsListsAndDevices) {
  const Tensor matrix = arange(6, kFloat).view({2, 3}).t(), mask = tensor({true, false});
  GenericDict dict, by_number;
  dict.insert("z", matrix.detach().requires_grad_());
  dict.insert("a", std::vector<Tensor>{mask, Tensor()});
  dict.insert("none", IValue());
  by_number.insert(2, "two");
  by_number.insert(-0.5, std::vector<IValue>{});
  by_number.insert(true, dict);
  by_number.insert("2", std::numeric_limits<double>::infinity());
  const IValue value = std::make_tuple(
      1, 2.0, "text", Tensor(), by_number, std::vector<IValue>{mask, IValue(), "x"},
      std::vector<int64_t>{1, -2}, std::vector<double>{0.5}, Device("cuda:1"), std::tuple<>());
  OutputArchive inner, root;
  inner.write("value", value);
  inner.write("device", Device("cuda:3"));
  inner.write("list", std::vector<IValue>{"a", 1});
  root.write("a", inner);
  const OutputArchive* as_written = &root;
  for (const bool in_memory : {false, true}) {
    InputArchive archive = in_memory ? InputArchive(*as_written) : through_stream(root), nested;
    archive.read("a", nested);
    EXPECT_EQ(nested.keys().size(), 3U);
    const IValue read = value_in(nested, "value");
    EXPECT_EQ(text_of(read), text_of(value));
    const std::vector<IValue> items = read.toTupleRef().elements();
    EXPECT_TRUE(items[1].isDouble() && items[3].isTensor() && items[4].isGenericDict());
    EXPECT_TRUE(items[5].isList() && items[6].isIntList() && items[7].isDoubleList());
    const GenericDict inside = items[4].toGenericDict().at(true).toGenericDict();
    const Tensor weight = inside.at("z").toTensor();
    EXPECT_TRUE(weight.equal(matrix) && weight.strides() == matrix.strides());
    EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
    EXPECT_TRUE(inside.at("a").isTensorList() && inside.at("none").isNone());
    EXPECT_EQ(value_in(nested, "device").toDevice(), Device("cuda:3"));
    EXPECT_EQ(text_of(value_in(nested, "list")), "[a, 1]");
    Tensor tensor;
    EXPECT_ERROR(nested.read("value", tensor), "No such serialized tensor 'a.value'");
    EXPECT_ERROR(nested.read("value", tensor), "; found Tuple");
  }
}

/// Neither the program's later changes nor those of values that were read change the archive.
TEST(Archive, CopiesNestedValues) {
  GenericDict dict;
  dict.insert("x", ones({2}));
  OutputArchive root;
  root.write("dict", dict);
  dict.insert("y", 1);
  const OutputArchive* as_written = &root;
  for (const bool in_memory : {false, true}) {
    InputArchive archive = in_memory ? InputArchive(*as_written) : through_stream(root);
    const GenericDict first = value_in(archive, "dict").toGenericDict();
    first.at("x").toTensor().fill_(7);
    first.insert("z", 2);
    const GenericDict second = value_in(archive, "dict").toGenericDict();
    EXPECT_EQ(second.size(), 1U);
    EXPECT_TRUE(second.at("x").toTensor().equal(ones({2})));
  }
}

TEST(Archive, NamesOfNestedTensorsDoNotCollideWithKeys) {
  for (const bool key_first : {false, true}) {
    OutputArchive root;
    if (key_first) root.write("pair#0", zeros({1}));
    root.write("pair", std::make_tuple(ones({2}), ones({3})));
    if (!key_first) root.write("pair#0", zeros({1}));
    root.write("pair#1", "text");
    InputArchive archive = through_stream(root);
    std::vector<std::string> keys = archive.keys();
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, (std::vector<std::string>{"pair", "pair#0", "pair#1"}));
    Tensor tensor;
    archive.read("pair#0", tensor);
    EXPECT_TRUE(tensor.equal(zeros({1})));
    const std::vector<IValue> pair = value_in(archive, "pair").toTupleRef().elements();
    EXPECT_TRUE(pair[0].toTensor().equal(ones({2})) && pair[1].toTensor().equal(ones({3})));
    EXPECT_FALSE(archive.contains("pair#2") || archive.contains("pair#3"));
  }
}

TEST(Archive, LimitsTheDepthOfValues) {
  IValue value = std::vector<int64_t>{1};
  for (int i = 0; i < 256; ++i) value = std::make_tuple(value);
  OutputArchive root;
  root.write("deep", value);
  InputArchive archive = through_stream(root);
  EXPECT_EQ(text_of(value_in(archive, "deep")), text_of(value));
  EXPECT_ERROR(root.write("deeper", std::make_tuple(value)),
               "cannot save 'deeper': values are nested deeper than 256 levels");
  const GenericDict endless;
  endless.insert("self", endless);
  EXPECT_ERROR(root.write("endless", endless), "or contain themselves");
  IValue doubled = 1;
  for (int i = 0; i < 40; ++i) doubled = ivalue::Tuple::create(doubled, doubled);
  EXPECT_ERROR(root.write("doubled", doubled), "it contains more than 10000000 values");
  endless.erase("self");
}

TEST(Archive, ReadsASubtreeWithoutItemsAsAListOnlyIfItIsEmpty) {
  OutputArchive layer, list, empty, root;
  layer.write("weight", ones({2}));
  list.write("0", ones({3}));
  root.write("layer", layer);
  root.write("list", list);
  root.write("empty", empty);
  InputArchive archive = through_stream(root);
  EXPECT_EQ(value_in(archive, "list").toTensorVector().size(), 1U);
  EXPECT_TRUE(value_in(archive, "empty").toTensorVector().empty());
  EXPECT_ERROR(value_in(archive, "layer"), "No such serialized IValue 'layer'");
}

TEST(Archive, ReadsNoListFromASubtreeWithOtherKeys) {
  for (const char* const other : {"name", "2", "size"}) {
    OutputArchive part, root;
    part.write("0", ones({3}));
    part.write(other, IValue(7));
    root.write("part", part);
    InputArchive archive = through_stream(root);
    EXPECT_ERROR(value_in(archive, "part"), "No such serialized IValue 'part'");
  }
  OutputArchive inner, part, root;
  inner.write("0", ones({2}));
  part.write("0", ones({3}));
  part.write("1", inner);
  root.write("part", part);
  InputArchive archive = through_stream(root);
  EXPECT_ERROR(value_in(archive, "part"), "No such serialized IValue 'part'");
}

TEST(Archive, ReadsEmptyListsOfPython) {
  GenericDict dict;
  dict.insert("empty", std::vector<IValue>{});
  dict.insert("nested", std::vector<IValue>{IValue(std::vector<IValue>{"a"})});
  const std::vector<char> bytes = pickle_save(dict);
  InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  EXPECT_TRUE(value_in(archive, "empty").isList());
  EXPECT_ERROR(value_in(archive, "nested"), "No such serialized IValue 'nested'");
}

}  // namespace
}  // namespace hearth::serialize
