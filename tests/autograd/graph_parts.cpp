// The public interface of nodes and edges, root gradients and leaf gradients.
#include "tests/autograd/support.h"

#include <sstream>

#include "hearth/autograd_hooks.h"
#include "hearth/context.h"
#include "hearth/indexing.h"

namespace hearth::testing {
namespace {

TEST(EdgeLists, SupportVectorOperations) {
  const Tensor x = leaf({1, 2}), m = leaf({3, 4});
  const Tensor y = x * m;
  autograd::edge_list edges = y.grad_fn()->next_edges();
  const autograd::edge_list copy = edges;
  ASSERT_EQ(copy.size(), 2U);
  EXPECT_EQ(copy[0], autograd::gradient_edge(x));
  EXPECT_EQ(copy[1], autograd::gradient_edge(m));
  edges.push_back(copy[0]);  // exceeds the inline storage
  edges.insert(edges.begin(), copy[1]);
  EXPECT_EQ(edges.size(), 4U);
  EXPECT_EQ(edges[0], copy[1]);
  EXPECT_EQ(edges.back(), copy[0]);
  edges.erase(edges.begin() + 1);
  EXPECT_EQ(edges, (autograd::edge_list{copy[1], copy[1], copy[0]}));
  edges = copy;
  EXPECT_EQ(edges, copy);
  autograd::edge_list moved = std::move(edges);
  EXPECT_EQ(moved, copy);
  edges = {copy[1]};
  EXPECT_EQ(edges.size(), 1U);
  moved = moved;  // NOLINT: self-move
  EXPECT_EQ(moved, copy);
  EXPECT_EQ(autograd::edge_list(3).size(), 3U);
}

TEST(Nodes, ArePrintedAsAddresses) {
  const Tensor x = leaf({1}), y = x * 2;
  std::ostringstream node, none, address;
  node << y.grad_fn();
  none << x.grad_fn();
  address << static_cast<const void*>(y.grad_fn().get());
  EXPECT_EQ(node.str(), address.str());
  EXPECT_EQ(none.str(), "0");
}

/// The names of the nodes to which the edges of tensor's grad_fn lead, "-" for an invalid edge.
std::string edges_of(const Tensor& tensor) {
  std::string text;
  for (const autograd::Edge& edge : tensor.grad_fn()->next_edges())
    text += text.empty() ? "" : " ", text += edge.is_valid() ? edge.function->name() : "-";
  return text;
}

TEST(Nodes, HaveTheEdgesOfPyTorch) {
  const Tensor x = leaf({1, 2, 3}), m = ones({2, 3}).requires_grad_();
  const Tensor indices = zeros({2, 1}, kLong), constant = ones({3});
  const std::string leaf_node = "torch::autograd::AccumulateGrad";
  EXPECT_EQ(edges_of(x * 2), leaf_node);
  EXPECT_EQ(edges_of(2 * x), leaf_node);
  EXPECT_EQ(edges_of(x + 1), leaf_node);
  EXPECT_EQ(edges_of(x / 2), leaf_node);
  EXPECT_EQ(edges_of(x.pow(2)), leaf_node);
  EXPECT_EQ(edges_of(1 - x), "- " + leaf_node);
  EXPECT_EQ(edges_of(x * constant), leaf_node + " -");
  EXPECT_EQ(edges_of(x * m), leaf_node + " " + leaf_node);
  EXPECT_EQ(edges_of(where(x > 0, x, x)), leaf_node + " " + leaf_node);
  EXPECT_EQ(edges_of(where(x > 0, x, 0.)), leaf_node + " -");
  EXPECT_EQ(edges_of(m.gather(1, indices)), leaf_node);
  EXPECT_EQ(edges_of(m.index({zeros({1}, kLong)})), leaf_node);
  EXPECT_EQ(edges_of(embedding(m, zeros({2}, kLong))), leaf_node);
  EXPECT_EQ(edges_of(cat({x, constant})), leaf_node + " -");
  EXPECT_EQ(edges_of(x.index_add(0, zeros({1}, kLong), ones({1}))), leaf_node + " -");
}

TEST(Nodes, WithoutEdgesForConstantsGiveCorrectGradients) {
  const Tensor x = leaf({1, -2, 3}, kDouble), y = leaf({4, 5, 6}, kDouble);
  const Tensor z = where(x > 0, x * 2, y * 3);  // the condition has no edge
  const auto grads = autograd::grad({z.sum()}, {x, y});
  expect_values(grads[0], {2, 0, 2});
  expect_values(grads[1], {0, 3, 0});
  const Tensor w = x * 1;
  w.index_add_(0, vec({2, 0}, kLong), y.slice(0, 0, 2));
  const Tensor sum = (w * w).sum();  // (x0 + y1)^2 + x1^2 + (x2 + y0)^2
  const auto write_grads = autograd::grad({sum}, {x, y});
  expect_values(write_grads[0], {12, -4, 14});
  expect_values(write_grads[1], {14, 12, 0});
}

// As in LibTorch, a root gradient may have any shape to which the output broadcasts; it is summed
// to the output's shape.
TEST(RootGradients, MayHaveAShapeThatTheOutputBroadcastsTo) {
  const Tensor x = leaf({1, 2, 3});
  (x * 2).sum().backward(ones({1}));
  expect_values(x.grad(), {2, 2, 2});
  (x * 2).sum().backward(ones({2, 3}));
  expect_values(x.grad(), {14, 14, 14});
  x.mutable_grad().reset();
  (x * 2).backward(ones({2, 3}));
  expect_values(x.grad(), {4, 4, 4});
  expect_values(autograd::grad({(x * 2).sum()}, {x}, {ones({1})})[0], {2, 2, 2});
  expect_values(autograd::grad({x.sum()}, {x}, {ones({0})})[0], {0, 0, 0});
  const char* const text = "invalid gradient at index 0 - got ";
  EXPECT_ERROR((x * 2).backward(ones({1})),
               std::string(text) + "[1] but expected shape compatible with [3]");
  EXPECT_ERROR((x * 2).backward(ones({})),
               std::string(text) + "[] but expected shape compatible with [3]");
}

TEST(Backward, CreateGraphWarnsOnceUnlessWarnAlwaysIsSet) {
  const Tensor x = leaf({1});
  const auto warns = [&] {
    const Warnings warnings;
    (x * x).backward({}, {}, true);
    return Warnings::contains("Using backward() with create_graph=True will create a reference");
  };
  warns();  // consumes the warning
  EXPECT_FALSE(warns());
  globalContext().setWarnAlways(true);
  EXPECT_TRUE(warns());
  EXPECT_TRUE(warns());
  globalContext().setWarnAlways(false);
  EXPECT_FALSE(warns());
  x.mutable_grad().reset();
}

TEST(LeafGradients, HaveTheLeafsStridesIfItIsDense) {
  const auto gradient_strides = [](const Tensor& w) {
    w.mutable_grad().reset();
    (w * w * ones(w.sizes())).sum().backward();
    const std::vector<int64_t> result = w.grad().strides().vec();
    w.mutable_grad().reset();
    const Warnings silence;
    (w * w * ones(w.sizes())).sum().backward({}, {}, true);
    EXPECT_EQ(w.grad().strides().vec(), result);
    EXPECT_TRUE(w.grad().requires_grad());
    w.mutable_grad().reset();
    return result;
  };
  using List = std::vector<int64_t>;
  const Tensor image = ones({2, 3, 2, 2}).contiguous(MemoryFormat::ChannelsLast);
  EXPECT_EQ(gradient_strides(image.requires_grad_()), (List{12, 1, 6, 3}));
  EXPECT_EQ(gradient_strides(ones({3, 2}).t().detach().requires_grad_()), (List{1, 2}));
  EXPECT_EQ(gradient_strides(ones({3, 1}).expand({3, 4}).detach().requires_grad_()), (List{4, 1}));
  EXPECT_EQ(gradient_strides(ones({4, 6}).slice(1, 0, 6, 2).detach().requires_grad_()),
            (List{3, 1}));
  // Backward produces a contiguous gradient here. It is copied because its strides are not w's.
  const Tensor w = ones({2, 3, 2, 2}).contiguous(MemoryFormat::ChannelsLast).requires_grad_();
  (w * ones({2, 3, 2, 2})).sum().backward();
  EXPECT_EQ(w.grad().strides().vec(), (List{12, 1, 6, 3}));
}

TEST(SetData, KeepsTheAccumulatorIfMetadataIsEqual) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;  // keeps the accumulator alive
  const autograd::NodePtr accumulator = y.grad_fn()->next_edge(0).function;
  int calls = 0;
  accumulator->add_post_hook([&](const variable_list& outputs, const variable_list&) {
    ++calls;
    return outputs;
  });
  const auto keeps_accumulator = [&] { return autograd::gradient_edge(x).function == accumulator; };
  x.set_data(ones({2}));
  EXPECT_TRUE(keeps_accumulator());
  (x * 3).sum().backward();
  EXPECT_EQ(calls, 1);
  x.set_data(ones({2}, kDouble));
  EXPECT_FALSE(keeps_accumulator());
}

TEST(SetData, WithNewSizesChangesGradientSizes) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  x.set_data(ones({5}));
  x.mutable_grad().reset();
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad().sizes(), IntArrayRef({5}));
}

}  // namespace
}  // namespace hearth::testing
