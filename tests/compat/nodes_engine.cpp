// Saved variables, the engine's interface and metadata of nodes; texts and values are LibTorch's.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable_info.h>
#include <torch/torch.h>

#include "tests/support/throws.h"

namespace hand_written_nodes {
namespace {

using namespace torch::autograd;
using torch::Tensor;
using torch::autograd::Identity;

Tensor small_leaf() { return torch::tensor({1.F, 2.F}).requires_grad_(); }

/// Keeps twice the tensor.
struct Doubled : SavedVariableHooks {
  Tensor kept;
  void call_pack_hook(const Tensor& tensor) override {
    EXPECT_FALSE(tensor.requires_grad());
    kept = tensor * 2;
  }
  Tensor call_unpack_hook() override { return kept; }
};

}  // namespace

TEST(SavedVariables, KeepTensorsUntilReset) {
  EXPECT_FALSE(SavedVariable().unpack().defined());
  EXPECT_FALSE(SavedVariable(Tensor(), false).unpack().defined());
  EXPECT_FALSE(SavedVariable(std::optional<Tensor>(), false).unpack().defined());
  const Tensor x = small_leaf(), y = x * 2;
  SavedVariable saved(x, false);
  EXPECT_TRUE(saved.unpack().is_same(x));
  EXPECT_EQ(SavedVariable(y, false).unpack().grad_fn(), y.grad_fn());
  EXPECT_ERROR(SavedVariable(y, true).unpack(), "No grad_fn for non-leaf saved tensor");
  EXPECT_EQ(SavedVariable(y, true).unpack(y.grad_fn()).grad_fn(), y.grad_fn());
  SavedVariable moved = std::move(saved);
  moved.reset_data();
  EXPECT_ERROR(moved.unpack(), "Trying to backward through the graph a second time");
  EXPECT_EQ(make_saved_variable_list({x, y}).size(), 2U);
}

TEST(SavedVariables, AcceptOnePairOfHooks) {
  const Tensor x = small_leaf();
  SavedVariable saved(x, false), none;
  EXPECT_FALSE(saved.has_hooks());
  saved.register_hooks(std::make_unique<Doubled>());
  EXPECT_TRUE(saved.has_hooks());
  EXPECT_TRUE(torch::equal(saved.unpack(), x * 2));
  EXPECT_TRUE(saved.unpack().requires_grad());
  EXPECT_ERROR(saved.register_hooks(std::make_unique<Doubled>()), "only one pair of hooks is");
  EXPECT_ERROR(none.register_hooks(std::make_unique<Doubled>()),
               "Calling register_hooks on a saved tensor with value None is forbidden");
}

TEST(Engines, RunGraphs) {
  const Tensor x = small_leaf(), y = (x * x).sum(), one = torch::ones({});
  Engine& engine = Engine::get_default_engine();
  const auto run = [&](const variable_list& grads, bool accumulate, const edge_list& outputs) {
    return engine.execute({impl::gradient_edge(y)}, grads, true, false, accumulate, outputs);
  };
  const variable_list captured = run({one}, false, {impl::gradient_edge(x)});
  EXPECT_TRUE(torch::equal(captured.at(0), torch::tensor({2.F, 4.F})));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(run({one}, true, {}).empty());
  EXPECT_TRUE(torch::equal(x.grad(), captured[0]));
  EXPECT_ERROR(run({}, true, {}), "invalid number of gradients - expected 1, but got 0");
}

TEST(Engines, ConvertGradientsToTheMetadata) {
  const edge_list edges = collect_next_edges(small_leaf());
  const auto validate = [&](variable_list grads) {
    validate_outputs(edges, grads, [](const std::string& text) { return "mine: " + text; });
    return grads;
  };
  EXPECT_TRUE(torch::equal(validate({torch::ones({4, 2})})[0], torch::full({2}, 4.F)));
  EXPECT_EQ(validate({torch::ones({2}, torch::kLong)})[0].scalar_type(), torch::kFloat);
  EXPECT_ERROR(validate({torch::ones({3})}),
               "mine: invalid gradient at index 0 - got [3] but expected shape compatible with "
               "[2]");
  EXPECT_ERROR(validate({}), "mine: invalid number of gradients - expected 1, but got 0");
}

TEST(Engines, KnowTheRunningNode) {
  struct Asks : Node {
    variable_list apply(variable_list&& grads) override {
      EXPECT_EQ(get_current_node().get(), this);
      EXPECT_FALSE(get_current_graph_task_keep_graph());
      EXPECT_EQ(get_current_graph_task_id(), current_graph_task_id());
      return std::move(grads);
    }
  };
  const Tensor x = small_leaf(), y = torch::ones({2});
  const auto node = std::make_shared<Asks>();
  node->set_next_edges(collect_next_edges(x));
  set_history(y, node);
  y.sum().backward();
  EXPECT_FALSE(get_current_node());
  EXPECT_EQ(get_current_graph_task_id(), -1);
}

TEST(Metadata, OfNodes) {
  const auto node = std::make_shared<Identity>();
  node->add_input_metadata(Node::undefined_input());
  node->add_input_metadata(torch::ones({2}));
  EXPECT_TRUE(node->input_metadata(0).was_default_constructed());
  const InputMetadata& metadata = node->input_metadata(1);
  EXPECT_EQ(metadata.dtype(), torch::kFloat);
  EXPECT_TRUE(torch::equal(metadata.zeros_like(), torch::zeros({2})));
  EXPECT_TRUE(metadata.is_expandable_to_shape(torch::ones({3, 2})));
  EXPECT_FALSE(metadata.is_same_shape(torch::ones({3, 2})));
  EXPECT_TRUE(node->device().is_cpu());
  node->clear_input_metadata();
  EXPECT_EQ(node->num_inputs(), 0U);
  EXPECT_ERROR(node->task_should_compute_output(3), "Index out of range");
  EXPECT_FALSE(node->should_compute_output({IndexRange(0, 0)}));
  EXPECT_EQ(Edge(), Edge(nullptr, 0));
  EXPECT_TRUE(torch::equal(VariableInfo(torch::ones({2})).zeros(), torch::zeros({2})));
}

TEST(Metadata, OfVariables) {
  const Tensor x = torch::ones({4});
  impl::bump_version(x);
  increment_version(x);
  EXPECT_EQ(impl::version_counter(x).current_version(), 2U);
  EXPECT_EQ(x._version(), 2);
  const Tensor other = torch::ones({4});
  impl::set_version_counter(other, impl::version_counter(x));
  other.add_(1);
  EXPECT_EQ(x._version(), 3);
  impl::set_name(x, "x");
  EXPECT_EQ(x.name(), "x");
  EXPECT_ERROR(check_inplace(small_leaf(), true),
               "a leaf Variable that requires grad is being used");
  EXPECT_ERROR(check_no_requires_grad(small_leaf(), "weight", "conv"),
               "The function 'conv' is not differentiable with respect to argument 'weight'. This "
               "input cannot have requires_grad True.");
}

TEST(Metadata, OfViews) {
  const Tensor base = small_leaf() * 2;
  const Tensor view =
      as_view(base, base.detach(), true, true, nullptr, nullptr, CreationMeta::NO_GRAD_MODE);
  EXPECT_TRUE(view.is_view());
  EXPECT_TRUE(view._base().is_same(base));
  EXPECT_ERROR(view.add_(1), "created in no_grad mode");
  EXPECT_EQ(propagate_creation_meta(CreationMeta::INFERENCE_MODE, CreationMeta::NO_GRAD_MODE),
            CreationMeta::INFERENCE_MODE);
  const auto wrapped = wrap_outputs({base}, {torch::ones({2})}, [](edge_list&& edges) {
    auto node = std::make_shared<Identity>();
    node->set_next_edges(std::move(edges));
    return node;
  });
  EXPECT_TRUE(wrapped[0].requires_grad());
}

}  // namespace hand_written_nodes
