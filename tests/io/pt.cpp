// Files of Python's torch.save. tests/oracle/pt_files.py writes the fixtures, and checks the files
// that Hearth writes.
#include "hearth/io/pt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "hearth/amp.h"
#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/io/jit.h"
#include "hearth/io/serialize.h"
#include "hearth/io/tensors.h"
#include "hearth/nn/linear.h"
#include "hearth/nn/rnn.h"
#include "hearth/operators.h"
#include "hearth/optim/optim.h"
#include "hearth/tensor_literal.h"
#include "tests/io/pt_files.h"

namespace hearth::io {
namespace {

using testing::TempFolder;

Tensor tensor_at(const IValue& dict, const char* key) {
  return dict.toGenericDict().at(key).toTensor();
}
std::string text_of(const IValue& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Pt, ReadsEveryDtype) {
  const GenericDict dict = load_pt(testing::pt_file("dtypes.pt")).toGenericDict();
  EXPECT_EQ(dict.size(), 12U);
  for (const auto& item : dict) {
    const Tensor tensor = item.value().toTensor();
    EXPECT_EQ(item.key().toStringRef(), python_name_of(tensor.scalar_type()));
    EXPECT_TRUE(tensor.equal(arange(5).to(tensor.scalar_type()))) << item.key();
  }
}

void expect_stored_dtypes(const char* name) {
  const GenericDict dict = load_pt(testing::pt_file(name)).toGenericDict();
  EXPECT_EQ(dict.size(), 10U);
  int matching = 0;
  for (const auto& item : dict) {
    const Tensor tensor = item.value().toTensor();
    if (item.key().toStringRef() != python_name_of(tensor.scalar_type())) continue;
    ++matching;
    EXPECT_TRUE(tensor.equal(arange(1, 5).to(tensor.scalar_type()))) << item.key();
  }
  EXPECT_EQ(matching, 8);
  const Tensor base = dict.at("uint32").toTensor(), transposed = dict.at("transposed").toTensor();
  EXPECT_EQ(transposed.strides(), IntArrayRef({1, 2}));
  EXPECT_TRUE(transposed.is_alias_of(base));
  EXPECT_TRUE(dict.at("row").toTensor().equal(base.slice(0, 1, 3)));
}

/// Python has no class of storages for these dtypes.
TEST(Pt, ReadsDtypesWithoutStorages) { expect_stored_dtypes("stored.pt"); }

/// PyTorch 2.15 does not swap the bytes of these dtypes.
TEST(Pt, ReadsBigEndianDtypesWithoutStorages) { expect_stored_dtypes("big_endian_stored.pt"); }

/// PyTorch does not swap the bytes either.
TEST(Pt, ReadsBigEndianBytesUnchanged) {
  const IValue pair = load_pt(testing::pt_file("big_endian_uint8_float8.pt"));
  const Tensor bytes = pair.toList().get(0).toTensor(), floats = pair.toList().get(1).toTensor();
  EXPECT_TRUE(bytes.equal(arange(1, 13, kByte)));
  EXPECT_TRUE(floats.view(kByte).equal(bytes) && floats.is_alias_of(bytes));
}

TEST(Pt, ReadsValues) {
  const IValue value = load_pt(testing::pt_file("values.pt"));
  EXPECT_EQ(text_of(value),
            "{none: None, bool: True, int: -3, large: 1099511627776, negative: -1099511627776, "
            "float: 2.5, text: é, list: [1, 2.5, x, [False]], tuple: (1, (2, 3), ()), empty: {}, "
            "7: seven, size: (2, 3), dtype: torch.float32, device: cuda:1, ordered: {a: 1}, "
            "bytes255: 255, short: 65535, word: 65536}");
  EXPECT_EQ(value.toGenericDict().at("device").toDevice(), Device("cuda:1"));
  EXPECT_EQ(value.toGenericDict().at(7).toStringRef(), "seven");
  const NamedValues flat = named_values(value);
  EXPECT_EQ(flat.size(), 23U);
  EXPECT_EQ(flat[10].first, "list.3.0");
  GenericDict without_name;
  without_name.insert("", ones({1}));
  EXPECT_EQ(named_values(without_name)[0].first, "");
  EXPECT_EQ(named_values(ones({1}))[0].first, "0");
}

TEST(Pt, ReadsValuesOfOtherClasses) {
  const GenericDict dict = load_pt(testing::pt_file("builtins.pt")).toGenericDict();
  const std::vector<IValue> set = dict.at("set").toList().vec();
  EXPECT_EQ(set.size(), 3U);  // in any order
  EXPECT_TRUE(std::any_of(set.begin(), set.end(), [](const IValue& item) {
    return item.isTuple() && text_of(item) == "(2, 3)";
  }));
  EXPECT_EQ(dict.at("empty").toList().size(), 0U);
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  EXPECT_EQ(dict.at("bytes").toStringRef(), all_bytes);
  EXPECT_EQ(dict.at("bytearray").toStringRef(), "a\xff");
  EXPECT_EQ(dict.at("none").toStringRef(), "");
  EXPECT_EQ(dict.at("complex").toComplexDouble(), complex<double>(1.5, -2));
}

TEST(Pt, ReadsLazyConjugatesAndNegatives) {
  const IValue dict = load_pt(testing::pt_file("lazy.pt"));
  const Tensor z = tensor({complex<float>(1, 2), complex<float>(3, -4), complex<float>(0, 5),
                           complex<float>(-6, 0)})
                       .view({2, 2});
  EXPECT_TRUE(tensor_at(dict, "conj").equal(z.conj()));
  EXPECT_TRUE(tensor_at(dict, "neg").equal(tensor({{-2., 4.}, {-5., 0.}})));
  EXPECT_TRUE(tensor_at(dict, "both").equal(z.t().conj()));
  EXPECT_TRUE(tensor_at(dict, "row").equal(z.conj()[1]));
}

TEST(Pt, KeepsStridesAndSharedMemory) {
  const IValue dict = load_pt(testing::pt_file("shared.pt"));
  const Tensor base = tensor_at(dict, "base"), strided = tensor_at(dict, "strided"),
               expanded = tensor_at(dict, "expanded");
  EXPECT_TRUE(base.equal(arange(12, kFloat).view({3, 4})));
  for (const char* view : {"transposed", "row", "column", "strided", "expanded", "scalar"})
    EXPECT_TRUE(tensor_at(dict, view).is_alias_of(base)) << view;
  EXPECT_EQ(strided.strides(), IntArrayRef({8, 1}));
  EXPECT_EQ(strided.storage_offset(), 1);
  EXPECT_EQ(expanded.strides(), IntArrayRef({0, 1}));
  EXPECT_EQ(tensor_at(dict, "scalar").item<float>(), 11);
  EXPECT_TRUE(tensor_at(dict, "parameter").requires_grad() &&
              tensor_at(dict, "parameter").is_leaf());
  EXPECT_TRUE(tensor_at(dict, "grad").requires_grad());
  EXPECT_FALSE(base.requires_grad() || base.is_view());
  EXPECT_EQ(tensor_at(dict, "empty").sizes(), IntArrayRef({0, 3}));
  base.fill_(5);
  EXPECT_EQ(tensor_at(dict, "row").sum().item<float>(), 20);
}

TEST(Pt, ReadsDeflatedBigEndianAndUncheckedArchives) {
  for (const char* name : {"deflated.pt", "big_endian.pt", "protocol4.pt", "unchecked.pt"}) {
    const IValue dict = load_pt(testing::pt_file(name));
    EXPECT_TRUE(tensor_at(dict, "a").equal(arange(3, kFloat))) << name;
    EXPECT_TRUE(tensor_at(dict, "b").equal(arange(4, kFloat).view({2, 2}))) << name;
  }
}

TEST(Pt, RoundTripsFiles) {
  const TempFolder folder;
  for (const char* name : {"values.pt", "shared.pt", "dtypes.pt", "stored.pt", "adam.pt"}) {
    const IValue first = load_pt(testing::pt_file(name));
    save_pt(first, folder.path(name));
    EXPECT_EQ(text_of(load_pt(folder.path(name))), text_of(first)) << name;
  }
  const IValue again = load_pt(folder.path("shared.pt"));
  EXPECT_TRUE(tensor_at(again, "strided").is_alias_of(tensor_at(again, "base")));
  EXPECT_EQ(tensor_at(again, "transposed").strides(), IntArrayRef({1, 4}));
  EXPECT_TRUE(tensor_at(again, "grad").requires_grad());
  EXPECT_EQ(folder.count(), 5U);
}

TEST(Pt, MapsLargeTensors) {
  const TempFolder folder;
  const std::string path = folder.path("large.pt");
  const Tensor large = arange(1 << 16, kFloat), other = ones({3}, kInt);
  save_pt(NamedTensors{{"other", other}, {"large", large}}, path);
  const std::string bytes = testing::bytes_of(path);
  const Tensor loaded = tensor_at(load_pt(path), "large");
  EXPECT_TRUE(loaded.equal(large));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(loaded.data_ptr()) % 64, 0U);
  loaded.zero_();
  EXPECT_TRUE(testing::bytes_of(path) == bytes);
}

TEST(Pt, ExpandedTensorsStaySmall) {
  const TempFolder folder;
  const std::string path = folder.path("mask.pt");
  save_tensors({{"mask", ones({1, 1}).expand({1024, 1024})}}, path);
  EXPECT_LT(testing::bytes_of(path).size(), 4096U);
  EXPECT_EQ(load_tensors(path).at(0).second.sizes(), IntArrayRef({1024, 1024}));
}

TEST(Pt, PicklesValuesOfEveryType) {
  const Tensor matrix = arange(6, kFloat).view({2, 3});
  GenericDict dict;
  dict.insert("weight", matrix);
  dict.insert("row", matrix[1]);
  dict.insert(2.5, std::vector<int64_t>{1, -2, 300, 70000, -1LL << 40});
  const IValue value = ivalue::Tuple::create(
      IValue(dict), IValue(true), IValue(), IValue(std::vector<double>{0.5, -1e300}),
      IValue(std::vector<Tensor>{matrix, Tensor()}), IValue(Device("cpu")));
  const IValue again = pickle_load(pickle_save(value));
  EXPECT_EQ(text_of(again.toTupleRef().elements()[0]), text_of(dict));
  EXPECT_TRUE(again.toTupleRef().elements()[1].toBool());
  EXPECT_EQ(again.toTupleRef().elements()[3].toDoubleVector(), (std::vector<double>{0.5, -1e300}));
  const GenericDict read = again.toTuple()->elements()[0].toGenericDict();
  EXPECT_TRUE(read.at("row").toTensor().is_alias_of(read.at("weight").toTensor()));
  EXPECT_EQ(read.at(2.5).toIntVector()[3], 70000);
  EXPECT_FALSE(again.toTupleRef().elements()[4].toList().get(1).isTensor());
  EXPECT_EQ(again.toTupleRef().elements()[5].toDevice(), Device(kCPU));
  const Dict<std::string, Tensor> tensors;
  tensors.insert("a", matrix);
  for (const auto& item : pickle_load(pickle_save(tensors)).toGenericDict())
    EXPECT_TRUE(item.value().toTensor().equal(matrix)) << item.key();
}

TEST(Pt, MovesTensorsBetweenDevices) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  const TempFolder folder;
  const std::string path = folder.path("x.pt");
  const Tensor base = arange(6, TensorOptions(kCUDA).dtype(kFloat)).view({2, 3});
  save_pt(NamedTensors{{"base", base}, {"row", base[1]}}, path);
  for (const Device device : {Device("cuda:0"), Device("cpu")}) {
    const IValue dict = device.is_cpu() ? load_pt(path, kCPU) : load_pt(path);
    EXPECT_EQ(tensor_at(dict, "row").device(), device);
    EXPECT_TRUE(tensor_at(dict, "row").is_alias_of(tensor_at(dict, "base")));
    EXPECT_TRUE(tensor_at(dict, "row").cpu().equal(arange(3, 6, kFloat)));
  }
  nn::Linear model(2, 2);
  model->to(Device("cuda:0"));
  save_pt(model->state_dict(), path);
  nn::Linear other(2, 2);
  load(other, path, kCPU);
  EXPECT_TRUE(other->weight.equal(model->weight.cpu()));
}

TEST(Pt, LoadsModules) {
  testing::Net net;
  load(net, testing::pt_file("module.pt"));
  EXPECT_EQ(net.scale.sum().item<float>(), 0.125F);
  EXPECT_TRUE(net.fc->weight.equal(arange(2, 6, kFloat).view({2, 2}) / 8));
  EXPECT_TRUE(net.fc->weight.requires_grad());
  EXPECT_EQ(net.bn->running_var.sum().item<float>(), 2);
  nn::Linear wrong(2, 2);
  EXPECT_ERROR(load(wrong, testing::pt_file("module.pt")), "found 'fc.weight': remove the prefix");
}

TEST(Pt, LoadsTensorsAndLists) {
  Tensor tensor;
  load(tensor, testing::pt_file("tensor.pt"));
  EXPECT_TRUE(tensor.equal(arange(6, kFloat).view({2, 3}).t()));
  EXPECT_EQ(tensor.strides(), IntArrayRef({1, 3}));
  std::vector<Tensor> list;
  load(list, testing::pt_file("list.pt"));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].scalar_type(), kLong);
}

/// Loads an optimizer of pt_files.py's stepped(), saves it and loads it again.
template <class Optimizer, class Options>
void expect_same_optimizer(const std::string& name, const Options& options,
                           bool in_two_groups = true) {
  const testing::Steps<Optimizer> stepped(options, in_two_groups);
  testing::Steps<Optimizer> loaded(Options(1.0), in_two_groups, /*steps=*/0);
  load(loaded.optimizer, testing::pt_file(name + ".pt"));
  testing::expect_same_state(loaded.optimizer.state_dict(), stepped.optimizer.state_dict(), name);
  // The other direction: a state dict in Python's form.
  const IValue python = to_python(stepped.optimizer.state_dict());
  const TempFolder folder;
  save_pt(python, folder.path("x.pt"));
  testing::Steps<Optimizer> again(Options(1.0), in_two_groups, 0);
  load(again.optimizer, folder.path("x.pt"));
  testing::expect_same_state(again.optimizer.state_dict(), stepped.optimizer.state_dict(), name);
  if (const char* output_folder = std::getenv("HEARTH_KEEP_FILES"))
    save_pt(python, std::string(output_folder) + "/again_" + name + ".pt");
}

TEST(Pt, LoadsOptimizers) {
  using namespace optim;
  expect_same_optimizer<Adam>("adam", AdamOptions(0.1).betas({0.8, 0.9}).amsgrad(true));
  expect_same_optimizer<AdamW>("adamw", AdamWOptions(0.1));
  expect_same_optimizer<SGD>("sgd", SGDOptions(0.1).momentum(0.5).nesterov(true));
  expect_same_optimizer<SGD>("sgd_plain", SGDOptions(0.1));
  expect_same_optimizer<RMSprop>("rmsprop", RMSpropOptions(0.1).centered(true).momentum(0.5));
  expect_same_optimizer<Adagrad>("adagrad", AdagradOptions(0.1));
}

TEST(Pt, LoadsOptimizersWithNoneAndLists) {
  using namespace optim;
  expect_same_optimizer<Adafactor>("adafactor", AdafactorOptions(0.1));
  expect_same_optimizer<Muon>("muon", MuonOptions(0.1), false);
  const auto lbfgs = LBFGSOptions(0.1).history_size(4);
  expect_same_optimizer<LBFGS>("lbfgs", LBFGSOptions(lbfgs).max_iter(4), false);
  const auto wolfe = LBFGSOptions(0.1).line_search_fn("strong_wolfe");
  testing::Steps<LBFGS> first(wolfe, false, 0);
  load(first.optimizer, testing::pt_file("lbfgs_first.pt"));
  const StateDict dict = first.optimizer.state_dict();
  EXPECT_TRUE(dict["param_groups.0.line_search_fn"].isNone());
  EXPECT_EQ(dict["state.0.old_dirs.size"].toInt(), 0);
  EXPECT_EQ(dict["state.0.H_diag"].toTensor().item<float>(), 1);
}

TEST(Pt, ReadsParametersOfTorchScript) {
  for (const char* name : {"traced.pt", "scripted.pt"}) {
    const NamedTensors tensors = load_jit_parameters(testing::pt_file(name));
    std::string names;
    for (const auto& [key, tensor] : tensors) names += key + " ";
    EXPECT_EQ(names,
              "scale fc.weight fc.bias bn.weight bn.bias bn.running_mean bn.running_var "
              "bn.num_batches_tracked ")
        << name;
    EXPECT_TRUE(tensors[1].second.equal(arange(2, 6, kFloat).view({2, 2}) / 8));
    testing::Net net;
    net.load_state_dict(tensors);
    load(net, testing::pt_file(name));
    EXPECT_ERROR(load_pt(testing::pt_file(name)), "load_jit_parameters reads its tensors");
  }
  EXPECT_ERROR(load_jit_parameters(testing::pt_file("module.pt")), "has no TorchScript module");
}

// The file has a list of the same weights, which is no state.
TEST(Pt, ReadsParametersOfAScriptedLstm) {
  nn::LSTM lstm(2, 3);
  const NamedTensors tensors = load_jit_parameters(testing::pt_file("scripted_lstm.pt"));
  EXPECT_EQ(tensors.size(), 4U);
  lstm->load_state_dict(tensors);
  EXPECT_TRUE(lstm->parameters()[0].equal(tensors[0].second));
  EXPECT_EQ(load_jit_parameters(testing::pt_file("libtorch_adam.pt")).size(), 8U);
}

TEST(Pt, RunsNoTorchScript) {
  const jit::Module module = jit::load(testing::pt_file("scripted.pt"));
  EXPECT_EQ(module.named_parameters().size(), 5U);
  EXPECT_EQ(module.named_buffers()[0].name, "bn.running_mean");
  EXPECT_TRUE(module.attr("scale").equal(arange(2, kFloat) / 8));
  EXPECT_ERROR(module.attr("x"), "has no tensor 'x'");
  EXPECT_ERROR(module.forward({ones({1, 2})}), "cannot run the TorchScript code of");
}

TEST(Pt, WritesFilesForPython) {
  const char* output_folder = std::getenv("HEARTH_KEEP_FILES");
  if (!output_folder) GTEST_SKIP() << "for tests/oracle/pt_files.py check";
  for (const std::string name : {"dtypes", "stored", "values", "shared", "module"})
    save_pt(load_pt(testing::pt_file(name + ".pt")), output_folder + ("/again_" + name + ".pt"));
  const GenericDict builtins = load_pt(testing::pt_file("builtins.pt")).toGenericDict();
  save_pt(builtins.at("complex"), std::string(output_folder) + "/again_complex.pt");
  amp::GradScaler scaler("cpu");
  scaler.load_state_dict(load_pt(testing::pt_file("grad_scaler.pt")));
  save_pt(scaler.state_dict(), std::string(output_folder) + "/again_grad_scaler.pt");
  testing::Net net;
  const NoGradGuard no_grad;
  net.fc->weight.fill_(0.5);
  save_pt(net.state_dict(), std::string(output_folder) + "/hearth_module.pt");
}

}  // namespace
}  // namespace hearth::io
