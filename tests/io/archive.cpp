#include "hearth/io/archive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <sstream>

#include "hearth/cuda.h"
#include "hearth/io/pt.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/serialize.h"
#include "hearth/ivalue_containers.h"
#include "hearth/tensor_literal.h"
#include "tests/support/files.h"

namespace hearth::serialize {
namespace {

using testing::TempFolder;

/// Saves the archive to a stream and loads it again.
InputArchive through_stream(const OutputArchive& written) {
  std::stringstream stream;
  written.save_to(stream);
  InputArchive archive;
  archive.load_from(stream);
  return archive;
}

TEST(Archive, RoundTripsATree) {
  OutputArchive net, empty_part, root;
  net.write("weight", arange(6, kFloat).view({2, 3}).requires_grad_());
  net.write("bias", Tensor());
  root.write("net", net);
  root.write("relu", empty_part);
  root.write("step", 7);
  const OutputArchive* as_written = &root;
  for (const bool in_memory : {false, true}) {
    InputArchive archive = in_memory ? InputArchive(*as_written) : through_stream(root);
    InputArchive nested, submodule;
    Tensor weight, bias, other = zeros({2, 3}, kDouble);
    archive.read("net", nested);
    nested.read("weight", weight);
    nested.read("bias", bias);
    nested.read("weight", other);
    EXPECT_TRUE(weight.equal(arange(6, kFloat).view({2, 3})));
    EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
    EXPECT_FALSE(bias.defined());
    EXPECT_EQ(other[1][2].item<double>(), 5);
    EXPECT_TRUE(archive.try_read("relu", submodule));
    EXPECT_TRUE(submodule.keys().empty());
    EXPECT_FALSE(archive.try_read("gelu", submodule));
    EXPECT_EQ(nested.keys().size(), 2U);
    EXPECT_TRUE(archive.contains("net") && archive.contains("net.weight"));
    EXPECT_FALSE(archive.contains("ne") || archive.contains("net."));
  }
}

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

IValue value_in(InputArchive& archive, const std::string& key) {
  IValue value;
  archive.read(key, value);
  return value;
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

TEST(Archive, ErrorsNameTheKey) {
  OutputArchive inner, root;
  inner.write("x", ones({2}));
  inner.write("n", 1);
  root.write("a", inner);
  InputArchive archive = through_stream(root), nested;
  archive.read("a", nested);
  Tensor t;
  std::string text;
  bool flag = false;
  EXPECT_ERROR(nested.read("y", t), "No such serialized tensor 'a.y' in 'the stream'");
  EXPECT_ERROR(nested.read("n", t), "No such serialized tensor 'a.n' in 'the stream'; found Int");
  EXPECT_ERROR(nested.read("x", text), "No such serialized string 'a.x'");
  EXPECT_ERROR(nested.read("x", nested), "No such serialized submodule: 'a.x'");
  EXPECT_FALSE(nested.try_read("n", text) || nested.try_read("n", flag) || nested.try_read("y", t));
  Tensor wrong = zeros({3}), integers = zeros({2}, kLong);
  EXPECT_ERROR(nested.read("x", integers), "'a.x' was saved as Float, which cannot be read into a");
  nested.read("x", wrong);
  EXPECT_TRUE(wrong.equal(ones({2})));
  wrong = zeros({3});
  archive.require_same_sizes();
  archive.read("a", nested);
  EXPECT_ERROR(
      nested.read("x", wrong),
      "size mismatch for a.x: copying a param with shape [2] from checkpoint, the shape in "
      "current model is [3].");
  EXPECT_ERROR(root.write("a", 1), "already has a value under 'a'");
  EXPECT_ERROR(root.write("a", root), "cannot be written into itself");
}

TEST(Archive, ReadsFilesWithoutMetadataAsTrees) {
  std::ostringstream out;
  io::save_safetensors({{"net.fc.weight", ones({2, 2})}, {"net.fc.bias", zeros({2})}},
                       [&](const void* data, size_t bytes) {
                         out.write(static_cast<const char*>(data), std::streamsize(bytes));
                       });
  const std::string bytes = out.str();
  InputArchive archive, net, fc;
  archive.load_from(bytes.data(), bytes.size());
  archive.read("net", net);
  net.read("fc", fc);
  EXPECT_EQ(fc.keys(), (std::vector<std::string>{"weight", "bias"}));
  Tensor bias;
  fc.read("bias", bias);
  EXPECT_TRUE(bias.equal(zeros({2})));
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

/// Large tensors, because SafetensorsFile maps these into memory.
TEST(Archive, LoadedTensorsDoNotDependOnTheFile) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  const Tensor large = arange(100000, kFloat);
  save(large, path);
  Tensor read;
  load(read, path);
  InputArchive archive;
  archive.load_from(path);
  IValue value;
  archive.read("0", value);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-64, std::ios::end);
    file << std::string(64, 'x');
  }
  EXPECT_TRUE(read.equal(large) && value.toTensor().equal(large));
  std::filesystem::resize_file(path, 100);
  EXPECT_TRUE(read.equal(large) && value.toTensor().equal(large));
}

TEST(Archive, LoadsToTheSavedOrGivenDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const TempFolder folder;
  const std::string path = folder.path("x");
  save(ones({3}, kCUDA), path);
  Tensor on_gpu, on_cpu;
  load(on_gpu, path);
  load(on_cpu, path, kCPU);
  EXPECT_EQ(on_gpu.device(), Device("cuda:0"));
  EXPECT_TRUE(on_cpu.is_cpu());
  on_gpu = zeros({3}, kCUDA);
  load(on_gpu, path, kCPU);
  EXPECT_TRUE(on_gpu.is_cuda());
  EXPECT_EQ(on_gpu.sum().item<float>(), 3);

  OutputArchive root;
  root.write("pair", std::make_tuple(ones({3}, kCUDA), ones({2})));
  root.save_to(path);
  for (const auto device : {std::optional<Device>(), std::optional<Device>(kCPU)}) {
    InputArchive archive;
    archive.load_from(path, device);
    const std::vector<IValue> pair = value_in(archive, "pair").toTupleRef().elements();
    EXPECT_EQ(pair[0].toTensor().is_cuda(), !device);
    EXPECT_EQ(pair[0].toTensor().sum().item<float>(), 3);
    EXPECT_TRUE(pair[1].toTensor().is_cpu());
  }
}

TEST(Archive, WritesAFileForPython) {
  const char* output_folder = std::getenv("HEARTH_KEEP_FILES");
  if (!output_folder) GTEST_SKIP() << "for tests/oracle/safetensors_file.py check";
  OutputArchive net, root;
  net.write("weight", arange(6, kFloat).view({2, 3}));
  net.write("mask", tensor({true, false}), true);
  root.write("net", net);
  root.write("half", arange(5, kBFloat16));
  root.write("step", 5);
  root.write("lr", 0.1);
  root.write("name", "a \"name\"");
  root.write("done", false);
  root.save_to(std::string(output_folder) + "/archive.safetensors");
}

TEST(Archive, ReadsAndWritesThroughCallbacks) {
  std::string bytes;
  OutputArchive root;
  root.write("x", ones({2}));
  root.save_to([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  InputArchive archive;
  archive.load_from(
      [&](uint64_t offset, void* buffer, size_t size) {
        return bytes.copy(static_cast<char*>(buffer), size, offset);
      },
      [&] { return bytes.size(); });
  EXPECT_TRUE(archive.contains("x"));
  EXPECT_ERROR(root.save_to([](const void*, size_t) { return size_t{1}; }),
               "the function wrote 1 of ");
}

struct Point {
  int64_t x = 0;
  Tensor t;
  void save(OutputArchive& archive) const {
    archive.write("x", x);
    archive.write("t", t);
  }
  void load(InputArchive& archive) {
    archive.read("x", x);
    archive.read("t", t);
  }
};

// A parser with quadratic time would take minutes. Processor time, since other tests run beside
// this one.
TEST(Archive, ReadsManyTensorsInLinearTime) {
  OutputArchive out;
  const Tensor one = ones({1}, requires_grad());
  for (int i = 0; i < 40'000; ++i) out.write(std::to_string(i), one);
  const std::clock_t begin = std::clock();
  InputArchive archive = through_stream(out);
  Tensor t;
  archive.read("39999", t);
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 10);
  EXPECT_TRUE(t.requires_grad());
}

TEST(Save, RoundTripsTensorsListsAndObjects) {
  const TempFolder folder;
  const std::string path = folder.path("x.pt");
  save(arange(3), path);
  Tensor t, same = zeros({3}, kLong), other = ones({2, 2}), alias = other;
  load(t, path);
  load(same, path);
  load(other, path);
  EXPECT_TRUE(t.equal(arange(3)) && same.equal(arange(3)) && alias.equal(arange(3)));

  save(std::vector<Tensor>{ones({1}), Tensor(), zeros({2})}, path);
  std::vector<Tensor> list;
  load(list, path);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_TRUE(list[0].equal(ones({1})) && !list[1].defined() && list[2].equal(zeros({2})));

  const auto pointer = std::make_shared<Point>(Point{5, ones({2})});
  save(pointer, path);
  Point loaded;
  load(loaded, path);
  EXPECT_TRUE(loaded.x == 5 && loaded.t.equal(ones({2})));
  EXPECT_ERROR(load(t, path), "No such serialized tensor '0' in");
  EXPECT_ERROR(save(t, folder.path("no/x.pt")), "No such file");
  EXPECT_EQ(folder.count(), 1U);
}

}  // namespace
}  // namespace hearth::serialize
