// State dicts and archives of modules.
#include <cstdio>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/io/serialize.h"
#include "hearth/nn.h"
#include "tests/nn/support.h"
#include "tests/support/warnings.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using State = OrderedDict<std::string, Tensor>;
using Names = std::vector<std::string>;
using hearth::testing::error_of;

struct NormalizedNetImpl : Module {
  NormalizedNetImpl() {
    register_module("fc1", fc1);
    register_module("bn", bn);
    register_module("act", act);
  }
  Linear fc1{2, 3};
  BatchNorm1d bn{3};
  ReLU act;
};
HEARTH_MODULE(NormalizedNet);

bool same_state(const Module& a, const Module& b) {
  const State x = a.state_dict(), y = b.state_dict();
  for (const auto& item : x)
    if (!item->equal(y[item.key()])) return false;
  return x.keys() == y.keys();
}

TEST(StateDict, SharesMemoryWithoutHistory) {
  NormalizedNet net;
  const State state = net->state_dict();
  EXPECT_EQ(state.keys(), (Names{"fc1.weight", "fc1.bias", "bn.weight", "bn.bias",
                                 "bn.running_mean", "bn.running_var", "bn.num_batches_tracked"}));
  EXPECT_TRUE(state["fc1.weight"].is_alias_of(net->fc1->weight));
  EXPECT_FALSE(state["fc1.weight"].requires_grad());
}

TEST(StateDict, CopiesBetweenModules) {
  NormalizedNet a, b;
  b->bn->running_mean.fill_(3);
  EXPECT_FALSE(same_state(*a, *b));
  const Tensor weight = a->fc1->weight;
  const IncompatibleKeys keys = a->load_state_dict(b->state_dict());
  EXPECT_TRUE(keys.missing_keys.empty() && keys.unexpected_keys.empty());
  EXPECT_TRUE(same_state(*a, *b));
  EXPECT_TRUE(a->fc1->weight.is_same(weight) && weight.requires_grad());
  EXPECT_FALSE(a->fc1->weight.is_alias_of(b->fc1->weight));
}

State wrong_state() {
  State state = NormalizedNet()->state_dict();
  state.erase("bn.weight");
  state.erase("bn.bias");
  state["fc1.weight"] = zeros({2, 2});
  state.insert("x", zeros(1));
  state.insert("bn.foo", zeros(1));
  return state;
}

TEST(StateDict, ReportsMismatches) {
  NormalizedNet net;
  const Tensor before = net->fc1->bias.detach().clone();
  EXPECT_EQ(error_of([&] { net->load_state_dict(wrong_state()); }),
            "Error(s) in loading state_dict for (anonymous namespace)::NormalizedNetImpl:"
            "\n\tMissing key(s) in state_dict: \"bn.weight\", \"bn.bias\". "
            "\n\tUnexpected key(s) in state_dict: \"x\", \"bn.foo\". "
            "\n\tsize mismatch for fc1.weight: copying a param with shape torch.Size([2, 2]) from "
            "checkpoint, the shape in current model is torch.Size([3, 2]).");
  EXPECT_TRUE(net->fc1->bias.equal(before));  // nothing was copied
}

TEST(StateDict, AcceptsFilesOfOlderVersions) {
  BatchNorm1d norm(2);
  auto state = norm->state_dict();
  OrderedDict<std::string, Tensor> older;
  for (const auto& item : state)
    if (item.key() != "num_batches_tracked") older.insert(item.key(), item.value() + 1);
  EXPECT_TRUE(norm->load_state_dict(older).missing_keys.empty());
  EXPECT_TRUE(norm->running_mean.equal(ones({2})));
  OrderedDict<std::string, Tensor> counter;
  counter.insert("num_batches_tracked", full({1}, 7, kLong));
  norm->load_state_dict(counter, /*strict=*/false);
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 7);
}

TEST(StateDict, NonStrictLoadReturnsMismatchedKeys) {
  NormalizedNet net;
  State state = wrong_state();
  EXPECT_ERROR(net->load_state_dict(state, false), "size mismatch for fc1.weight");
  state["fc1.weight"] = full({3, 2}, 5.0);
  const IncompatibleKeys keys = net->load_state_dict(state, false);
  EXPECT_EQ(keys.missing_keys, (Names{"bn.weight", "bn.bias"}));
  EXPECT_EQ(keys.unexpected_keys, (Names{"x", "bn.foo"}));
  EXPECT_TRUE(net->fc1->weight.equal(full({3, 2}, 5.0)));
}

TEST(StateDict, AcceptsAListAndSuggestsNames) {
  NormalizedNet net;
  std::vector<std::pair<std::string, Tensor>> list;
  for (const auto& item : net->state_dict()) list.emplace_back(item.key(), item->clone());
  EXPECT_TRUE(net->load_state_dict(list, false).missing_keys.empty());
  for (auto& item : list) item.first = "module." + item.first;
  EXPECT_ERROR(net->load_state_dict(list),
               "found 'module.fc1.weight': remove the prefix 'module.'");
  for (auto& item : list) item.first = item.first.substr(7);
  list[0].first = "fc1.wieght";
  EXPECT_ERROR(net->load_state_dict(list), "did you mean 'fc1.wieght'?");
}

TEST(Archive, LoadDoesNotModifySharedMemory) {
  Linear saved(2, 3), loaded(2, 3);
  serialize::OutputArchive out;
  saved->save(out);
  serialize::InputArchive in(out);
  const Tensor weight = loaded->weight, old = weight.detach(), before = old.clone();
  loaded->load(in);
  EXPECT_TRUE(loaded->weight.equal(saved->weight));
  EXPECT_TRUE(weight.is_same(loaded->weight) && weight.requires_grad() && weight.is_leaf());
  EXPECT_TRUE(old.equal(before));
}

TEST(Archive, LoadAcceptsOtherSizesWithAWarning) {
  Linear saved(2, 3), loaded(5, 3);
  loaded->to(kDouble);
  serialize::OutputArchive out;
  saved->save(out);
  serialize::InputArchive in(out);
  const hearth::testing::Warnings warnings;
  loaded->load(in);
  EXPECT_TRUE(loaded->weight.equal(saved->weight.to(kDouble)));
  EXPECT_EQ(warnings.said().size(), 1u);
  EXPECT_TRUE(warnings.contains("size mismatch for weight: the loaded shape [3, 2] replaces"));
}

struct Unregistered : Module {
  Linear fc{2, 3};
};

TEST(Archive, WarnsOfModulesWithoutTensors) {
  std::ostringstream stream;
  const hearth::testing::Warnings warnings;
  save(std::make_shared<Unregistered>(), stream);
  EXPECT_TRUE(warnings.contains("the saved module has no parameters and no buffers"));
  warnings.said().clear();
  save(Linear(2, 3), stream);
  save(std::vector<Tensor>(), stream);
  EXPECT_TRUE(warnings.said().empty());
}

TEST(Archive, FailedLoadChangesNothing) {
  Sequential saved(Linear(3, 4)), larger(Linear(3, 4), Linear(4, 2));
  serialize::OutputArchive out;
  saved->save(out);
  serialize::InputArchive in(out);
  const Tensor before = larger->parameters()[0].detach().clone();
  EXPECT_ERROR(larger->load(in), "No such serialized submodule: '1'");
  EXPECT_TRUE(larger->parameters()[0].equal(before));
  EXPECT_FALSE(larger->parameters()[0].equal(saved->parameters()[0]));
  Sequential fitting(Linear(3, 4));  // loading works after a failure
  fitting->load(in);
  EXPECT_TRUE(same_state(*saved, *fitting));
}

TEST(Archive, RoundTripsModules) {
  const std::string file = std::string(::testing::TempDir()) + "hearth_nn_module.safetensors";
  Sequential saved(Linear(3, 4), BatchNorm1d(4), Functional(relu), Dropout(0.1), Linear(4, 1));
  saved->forward(rand({8, 3}));
  serialize::OutputArchive out;
  saved->save(out);
  out.save_to(file);
  Sequential loaded(Linear(3, 4), BatchNorm1d(4), Functional(relu), Dropout(0.1), Linear(4, 1));
  serialize::InputArchive in;
  in.load_from(file);
  loaded->load(in);
  EXPECT_TRUE(same_state(*saved, *loaded));
  EXPECT_EQ(loaded->ptr<BatchNorm1dImpl>(1)->num_batches_tracked.item<int64_t>(), 1);
  EXPECT_TRUE(loaded->parameters()[0].requires_grad());
  Sequential larger(Linear(3, 4), BatchNorm1d(4), Functional(relu), Dropout(0.1), Linear(4, 1),
                    Linear(1, 1));
  EXPECT_NE(error_of([&] { larger->load(in); }), "no error");
  std::remove(file.c_str());
}

}  // namespace
