// Archives that LibTorch wrote (tests/oracle/libtorch_archives.cpp).
#include <gtest/gtest.h>

#include <fstream>

#include "hearth/io/pt.h"
#include "hearth/io/serialize.h"
#include "tests/io/pt_files.h"

namespace hearth {
namespace {

using testing::pt_file;

TEST(LibtorchArchives, LoadTensors) {
  const Tensor base = arange(6, kFloat).view({2, 3});
  Tensor tensor;
  load(tensor, pt_file("libtorch_tensor.pt"));
  EXPECT_TRUE(tensor.equal(base.t()));
  EXPECT_EQ(tensor.strides(), IntArrayRef({1, 3}));
  std::vector<Tensor> list;
  std::ifstream stream(pt_file("libtorch_list.pt"), std::ios::binary);
  load(list, stream);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_TRUE(list[0].equal(base));
  EXPECT_EQ(list[1].scalar_type(), kBool);
}

TEST(LibtorchArchives, LoadModules) {
  testing::Net net;
  load(net, pt_file("libtorch_module.pt"));
  EXPECT_TRUE(net.scale.equal(arange(2, kFloat) / 8));
  EXPECT_TRUE(net.fc->weight.equal(arange(2, 6, kFloat).view({2, 2}) / 8));
  EXPECT_TRUE(net.bn->weight.equal(arange(8, 10, kFloat) / 8));
  const std::string bytes = testing::bytes_of(pt_file("libtorch_module.pt"));
  testing::Net other;
  load(other, bytes.data(), bytes.size());
  EXPECT_TRUE(other.fc->bias.equal(net.fc->bias));
}

template <class Optimizer, class Options>
void expect_loads(const std::string& name, const Options& options) {
  const testing::Steps<Optimizer> stepped(options, /*in_two_groups=*/false);
  testing::Steps<Optimizer> loaded(Options(1.0), false, /*steps=*/0);
  load(loaded.optimizer, pt_file("libtorch_" + name + ".pt"));
  testing::expect_same_state(loaded.optimizer.state_dict(), stepped.optimizer.state_dict(), name);
}

TEST(LibtorchArchives, LoadOptimizers) {
  using namespace optim;
  expect_loads<SGD>("sgd", SGDOptions(0.1).momentum(0.5));
  expect_loads<Adam>("adam", AdamOptions(0.1).betas({0.8, 0.9}).amsgrad(true));
  expect_loads<AdamW>("adamw", AdamWOptions(0.1).weight_decay(0.5));
  expect_loads<RMSprop>("rmsprop", RMSpropOptions(0.1).centered(true).momentum(0.5));
  expect_loads<Adagrad>("adagrad", AdagradOptions(0.1).lr_decay(0.25));
}

TEST(LibtorchArchives, LoadPickledValues) {
  const std::string bytes = testing::bytes_of(pt_file("libtorch_pickle.pt"));
  const IValue value = pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
  const std::vector<IValue> items = value.toTupleRef().elements();
  ASSERT_EQ(items.size(), 10U);
  const GenericDict dict = items[0].toGenericDict();
  EXPECT_TRUE(dict.at("b").toTensor().equal(arange(3, 6, kFloat)));
  EXPECT_TRUE(dict.at("b").toTensor().is_alias_of(dict.at("a").toTensor()));
  EXPECT_EQ(items[1].toInt(), 3);
  EXPECT_TRUE(items[5].isNone());
  EXPECT_EQ(items[6].toIntVector(), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(items[6].isIntList() && items[7].isDoubleList() && items[9].isTensorList());
  EXPECT_EQ(items[8].toTupleRef().elements()[1].toStringRef(), "x");
}

}  // namespace
}  // namespace hearth
