// Pickled values and DLPack tensors, as LibTorch programs use them.
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/torch.h>

#include <ATen/DLConvertor.h>

#include <cstdio>

namespace {

TEST(Files, PickledDictsOfTensors) {
  c10::Dict<std::string, at::Tensor> dict;
  EXPECT_TRUE(dict.empty());
  dict.insert("weight", torch::ones({2, 2}));
  dict.insert("bias", torch::zeros({2}));
  dict.insert_or_assign("bias", torch::full({2}, 3.0));
  EXPECT_EQ(dict.size(), 2u);
  EXPECT_TRUE(dict.contains("bias"));
  const std::vector<char> bytes = torch::pickle_save(dict);

  c10::Dict<c10::IValue, c10::IValue> read = torch::pickle_load(bytes).toGenericDict();
  double sum = 0;
  for (const auto& entry : read) {
    EXPECT_TRUE(entry.key().isString());
    sum += entry.value().toTensor().sum().item<double>();
  }
  EXPECT_EQ(sum, 10);
  EXPECT_TRUE(read.find("none") == read.end());
  EXPECT_EQ(read.find("bias")->value().toTensor()[0].item<float>(), 3);
  EXPECT_EQ(torch::jit::pickle_load(bytes).toGenericDict().size(), 2u);
}

TEST(Files, TuplesAndLists) {
  const c10::IValue value = c10::ivalue::Tuple::create(1, 2.5, "text");
  EXPECT_TRUE(value.isTuple());
  EXPECT_EQ(value.toTupleRef().elements().size(), 3u);
  EXPECT_EQ(value.toTuple()->elements()[2].toStringRef(), "text");
  const c10::IValue again = torch::pickle_load(torch::pickle_save(value));
  EXPECT_EQ(again.toTupleRef().elements()[1].toDouble(), 2.5);
  const c10::IValue pair = std::make_tuple(torch::ones({2}), std::string("x"));
  torch::serialize::OutputArchive written;
  written.write("pair", pair);
  std::stringstream stream;
  written.save_to(stream);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  c10::IValue read;
  archive.read("pair", read);
  EXPECT_TRUE(read.toTuple()->elements()[0].toTensor().equal(torch::ones({2})));
  EXPECT_EQ(read.toTuple()->elements()[1].toStringRef(), "x");
  EXPECT_TRUE(c10::IValue(std::vector<int64_t>{1, 2}).isList());
  EXPECT_TRUE(c10::IValue(at::Device("cpu")).isDevice());
}

TEST(Files, Dlpack) {
  const at::Tensor tensor = torch::arange(6).view({2, 3}).t();
  const at::Tensor again = at::fromDLPack(at::toDLPack(tensor));
  EXPECT_TRUE(again.equal(tensor));
  EXPECT_EQ(again.data_ptr(), tensor.data_ptr());
  EXPECT_EQ(again.strides(), tensor.strides());
  EXPECT_EQ(at::getDLDataType(tensor).bits, 64);
}

TEST(Files, TensorsInTheMemoryOfAFile) {
  const std::string path = ::testing::TempDir() + "hearth_from_file";
  std::remove(path.c_str());
  EXPECT_THROW(torch::from_file(path, false, 2), c10::Error);
  const auto shared = torch::from_file(path, true, 4, torch::kInt);
  shared.copy_(torch::arange(4));
  const auto own = at::from_file(path, std::nullopt, 3, torch::kInt);
  EXPECT_TRUE(own.equal(torch::arange(3).to(torch::kInt)));
  own.fill_(7);
  EXPECT_TRUE(shared.equal(torch::arange(4).to(torch::kInt)));
  EXPECT_EQ(torch::from_file(path).numel(), 0);
  EXPECT_THROW(torch::from_file(path, false, 5, torch::kInt), c10::Error);
  EXPECT_THROW(torch::from_file(path, true, -1), c10::Error);
  EXPECT_THROW(torch::from_file(path, true, int64_t{1} << 62, torch::kInt), c10::Error);
  std::remove(path.c_str());
}

}  // namespace
