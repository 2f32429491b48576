// utils::trace and add_graph.
#include "hearth/utils/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "hearth/hearth.h"
#include "hearth/utils/tensorboard.h"
#include "tests/log/reader.h"
#include "tests/support/files.h"

namespace hearth::testing {
namespace {

using utils::Graph;
using utils::GraphValue;

struct BlockImpl : nn::Module {
  BlockImpl() : fc(register_module("fc", nn::Linear(3, 3))) {}
  Tensor forward(const Tensor& x) {
    Tensor y = fc(x).relu();
    y.add_(x);
    y.view({-1}).mul_(2);
    return y.detach() + y;
  }
  nn::Linear fc;
};
HEARTH_MODULE(Block);

std::string printed(const Graph& graph) {
  std::ostringstream stream;
  stream << graph;
  return stream.str();
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const auto& node : graph.nodes) ops.push_back(node.op);
  return ops;
}

TEST(Trace, RecordsOpsWithModulesAndValues) {
  nn::Sequential net(nn::Linear(2, 3), Block(), nn::Dropout(0.5));
  const Graph graph = utils::trace(net, ones({4, 2}));
  EXPECT_EQ(graph.nodes[0].op, "linear");
  EXPECT_EQ(graph.nodes[0].scope, "Sequential/Linear[0]");
  EXPECT_EQ(graph.nodes[1].scope, "Sequential/Block[1]/Linear[fc]");
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.nodes[0].inputs[0], graph.inputs[0]);
  const GraphValue& weight = graph.values[graph.nodes[0].inputs[1]];
  EXPECT_EQ(weight.kind, GraphValue::Kind::Parameter);
  EXPECT_EQ(weight.name, "0.weight");
  EXPECT_EQ(weight.scope, "Sequential/Linear[0]");
  EXPECT_EQ(weight.sizes, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(graph.values[graph.outputs[0]].sizes, (std::vector<int64_t>{4, 3}));
}

TEST(Trace, SeesViewsAndInPlaceOps) {
  Block block;
  const Graph graph = utils::trace(block, ones({2, 3}));
  const auto ops = ops_of(graph);
  const auto node = [&](const std::string& op) {
    return graph.nodes[size_t(std::find(ops.begin(), ops.end(), op) - ops.begin())];
  };
  // The last sum reads the value that mul_ wrote through a view.
  const size_t written = node("mul").outputs[0];
  for (const size_t input : graph.nodes.back().inputs) {
    const bool is_detached = graph.values[input].name.empty() && input > written;
    EXPECT_TRUE(input == written || is_detached) << printed(graph);
  }
}

struct NestedImpl : nn::Module {
  using Lists = std::vector<std::vector<Tensor>>;
  std::tuple<Tensor, Lists, std::map<std::string, Tensor>> forward(
      const std::map<std::string, Tensor>& named, const std::optional<Tensor>& none) {
    const Tensor& x = named.at("x");
    return {x + 1, {{x - 1}, {none ? *none : x * 2, Tensor()}}, {{"tanh", x.tanh()}}};
  }
};
HEARTH_MODULE(Nested);

TEST(Trace, FindsTensorsInNestedContainers) {
  Nested model;
  const std::map<std::string, Tensor> named{{"x", ones({2, 3})}};
  const Graph graph = utils::trace(model, named, std::optional<Tensor>());
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(ops_of(graph), (std::vector<std::string>{"add", "sub", "mul", "tanh"}));
  std::vector<size_t> results;
  for (const auto& node : graph.nodes) {
    EXPECT_EQ(node.inputs[0], graph.inputs[0]);
    results.push_back(node.outputs[0]);
  }
  EXPECT_EQ(graph.outputs, results);
}

struct AliasesImpl : nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor y = x + 1;
    std::vector<Tensor> views;
    for (int64_t i = 0; i < 20; ++i) views.push_back(y.narrow(0, i, 1));
    return y.data() + views[7].data();  // data() is not an op
  }
};
HEARTH_MODULE(Aliases);

TEST(Trace, DataIsTheGraphValueOfItsTensor) {
  Aliases module;
  const Graph graph = utils::trace(module, ones({40}).narrow(0, 0, 21));
  const auto& sum = graph.nodes.back();
  ASSERT_EQ(sum.op, "add");
  EXPECT_EQ(sum.inputs[0], graph.nodes[0].outputs[0]);
  EXPECT_EQ(sum.inputs[1], graph.nodes[8].outputs[0]);
}

TEST(Trace, LeavesTheModelAsItWas) {
  nn::Sequential net(nn::Linear(2, 2), nn::Dropout(0.5), nn::BatchNorm1d(2));
  net->children()[1]->eval();
  const Tensor mean = net->named_buffers()["2.running_mean"].clone();
  utils::trace(net, randn({4, 2}));
  EXPECT_TRUE(net->is_training());
  EXPECT_FALSE(net->children()[1]->is_training());
  EXPECT_TRUE(net->children()[2]->is_training());
  EXPECT_TRUE(net->named_buffers()["2.running_mean"].equal(mean));
  EXPECT_TRUE(GradMode::is_enabled());
  nn::Linear wrong(5, 2);
  EXPECT_THROW(utils::trace(wrong, ones({1, 2})), Error);
  EXPECT_TRUE(wrong->is_training());
}

TEST(Trace, TakesHoldersPointersAndAnyModules) {
  nn::Linear linear(2, 2);
  auto pointer = linear.ptr();
  nn::AnyModule any(linear);
  EXPECT_EQ(utils::trace(linear, ones({1, 2})).nodes.size(), 1u);
  EXPECT_EQ(utils::trace(pointer, ones({1, 2})).nodes.size(), 1u);
  EXPECT_EQ(utils::trace(*pointer, ones({1, 2})).nodes.size(), 1u);
  EXPECT_EQ(utils::trace(any, ones({1, 2})).nodes.size(), 1u);
  nn::LSTM lstm(2, 3);
  EXPECT_EQ(utils::trace(lstm, ones({4, 1, 2})).outputs.size(), 3u);  // y, h and c
}

struct Filled : nn::Module {
  Tensor forward(Tensor x) { return x.masked_fill(x.gt(0), 0); }
};

TEST(Trace, MaskedFillIsOneOp) {
  auto filled = std::make_shared<Filled>();
  const std::string text = printed(utils::trace(filled, ones({2, 2})));
  EXPECT_EQ(text.find("expand"), std::string::npos) << text;
}

TEST(Trace, Prints) {
  nn::Sequential net(nn::Linear(2, 3), nn::ReLU());
  EXPECT_EQ(printed(utils::trace(net, ones({1, 2}))),
            "%3 = linear(input.1, 0.weight, 0.bias) [1, 3]  # Sequential/Linear[0]\n"
            "%4 = relu(%3) [1, 3]  # Sequential/ReLU[1]\n"
            "return %4\n");
}

/// The names of the nodes that add_graph() writes.
template <class M>
std::vector<std::string> written_names(M net) {
  const TempFolder folder;
  {
    utils::tensorboard::SummaryWriter writer(folder.str());
    writer.add_graph(net, ones({1, 2}));
  }
  std::vector<std::string> names;
  for (const LoggedEvent& event : events_in(folder.str())) {
    if (!event.fields.has(4)) continue;
    const Fields graph = event.fields.message(4);
    for (size_t i = 0; i < graph.count(1); ++i) names.push_back(graph.message(1, i).bytes(1));
  }
  return names;
}

/// Its second relu has the name of its parameter.
struct TwoRelus : nn::Module {
  Tensor forward(Tensor x) { return x.relu().mul(relu_1).relu(); }
  Tensor relu_1 = register_parameter("relu_1", ones({2}));
};

TEST(SummaryWriter, NamesInAGraphAreDistinct) {
  EXPECT_EQ(written_names(std::make_shared<TwoRelus>()),
            (std::vector<std::string>{"input/input.1", "TwoRelus/relu_1", "TwoRelus/relu",
                                      "TwoRelus/mul", "TwoRelus/relu_2", "output/output.1"}));
}

TEST(SummaryWriter, AGraphHasANodePerOp) {
  nn::Sequential net(nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 1), nn::ReLU());
  const std::vector<std::string> expected{"input/input.1",
                                          "Sequential/Linear[0]/weight",
                                          "Sequential/Linear[0]/bias",
                                          "Sequential/Linear[2]/weight",
                                          "Sequential/Linear[2]/bias",
                                          "Sequential/Linear[0]/linear",
                                          "Sequential/ReLU[1]/relu",
                                          "Sequential/Linear[2]/linear",
                                          "Sequential/ReLU[3]/relu",
                                          "output/output.1"};
  EXPECT_EQ(written_names(net), expected);
}

}  // namespace
}  // namespace hearth::testing
