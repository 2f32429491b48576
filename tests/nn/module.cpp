#include "hearth/nn/module.h"

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "tests/nn/support.h"

namespace test {
struct AGIUnit : hearth::nn::Module {};
template <class T>
struct Named : hearth::nn::Module {};
}  // namespace test

namespace {

using namespace hearth;
using namespace hearth::nn;
using Names = std::vector<std::string>;

struct InnerImpl : Cloneable<InnerImpl> {
  InnerImpl() { reset(); }
  void reset() override {
    weight = register_parameter("weight", ones({2, 2}));
    counter = register_buffer("counter", zeros({}, kLong));
    register_buffer("none", Tensor());
  }
  Tensor weight, counter;
};
HEARTH_MODULE(Inner);

struct OuterImpl : Cloneable<OuterImpl> {
  OuterImpl() { reset(); }
  void reset() override {
    bias = register_parameter("bias", zeros(2));
    first = register_module("first", Inner());
    second = register_module("second", Linear(2, 3));
  }
  Tensor bias;
  Inner first{nullptr};
  Linear second{nullptr};
};
HEARTH_MODULE(Outer);

TEST(Module, HasTheNameOfItsType) {
  EXPECT_EQ(test::AGIUnit().name(), "test::AGIUnit");
  EXPECT_EQ(Module("mine").name(), "mine");
  EXPECT_EQ(test::Named<LinearImpl>().name(), "test::Named<torch::nn::LinearImpl>");
}

TEST(Module, ListsParametersBuffersAndModules) {
  Outer outer;
  EXPECT_EQ(outer->named_parameters().keys(),
            (Names{"bias", "first.weight", "second.weight", "second.bias"}));
  EXPECT_EQ(outer->named_parameters(false).keys(), Names{"bias"});
  EXPECT_EQ(outer->parameters().size(), 4u);
  EXPECT_TRUE(outer->parameters()[1].is_same(outer->first->weight));
  EXPECT_EQ(outer->named_buffers().keys(), Names{"first.counter"});  // without undefined buffers
  EXPECT_EQ(outer->buffers(false).size(), 0u);
  EXPECT_EQ(outer->named_modules("net").keys(), (Names{"net", "net.first", "net.second"}));
  EXPECT_EQ(outer->named_modules("", false).keys(), (Names{"first", "second"}));
  EXPECT_EQ(outer->modules().size(), 3u);
  EXPECT_EQ(outer->modules()[0].get(), outer.get());
  EXPECT_EQ(outer->children().size(), 2u);
  EXPECT_EQ(outer->named_children()["second"], outer->second.ptr());
}

TEST(Module, AppliesFunctionsOfAllSignatures) {
  Outer outer;
  const OuterImpl& constant = *outer;
  Names names;
  int calls = 0;
  outer->apply([&](Module& m) { calls += m.as<Inner>() != nullptr; });
  constant.apply([&](const Module& m) { calls += m.as<Linear>() != nullptr; });
  outer->apply([&](const std::string& name, Module&) { names.push_back(name); }, "x");
  constant.apply([&](const std::string& name, const Module&) { names.push_back(name); });
  outer->apply([&](const std::shared_ptr<Module>& m) { calls += m != nullptr; });
  outer->apply([&](const std::string& name, const std::shared_ptr<Module>& m) {
    calls += m != nullptr;
    names.push_back(name);
  });
  EXPECT_EQ(calls, 2 + 3 + 3);
  EXPECT_EQ(names,
            (Names{"x", "x.first", "x.second", "", "first", "second", "", "first", "second"}));
}

TEST(Module, ChecksNames) {
  Module m;
  EXPECT_ERROR(m.register_module("name.with.dot", Inner()),
               "Submodule name must not contain a dot (got 'name.with.dot')");
  EXPECT_ERROR(m.register_module("", Inner()), "Submodule name must not be empty");
  EXPECT_ERROR(m.register_module("none", std::shared_ptr<InnerImpl>()), "must not be null");
  m.register_module("linear", Inner());
  EXPECT_ERROR(m.register_module("linear", Inner()), "Submodule 'linear' already defined");
  EXPECT_ERROR(m.replace_module("other", Inner()), "Submodule 'other' is not defined");
  EXPECT_ERROR(m.unregister_module("other"), "No Module with name `other` is registered");
  EXPECT_ERROR(m.register_parameter("a.b", ones(1)), "Parameter name must not contain a dot");
  EXPECT_ERROR(m.register_parameter("", ones(1)), "Parameter name must not be empty");
  m.register_parameter("p", ones(1));
  EXPECT_ERROR(m.register_parameter("p", ones(1)), "Parameter 'p' already defined");
  EXPECT_ERROR(m.register_buffer("a.b", ones(1)), "Buffer name must not contain a dot");
  EXPECT_ERROR(m.register_buffer("", ones(1)), "Buffer name must not be empty");
  m.register_buffer("b", ones(1));
  EXPECT_ERROR(m.register_buffer("b", ones(1)), "Buffer 'b' already defined");
}

TEST(Module, NamesAreUniqueAmongAllMembers) {
  Module m;
  m.register_parameter("p", ones(1));
  m.register_buffer("b", ones(1));
  m.register_module("linear", Inner());
  EXPECT_ERROR(m.register_buffer("p", ones(1)), "attribute 'p' already exists");
  EXPECT_ERROR(m.register_parameter("b", ones(1)), "attribute 'b' already exists");
  EXPECT_ERROR(m.register_parameter("linear", ones(1)), "attribute 'linear' already exists");
  EXPECT_ERROR(m.register_buffer("linear", ones(1)), "attribute 'linear' already exists");
  EXPECT_ERROR(m.register_module("p", Inner()), "attribute 'p' already exists");
  EXPECT_ERROR(m.register_module("b", Inner()), "attribute 'b' already exists");
  EXPECT_EQ(m.named_parameters(false).keys(), Names{"p"});
}

TEST(Module, ParametersKeepTheirHistory) {
  Module m;
  const Tensor leaf = ones(1, requires_grad());
  const Tensor w = m.register_parameter("w", leaf * 2);
  m.register_parameter("frozen", leaf * 3, /*requires_grad=*/false);
  EXPECT_FALSE(w.is_leaf());
  EXPECT_EQ(m.parameters().size(), 2u);
  (m.parameters()[0] + m.parameters()[1]).backward();
  EXPECT_EQ(leaf.grad().item<float>(), 5);
}

TEST(Module, FreezesAllParameters) {
  Outer outer;
  for (const Tensor& parameter : outer->requires_grad_(false).parameters())
    EXPECT_FALSE(parameter.requires_grad());
  outer->requires_grad_();
  for (const Tensor& parameter : outer->parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST(Module, CannotContainItself) {
  const auto a = std::make_shared<Module>(), b = std::make_shared<Module>(),
             c = std::make_shared<Module>();
  EXPECT_ERROR(a->register_module("a", a), "Submodule 'a' must not be or contain the module");
  a->register_module("b", b);
  b->register_module("c", c);
  EXPECT_ERROR(c->register_module("a", a), "Submodule 'a' must not be or contain the module");
  EXPECT_ERROR(a->replace_module("b", a), "Submodule 'b' must not be or contain the module");
  EXPECT_EQ(a->named_modules("", false).keys(), (Names{"b", "b.c"}));
  a->register_module("again", c);  // registered twice, but without a cycle
  EXPECT_EQ(a->modules().size(), 4u);
}

TEST(Module, RegistersWithOrWithoutGradient) {
  Module m;
  EXPECT_TRUE(m.register_parameter("p", ones(1)).requires_grad());
  EXPECT_FALSE(m.register_parameter("q", ones(1), false).requires_grad());
  EXPECT_FALSE(m.register_buffer("b", ones(1)).requires_grad());
  EXPECT_EQ(m.parameters().size(), 2u);
}

TEST(Module, ReplacesAndUnregistersModules) {
  Outer outer;
  const auto fresh = outer->replace_module("second", Linear(5, 6));
  EXPECT_EQ(outer->named_children()["second"], fresh);
  EXPECT_EQ(fresh->path(), "second");
  EXPECT_EQ(outer->second->path(), "");  // the replaced module
  outer->unregister_module("first");
  EXPECT_EQ(outer->named_children().keys(), Names{"second"});
}

TEST(Module, PathsFollowRegistration) {
  Sequential inner(Linear(1, 2), ReLU());
  EXPECT_EQ(inner->ptr(0)->path(), "0");
  Module net;
  net.register_module("body", inner);
  EXPECT_EQ(inner->ptr(0)->path(), "body.0");
  Module outermost;
  const auto shared = std::make_shared<Module>(net);
  EXPECT_EQ(shared->path(), "");
  outermost.register_module("net", shared);
  EXPECT_EQ(inner->ptr(1)->path(), "net.body.1");
}

TEST(Module, ThrowsForModulesOnTheStack) {
  Module m;
  EXPECT_ERROR(m.modules(),
               "It looks like you attempted to retrieve your top-level module as a shared_ptr");
  EXPECT_EQ(m.modules(false).size(), 0u);
}

TEST(Module, SwitchesBetweenTrainingAndEvaluation) {
  Outer outer;
  EXPECT_TRUE(outer->is_training() && outer->second->is_training());
  outer->eval();
  EXPECT_FALSE(outer->is_training() || outer->second->is_training());
  outer->train();
  EXPECT_TRUE(outer->first->is_training());
}

TEST(Module, ZeroGradZeroesOrResetsGradients) {
  Linear linear(2, 1);
  linear(ones({1, 2})).sum().backward();
  linear->zero_grad(/*set_to_none=*/false);
  EXPECT_TRUE(linear->weight.grad().equal(zeros({1, 2})));
  linear->zero_grad();
  EXPECT_FALSE(linear->weight.grad().defined());
}

TEST(Module, ConvertsInPlace) {
  Outer outer;
  const Tensor weight = outer->first->weight;
  outer->to(kDouble);
  EXPECT_TRUE(outer->first->weight.is_same(weight));
  EXPECT_EQ(weight.scalar_type(), kDouble);
  EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
  EXPECT_EQ(outer->first->counter.scalar_type(), kLong);  // integers keep their dtype
  EXPECT_EQ(outer->second->forward(ones({1, 2}, kDouble)).scalar_type(), kDouble);
  outer->to(kMeta, kFloat);
  EXPECT_EQ(outer->second->weight.device(), Device(kMeta));
  EXPECT_EQ(outer->first->counter.device(), Device(kMeta));
  EXPECT_EQ(outer->first->counter.scalar_type(), kLong);
}

TEST(Module, RejectsConversionToIntegers) {
  Outer outer;
  EXPECT_ERROR(outer->to(kLong),
               "nn.Module.to only accepts floating point or complex dtypes, but got desired "
               "dtype=torch.int64");
  EXPECT_EQ(outer->second->weight.scalar_type(), kFloat);
}

TEST(Module, MovesWithItsGradients) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "fewer than two GPUs";
  Linear linear(2, 1);
  linear(ones({1, 2})).sum().backward();
  linear->to(Device(kCUDA, 1));
  EXPECT_EQ(linear->weight.device(), Device(kCUDA, 1));
  EXPECT_EQ(linear->weight.grad().device(), Device(kCUDA, 1));
  EXPECT_EQ(linear(ones({1, 2}, Device(kCUDA, 1))).device(), Device(kCUDA, 1));
}

TEST(Module, CastsToItsType) {
  Linear linear(2, 3);
  Module& module = *linear;
  EXPECT_EQ(module.as<Linear>(), linear.get());
  EXPECT_EQ(module.as<LinearImpl>(), linear.get());
  EXPECT_EQ(module.as<Module>(), linear.get());
  EXPECT_EQ(module.as<Conv2d>(), nullptr);
  const Module& constant = module;
  EXPECT_EQ(constant.as<Linear>(), linear.get());
}

TEST(Clone, IsIndependent) {
  Outer outer;
  outer->eval();
  outer->second->weight.requires_grad_(false);
  const auto copy = std::dynamic_pointer_cast<OuterImpl>(outer->clone());
  ASSERT_TRUE(copy);
  const auto before = outer->named_parameters(), after = copy->named_parameters();
  ASSERT_EQ(before.keys(), after.keys());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_FALSE(before[i]->is_alias_of(*after[i]));
    EXPECT_TRUE(before[i]->equal(*after[i]));
    EXPECT_TRUE(after[i]->requires_grad());  // as after reset()
  }
  EXPECT_FALSE(copy->is_training() || copy->second->is_training());
  EXPECT_TRUE(copy->second->weight.is_same(after["second.weight"]));
  EXPECT_EQ(copy->second->path(), "second");
  const NoGradGuard no_grad;
  copy->second->bias.fill_(7);
  EXPECT_FALSE(outer->second->bias.equal(copy->second->bias));
}

TEST(Clone, CopiesToADevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const auto copy = Outer()->clone(Device(kCUDA, 0));
  for (const Tensor& parameter : copy->parameters())
    EXPECT_EQ(parameter.device(), Device(kCUDA, 0));
}

struct IncompleteReset : Cloneable<IncompleteReset> {
  IncompleteReset() { register_parameter("w", ones(1)); }
  void reset() override {}
};

TEST(Clone, ReportsMissingOverrides) {
  EXPECT_ERROR(Module().clone(), "clone() has not been implemented");
  EXPECT_ERROR(IncompleteReset().clone(),
               "The cloned module does not have the same number of parameters as the original "
               "module after calling reset().");
}

TEST(Holder, IsAReference) {
  Linear a(2, 3), b = a, none = nullptr;
  EXPECT_EQ(a.get(), b.get());
  EXPECT_TRUE(a && !none && none.is_empty());
  EXPECT_ERROR(none->weight, "Accessing empty ModuleHolder of hearth::nn::LinearImpl");
  EXPECT_ERROR(none(ones({1, 2})), "Accessing empty ModuleHolder");
  const std::shared_ptr<LinearImpl> pointer = a.ptr();
  const Linear c = pointer;
  EXPECT_EQ(c.get(), a.get());
}

struct WithHolder : Module {
  Linear fc = nullptr;
  Tensor forward(const Tensor& x) { return fc(x); }
};

TEST(Holder, ErrorOfAnEmptyHolderNamesTheModule) {
  Sequential net(std::make_shared<WithHolder>());
  EXPECT_ERROR(net->forward(ones({1, 2})),
               "Accessing empty ModuleHolder of hearth::nn::LinearImpl");
}

// A module that contains holders of its own type, and one that only its holder can construct.
struct NodeImpl;
HEARTH_MODULE(Node);
struct NodeImpl : Module {
  Node left{nullptr}, right = nullptr;
};
class SecretImpl : public Module {
  explicit SecretImpl(int value_) : value(value_) {}
  friend class hearth::nn::ModuleHolder<SecretImpl>;

 public:
  int value;
};
HEARTH_MODULE(Secret);

// A holder of the user's own, as LibTorch documents it: its constructors set impl_.
class OwnHolder : public ModuleHolder<LinearImpl> {
 public:
  using ModuleHolder<LinearImpl>::ModuleHolder;
  explicit OwnHolder(int64_t size) : ModuleHolder(std::make_shared<LinearImpl>(size, size)) {}
  void share(const OwnHolder& other) { impl_ = other.impl_; }
  void renew() { impl_ = std::make_shared<LinearImpl>(1, 2); }
  bool shares(const OwnHolder& other) const { return impl_ == other.impl_; }
  LinearImpl* raw() { return impl_ ? impl_.get() : nullptr; }
  std::shared_ptr<LinearImpl> pointer() { return impl_; }
};

TEST(Holder, LetsDerivedClassesUseImpl) {
  OwnHolder a(3), b(nullptr);
  EXPECT_EQ(b.raw(), nullptr);
  EXPECT_TRUE(b.pointer() == nullptr);
  b.share(a);
  EXPECT_TRUE(b.shares(a));
  EXPECT_EQ(b.ptr().get(), a.raw());
  EXPECT_EQ(a.ptr()->shared_from_this(), a.pointer());
  b.renew();
  EXPECT_FALSE(b.shares(a));
  EXPECT_EQ(b->options.out_features(), 2);
  const OwnHolder moved = std::move(a);
  EXPECT_TRUE(a.is_empty());
  EXPECT_EQ(moved->options.out_features(), 3);
}

TEST(Holder, AcceptsTheModulesConstructorArguments) {
  Node root;
  root->left = Node();
  EXPECT_TRUE(root->left && !root->right);
  EXPECT_EQ(Secret(3)->value, 3);
  static_assert(std::is_constructible_v<Linear, int, int>);
  static_assert(std::is_constructible_v<Linear, LinearOptions>);
  static_assert(!std::is_constructible_v<Linear, int>);
  static_assert(!std::is_constructible_v<Linear, const char*, int>);
  static_assert(!std::is_default_constructible_v<Linear>);
  static_assert(std::is_default_constructible_v<ReLU>);
  static_assert(!std::is_constructible_v<Sequential, Linear, int>);
  static_assert(!std::is_constructible_v<ModuleList, Linear, int>);
  EXPECT_EQ(Linear(2.5, 3)->weight.size(1), 2);  // as in LibTorch
}

}  // namespace
