// Lazy modules, buffers that are not saved, hooks of load_state_dict, unregistered parameters.
#include <gtest/gtest.h>

#include <sstream>

#include "hearth/autograd.h"
#include "hearth/io.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "tests/support/throws.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using Keys = std::vector<std::string>;

TEST(Lazy, ParametersStayTheSameTensors) {
  manual_seed(1);
  const Tensor wanted_draw = rand({1});
  manual_seed(1);
  LazyLinear lazy(3);
  EXPECT_TRUE(rand({1}).equal(wanted_draw)) << "the constructor drew numbers";
  const std::vector<Tensor> parameters = lazy->parameters();
  manual_seed(2);
  lazy(ones({2, 5}));
  EXPECT_EQ(parameters[0].sizes(), IntArrayRef({3, 5}));
  EXPECT_TRUE(parameters[0].requires_grad());
  EXPECT_EQ(lazy->options.in_features(), 5);
  manual_seed(2);
  EXPECT_TRUE(Linear(5, 3)->weight.equal(parameters[0]));
  lazy(ones({2, 5})).sum().backward();
  EXPECT_TRUE(parameters[1].grad().equal(full({3}, 2.0)));
}

TEST(Lazy, TakesNoSizesFromAnUndefinedInput) {
  LazyLinear lazy(2);
  EXPECT_THROW(lazy(Tensor()), Error);
  EXPECT_EQ(lazy(ones({1, 3})).sizes(), IntArrayRef({1, 2}));
}

TEST(Lazy, RunsInSequentialAndClones) {
  Sequential model(LazyConv2d(4, 3), LazyBatchNorm2d(), Flatten(), LazyLinear(2));
  const auto early = std::dynamic_pointer_cast<SequentialImpl>(model->clone());
  const Tensor x = ones({2, 3, 5, 5});
  EXPECT_EQ(model->forward(x).sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(early->forward(x).sizes(), IntArrayRef({2, 2}));
  const auto late = std::dynamic_pointer_cast<SequentialImpl>(model->clone());
  model->eval();
  late->eval();
  EXPECT_TRUE(late->forward(x).equal(model->forward(x)));
  EXPECT_EQ(model->named_parameters()["3.weight"].sizes(), IntArrayRef({2, 36}));
}

TEST(Lazy, TakesSizesFromAState) {
  Sequential full(Linear(3, 2), BatchNorm1d(2)), lazy(LazyLinear(2), LazyBatchNorm1d());
  lazy->load_state_dict(full->state_dict());
  const Tensor x = ones({4, 3});
  full->eval();
  lazy->eval();
  EXPECT_TRUE(lazy->forward(x).equal(full->forward(x)));
  EXPECT_EQ(lazy[0]->as<Linear>()->options.in_features(), 3);
  EXPECT_ERROR(full->load_state_dict(Sequential(LazyLinear(2), LazyBatchNorm1d())->state_dict()),
               "size mismatch for 0.weight");
}

TEST(Lazy, FollowsDtypeBeforeTheFirstCall) {
  LazyConv1d lazy(2, 3);
  lazy->to(kDouble);
  lazy(ones({1, 4, 5}, kDouble));
  EXPECT_EQ(lazy->weight.scalar_type(), kDouble);
  EXPECT_EQ(lazy->weight.sizes(), IntArrayRef({2, 4, 3}));
}

/// Calls a lazy module and one made with the sizes, from the same seed: all values must be equal.
template <class Lazy, class Options>
void expect_same(Lazy lazy, const Options& options, IntArrayRef sizes) {
  const Tensor x = rand(sizes);
  manual_seed(5);
  const Tensor got = lazy(x);
  manual_seed(5);
  ModuleHolder<typename Lazy::ContainedType> full(options);
  EXPECT_TRUE(got.equal(full(x))) << full;
  const auto state = full->state_dict();
  EXPECT_EQ(lazy->state_dict().keys(), state.keys()) << full;
  for (const auto& item : lazy->state_dict())
    EXPECT_TRUE(item.value().equal(state[item.key()])) << full << ' ' << item.key();
}

TEST(Lazy, ConvolutionsEqualThoseWithGivenSizes) {
  expect_same(LazyConv3d(4, 3), Conv3dOptions(3, 4, 3), {2, 3, 5, 5, 5});
  expect_same(LazyConv3d(Conv3dOptions(0, 4, {1, 2, 3}).groups(2).bias(false)),
              Conv3dOptions(6, 4, {1, 2, 3}).groups(2).bias(false), {6, 5, 5, 5});
  expect_same(LazyConvTranspose1d(4, 3), ConvTranspose1dOptions(6, 4, 3), {2, 6, 5});
  expect_same(LazyConvTranspose2d(ConvTranspose2dOptions(0, 4, 3).groups(2)),
              ConvTranspose2dOptions(6, 4, 3).groups(2), {6, 5, 5});
  expect_same(LazyConvTranspose3d(4, 2), ConvTranspose3dOptions(3, 4, 2), {2, 3, 4, 4, 4});
}

TEST(Lazy, NormsEqualThoseWithGivenSizes) {
  const auto with_statistics = [](int64_t features) {
    return InstanceNormOptions(features).affine(true).track_running_stats(true);
  };
  expect_same(LazyBatchNorm3d(), BatchNormOptions(4), {2, 4, 3, 2, 2});
  expect_same(LazyInstanceNorm2d(with_statistics(0)), with_statistics(3), {2, 3, 4, 4});
  expect_same(LazyInstanceNorm3d(with_statistics(0)), with_statistics(3), {3, 4, 2, 2});
}

TEST(Lazy, RefusesBadInputs) {
  EXPECT_ERROR(LazyConv3d(4, 3)(ones({2, 3})),
               "Expected 4D (unbatched) or 5D (batched) input to LazyConv3d, but got input of "
               "size: [2, 3]");
  EXPECT_ERROR(LazyConvTranspose1d(4, 3)(ones({2})),
               "Expected 2D (unbatched) or 3D (batched) input to LazyConvTranspose1d, but got "
               "input of size: [2]");
  EXPECT_ERROR(LazyConv2d(2, 3)(ones({3, 4})),
               "Expected 3D (unbatched) or 4D (batched) input to LazyConv2d, but got input of "
               "size: [3, 4]");
  EXPECT_ERROR(LazyConv2d(Conv2dOptions(0, 2, 3).groups(2))(ones({1, 3, 4, 4})),
               "in_channels must be divisible by groups");
  EXPECT_ERROR(LazyBatchNorm2d()(ones({3, 4})), "expected 4D input (got 2D input)");
  EXPECT_ERROR(LazyBatchNorm3d()(ones({1, 3, 4, 4})), "expected 5D input (got 4D input)");
  EXPECT_ERROR(LazyInstanceNorm2d()(ones({1, 3, 4, 4, 4})),
               "expected 3D or 4D input (got 5D input)");
  EXPECT_ERROR(LazyInstanceNorm3d()(ones({3, 4, 4})), "expected 4D or 5D input (got 3D input)");
}

struct TwoBuffers : Cloneable<TwoBuffers> {
  TwoBuffers() { TwoBuffers::reset(); }
  void reset() override {
    kept = register_buffer("kept", zeros({2}));
    scratch = register_buffer("scratch", ones({3}), /*persistent=*/false);
  }
  Tensor kept, scratch;
};

TEST(Buffers, ThatAreNotPersistentAreNotSaved) {
  TwoBuffers source;
  EXPECT_EQ(source.named_buffers().keys(), (Keys{"kept", "scratch"}));
  EXPECT_EQ(source.state_dict().keys(), (Keys{"kept"}));
  serialize::OutputArchive saved;
  source.save(saved);
  std::stringstream stream;
  saved.save_to(stream);
  TwoBuffers other;
  other.kept.fill_(7);
  other.scratch.fill_(8);
  serialize::InputArchive loaded;
  loaded.load_from(stream);
  EXPECT_EQ(loaded.keys(), (Keys{"kept"}));
  other.load(loaded);
  EXPECT_TRUE(other.kept.equal(zeros({2})));
  EXPECT_TRUE(other.scratch.equal(full({3}, 8.0)));
  other.to(kDouble);
  EXPECT_EQ(other.scratch.scalar_type(), kDouble);
  const auto copy = std::dynamic_pointer_cast<TwoBuffers>(other.clone());
  EXPECT_TRUE(copy->scratch.equal(other.scratch));
  EXPECT_EQ(copy->state_dict().keys(), (Keys{"kept"}));
  EXPECT_ERROR(other.load_state_dict(OrderedDict<std::string, Tensor>(
                   {{"kept", zeros({2})}, {"scratch", zeros({3})}})),
               "Unexpected key(s) in state_dict: \"scratch\"");
  EXPECT_ERROR(source.register_buffer("kept", zeros({1}), false), "already defined");
  EXPECT_EQ(source.state_dict().keys(), (Keys{"kept"}));
}

TEST(LoadStateDictHooks, RunBeforeTheComparison) {
  Sequential model(Linear(2, 1));
  std::string seen;
  RemovableHandle handle = model->children()[0]->register_load_state_dict_pre_hook(
      [&](Module&, const OrderedDict<std::string, Tensor>& state, const std::string& path) {
        seen = path + " of " + std::to_string(state.size());
      });
  model->load_state_dict(model->state_dict());
  EXPECT_EQ(seen, "0 of 2");
  handle.remove();
  seen.clear();
  model->load_state_dict(model->state_dict());
  EXPECT_EQ(seen, "");
}

TEST(Parameters, CanBeUnregistered) {
  Linear linear(2, 1);
  linear->unregister_parameter("bias");
  EXPECT_EQ(linear->named_parameters().keys(), (Keys{"weight"}));
  EXPECT_ERROR(linear->unregister_parameter("bias"), "No Parameter with name `bias` is registered");
}

}  // namespace
