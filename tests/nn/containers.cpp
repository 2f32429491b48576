#include <cmath>
#include <sstream>

#include "hearth/nn.h"
#include "hearth/operators.h"
#include "tests/nn/support.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using Names = std::vector<std::string>;

struct Adder : Module {
  explicit Adder(int number) : value(number) {}
  Adder(const Adder& other) : Module(other), value(other.value), copies(other.copies + 1) {}
  int forward(int x = 0) { return value + x; }
  int value, copies = 0;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({0, AnyValue(0)})
};

struct Halve : Module {
  float forward(int x) { return static_cast<float>(x) / 2; }
};

TEST(Sequential, AcceptsModulesInAllForms) {
  Sequential values(Adder(1), Adder(2), Linear(3, 4), std::make_shared<Adder>(4));
  ASSERT_EQ(values->size(), 4u);
  EXPECT_EQ(values->at<Adder>(1).value, 2);
  EXPECT_EQ(values->at<Adder>(1).copies, 1);
  EXPECT_EQ(values->named_children().keys(), (Names{"0", "1", "2", "3"}));
  Sequential named({{"a", Linear(1, 2)}, {"b", Adder(3)}, {"c", AnyModule(Adder(5))}});
  EXPECT_EQ(named->named_children().keys(), (Names{"a", "b", "c"}));
  OrderedDict<std::string, AnyModule> dict{{"x", AnyModule(Adder(1))}, {"y", AnyModule(Adder(2))}};
  Sequential from_dict(std::move(dict));
  EXPECT_EQ(from_dict->named_children().keys(), (Names{"x", "y"}));
  from_dict->push_back("z", Linear(1, 1));
  from_dict->push_back(ReLU());
  EXPECT_EQ(from_dict->named_children().keys(), (Names{"x", "y", "z", "3"}));
  Sequential extended;
  extended->extend(std::vector<std::shared_ptr<Adder>>{std::make_shared<Adder>(7)});
  extended->extend(*from_dict);
  EXPECT_EQ(extended->size(), 5u);
  EXPECT_ERROR(values->at<Linear::Impl>(1), "Attempted to cast module");
  EXPECT_ERROR(values->ptr(9), "Index out of range");
}

TEST(Sequential, PassesResultsToTheNextModule) {
  EXPECT_EQ(Sequential(Adder(1), Adder(2))->forward<int>(), 3);
  EXPECT_EQ(Sequential(Adder(1), Halve())->forward<float>(2), 1.5f);
  EXPECT_ERROR(Sequential(Adder(1))->forward<float>(),
               "The type of the return value is int, but you asked for type float");
  EXPECT_ERROR(Sequential()->forward<int>(), "Cannot call forward() on an empty Sequential");
  Sequential net(Linear(3, 4), ReLU(), Sequential(Linear(4, 2), Flatten()));
  EXPECT_EQ(net(ones({5, 3})).sizes(), IntArrayRef({5, 2}));
  EXPECT_EQ(net->named_parameters().keys(),
            (Names{"0.weight", "0.bias", "2.0.weight", "2.0.bias"}));
  EXPECT_ERROR(net->forward(ones({5, 9})), "in module 0 (Linear)");
}

TEST(Sequential, UsesDefaultArguments) {
  Sequential net(ConvTranspose2d(2, 3, 1));
  EXPECT_EQ(net->forward(ones({1, 2, 4, 4})).size(1), 3);
  EXPECT_ERROR(Sequential(Adder(1))->forward<int>(1, 2),
               "forward() method expects at least 0 argument(s) and at most 1 argument(s), but "
               "received 2.");
  EXPECT_ERROR(Sequential(Halve())->forward<float>(),
               "forward() method expects 1 argument(s), but received 0. If ");
  EXPECT_ERROR(Sequential(Halve())->forward<float>(1.5),
               "Expected argument #0 to be of type int, but received value of type double");
}

TEST(Sequential, ClonesWithNames) {
  Sequential net({{"fc", Linear(3, 4)}, {"act", ReLU()}});
  net->eval();
  const auto copy = std::dynamic_pointer_cast<SequentialImpl>(net->clone());
  EXPECT_EQ(copy->named_children().keys(), (Names{"fc", "act"}));
  EXPECT_FALSE(copy->is_training());
  EXPECT_FALSE(copy->parameters()[0].is_alias_of(net->parameters()[0]));
  EXPECT_TRUE(copy->forward(ones({1, 3})).equal(net->forward(ones({1, 3}))));
}

TEST(AnyModule, HoldsAndCasts) {
  AnyModule any(Linear(2, 3));
  EXPECT_EQ(any.get<LinearImpl>().options.out_features(), 3);
  EXPECT_EQ(any.get<Linear>().get(), any.ptr().get());
  EXPECT_TRUE(any.type_info() == typeid(LinearImpl));
  EXPECT_ERROR(any.get<Adder>(),
               "Attempted to cast module of type hearth::nn::LinearImpl to type ");
  AnyModule copy = any;
  EXPECT_EQ(copy.ptr(), any.ptr());
  EXPECT_NE(any.clone().ptr(), any.ptr());
  AnyModule empty;
  EXPECT_TRUE(empty.is_empty());
  EXPECT_ERROR(empty.get<Adder>(), "Cannot call get() on an empty AnyModule");
  EXPECT_ERROR(empty.ptr(), "Cannot call ptr() on an empty AnyModule");
  EXPECT_ERROR(empty.type_info(), "Cannot call type_info() on an empty AnyModule");
  EXPECT_ERROR(empty.forward<int>(), "Cannot call forward() on an empty AnyModule");
  EXPECT_ERROR(AnyModule(std::shared_ptr<LinearImpl>()),
               "An AnyModule cannot hold a null pointer to hearth::nn::LinearImpl");
}

TEST(AnyValue, HoldsOneType) {
  AnyValue value(5);
  EXPECT_EQ(value.get<int>(), 5);
  EXPECT_EQ(value.try_get<float>(), nullptr);
  EXPECT_ERROR(value.get<float>(),
               "Attempted to cast AnyValue to float, but its actual type is int");
  AnyValue copy = value;
  *copy.try_get<int>() = 6;
  EXPECT_EQ(value.get<int>(), 5);
}

TEST(ModuleList, KeepsModulesInOrder) {
  ModuleList list(Linear(1, 2), Adder(3), std::make_shared<Adder>(4));
  EXPECT_EQ(list->size(), 3u);
  EXPECT_EQ(list->at<Adder>(1).value, 3);
  EXPECT_EQ(list->ptr<Adder>(2)->value, 4);
  EXPECT_ERROR(list->at<Adder>(0), "Unable to cast module[0] to ");
  list->insert(1, Adder(9));
  EXPECT_EQ(list->at<Adder>(1).value, 9);
  EXPECT_EQ(list->named_children().keys(), (Names{"0", "1", "2", "3"}));
  EXPECT_EQ(list->named_children()["3"]->as<Adder>()->value, 4);
  EXPECT_EQ(list->ptr(3)->path(), "3");
  ModuleList linears(Linear(1, 2), Linear(2, 3));
  EXPECT_EQ(linears->clone()->parameters().size(), 4u);
}

TEST(ModuleDict, KeepsModulesUnderNames) {
  ModuleDict dict(std::vector<std::pair<std::string, std::shared_ptr<Module>>>{
      {"fc", Linear(1, 2).ptr()}, {"m", std::make_shared<Adder>(3)}});
  EXPECT_EQ(dict->keys(), (Names{"fc", "m"}));
  EXPECT_EQ(dict->at<Adder>("m").value, 3);
  EXPECT_EQ(dict->parameters().size(), 2u);
  EXPECT_ERROR(dict->at<Adder>("fc"), "Unable to cast module[fc] to ");
  EXPECT_ERROR(dict->pop("nothing"), "Key 'nothing' is not defined");
  EXPECT_TRUE(dict->pop("fc")->as<Linear>());
  EXPECT_EQ(dict->parameters().size(), 0u);
  dict->clear();
  EXPECT_TRUE(dict->empty() && dict->children().empty());
}

TEST(ParameterContainers, RegisterTheirParameters) {
  ParameterList list(rand({2}).requires_grad_(), ones(1));
  EXPECT_EQ(list->named_parameters().keys(), (Names{"0", "1"}));
  EXPECT_TRUE(list[0].requires_grad());
  EXPECT_FALSE(list->at(1).requires_grad());
  EXPECT_ERROR(list->at(2), "Index out of range");
  ParameterDict dict;
  dict->insert("A", ones({2, 3}));
  EXPECT_EQ(dict->get("A").size(1), 3);
  EXPECT_ERROR(dict["B"], "Parameter 'B' is not defined");
  EXPECT_ERROR(dict->insert("A", ones(1)), "Parameter 'A' already defined");
  EXPECT_EQ(dict->clone()->parameters().size(), 1u);
  OrderedDict<std::string, Tensor> others;
  others.insert("A", zeros({4}));
  dict->update(others);
  EXPECT_EQ(dict->get("A").size(0), 4);
  others.insert("D", ones(1));
  EXPECT_ERROR(dict->update(others), "Parameter 'D' is not defined");
  EXPECT_EQ(dict->size(), 1u);
  dict->pop("A");
  EXPECT_TRUE(dict->empty());
}

TEST(Functional, BindsArguments) {
  const Tensor x = full({1}, -1.0);
  EXPECT_EQ(Functional(relu)(x).item<float>(), 0);
  EXPECT_FLOAT_EQ(Functional(elu, 2, 1, 1)(x).item<float>(), 2 * (std::exp(-1.f) - 1));
  EXPECT_FALSE(Functional(relu)->is_serializable());
}

template <class T>
std::string printed(const T& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

TEST(Printing, ShowsOptions) {
  EXPECT_EQ(printed(Linear(192, 120)), "Linear(in_features=192, out_features=120, bias=true)");
  EXPECT_EQ(printed(Conv2d(3, 4, 5)), "Conv2d(3, 4, kernel_size=[5, 5], stride=[1, 1])");
  EXPECT_EQ(printed(Conv1d(Conv1dOptions(3, 4, 5).stride(2).padding(1).bias(false))),
            "Conv1d(3, 4, kernel_size=5, stride=2, padding=1, bias=false)");
  EXPECT_EQ(printed(Conv2d(Conv2dOptions(4, 6, {5, 6})
                               .padding(kSame)
                               .dilation(2)
                               .groups(2)
                               .padding_mode(kCircular))),
            "Conv2d(4, 6, kernel_size=[5, 6], stride=[1, 1], padding='same', dilation=[2, 2], "
            "groups=2, padding_mode=kCircular)");
  EXPECT_EQ(printed(ConvTranspose2d(ConvTranspose2dOptions(4, 6, 3).output_padding(1).stride(2))),
            "ConvTranspose2d(4, 6, kernel_size=[3, 3], stride=[2, 2], output_padding=[1, 1])");
  EXPECT_EQ(printed(MaxPool2d(5)),
            "MaxPool2d(kernel_size=[5, 5], stride=[5, 5], padding=[0, 0], dilation=[1, 1], "
            "ceil_mode=false)");
  EXPECT_EQ(printed(AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({std::nullopt, 5}))),
            "AdaptiveAvgPool2d(output_size=[None, 5])");
  EXPECT_EQ(printed(Dropout(0)), "Dropout(p=0, inplace=false)");
  EXPECT_EQ(printed(BatchNorm2d(5)),
            "BatchNorm2d(5, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  EXPECT_EQ(printed(LayerNorm(std::vector<int64_t>{2, 3})),
            "LayerNorm([2, 3], eps=1e-05, elementwise_affine=true)");
  EXPECT_EQ(printed(Embedding(EmbeddingOptions(10, 2).padding_idx(3).max_norm(2))),
            "Embedding(num_embeddings=10, embedding_dim=2, padding_idx=3, max_norm=2)");
  EXPECT_EQ(printed(LSTM(LSTMOptions(128, 64).num_layers(3).dropout(0.2))),
            "LSTM(input_size=128, hidden_size=64, num_layers=3, bias=true, batch_first=false, "
            "dropout=0.2, bidirectional=false)");
  EXPECT_EQ(printed(ReLU(ReLUOptions().inplace(true))), "ReLU(inplace=true)");
  EXPECT_EQ(printed(CrossEntropyLoss()), "CrossEntropyLoss()");
  EXPECT_EQ(printed(Unflatten(UnflattenOptions(1, {2, 5}))),
            "Unflatten(dim=1, unflattened_size={2, 5})");
}

TEST(Printing, IndentsChildren) {
  Sequential net({{"fc", Linear(1, 2)}, {"inner", Sequential(ReLU(), Adder(1))}});
  EXPECT_EQ(
      printed(net),
      "Sequential(\n  (fc): Linear(in_features=1, out_features=2, bias=true)\n"
      "  (inner): Sequential(\n    (0): ReLU()\n    (1): (anonymous namespace)::Adder\n  )\n)");
  EXPECT_EQ(printed(ParameterList(ones({1}))),
            "ParameterList(\n(0): Parameter containing: [Float of size [1]]\n)");
}

}  // namespace
