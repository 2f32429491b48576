// Nodes that programs write themselves. The values and texts are those of the same program with
// LibTorch 2.15.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/torch.h>

#include "tests/support/throws.h"

namespace hand_written_nodes {
namespace {

using namespace torch::autograd;
using torch::Tensor;
using torch::autograd::Identity;

int released = 0, announced = 0;

Tensor leaf() { return torch::tensor({1.F, 2.F}).requires_grad_(); }

void expect_same(const Tensor& got, const Tensor& wanted) {
  ASSERT_TRUE(got.defined());
  EXPECT_TRUE(torch::equal(got, wanted)) << got << wanted;
}

/// The derivative of x^3 from a saved input and a saved output.
struct CubeBackward : public Node {
  SavedVariable self_, result_;
  variable_list apply(variable_list&& grads) override {
    const Tensor x = self_.unpack(), y = result_.unpack(shared_from_this());
    variable_list results(num_outputs());
    if (task_should_compute_output(0)) results[0] = grads[0] * 3 * y / x;
    return results;
  }
  void release_variables() override {
    ++released;
    self_.reset_data();
    result_.reset_data();
  }
  void will_release_variables() override { ++announced; }
};

/// Creates a node as programs for older LibTorch do, or for the newest one.
enum class Owner { kShared, kIntrusive };

template <class MakeNode>
Tensor record_cube(const Tensor& x, const MakeNode& make_node) {
  Tensor y = x.detach().pow(3);
  if (compute_requires_grad(x)) {
    const auto node = make_node();
    node->set_next_edges(collect_next_edges(x));
    node->self_ = SavedVariable(x, false);
    set_history(y, node);
    node->result_ = SavedVariable(y, true);
  }
  return y;
}

Tensor cube(const Tensor& x, Owner owner = Owner::kShared) {
  if (owner == Owner::kIntrusive)
    return record_cube(x, [] { return c10::make_intrusive<CubeBackward>(); });
  return record_cube(x,
                     [] { return std::shared_ptr<CubeBackward>(new CubeBackward(), deleteNode); });
}

/// A node with two outputs whose gradient for the input a program chooses.
struct TwoOutputs : public Node {
  variable_list results;
  using Node::Node;
  std::string name() const override { return "TwoOutputs"; }
  variable_list apply(variable_list&& grads) override {
    EXPECT_EQ(grads.size(), 2U);
    EXPECT_FALSE(grads[1].defined());
    return results;
  }
};

struct TimesTen : FunctionPreHook {
  variable_list operator()(const variable_list& grads) override { return {grads[0] * 10}; }
};
struct PlusOne : FunctionPostHook {
  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    return {outputs[0] + 1};
  }
};

}  // namespace

TEST(Nodes, OfProgramsComputeGradients) {
  for (const Owner owner : {Owner::kShared, Owner::kIntrusive}) {
    released = announced = 0;
    const Tensor x = leaf(), y = cube(x, owner);
    EXPECT_NE(y.grad_fn()->name().find("CubeBackward"), std::string::npos);
    EXPECT_FALSE(y.is_leaf());
    y.sum().backward({}, true);
    expect_same(x.grad(), torch::tensor({3.F, 12.F}));
    EXPECT_EQ(released + announced, 0);
    y.sum().backward();
    expect_same(x.grad(), torch::tensor({6.F, 24.F}));
    EXPECT_EQ(released, 1);
    EXPECT_EQ(announced, 1);
    EXPECT_ERROR(y.sum().backward(), "Trying to backward through the graph a second time");
    x.mutable_grad() = Tensor();
    cube(cube(x, owner), owner).sum().backward();
    expect_same(x.grad(), torch::tensor({9.F, 2304.F}));
  }
  const torch::NoGradGuard guard;
  EXPECT_FALSE(cube(leaf()).requires_grad());
}

TEST(Nodes, NoticeChangesOfSavedTensors) {
  const Tensor x = leaf(), m = x * 1, y = cube(m), z = cube(m);
  y.add_(1);
  EXPECT_ERROR(y.sum().backward(),
               ", is at version 1; expected version 0 instead. Hint: enable anomaly detection");
  m.mul_(2);
  EXPECT_ERROR(z.sum().backward(), "which is output 0 of Mul");
}

TEST(Nodes, MustReturnOneGradientPerEdge) {
  const auto backward = [](const variable_list& results) {
    const Tensor x = leaf(), a = torch::zeros({2}), b = torch::zeros({3});
    const auto node = std::make_shared<TwoOutputs>(collect_next_edges(x));
    node->results = results;
    set_history({a, b}, node);
    EXPECT_EQ(node->num_inputs(), 2U);
    a.sum().backward();
    return x.grad();
  };
  const Tensor ones = torch::ones({2});
  EXPECT_ERROR(backward({ones, ones, ones}),
               "Function TwoOutputs returned an invalid number of gradients - expected 1, but got "
               "3");
  EXPECT_ERROR(backward({}), "invalid number of gradients - expected 1, but got 0");
  EXPECT_ERROR(backward({torch::ones({5})}),
               "Function TwoOutputs returned an invalid gradient at index 0 - got [5] but expected "
               "shape compatible with [2]");
  expect_same(backward({torch::ones({2}, torch::kLong)}), ones);
  expect_same(backward({torch::ones({2}, torch::kDouble)}), ones);
  expect_same(backward({torch::ones({4, 2})}), ones * 4);
}

TEST(Nodes, LiveAsLongAsOneOwner) {
  struct Counted : Identity {
    explicit Counted(int& count) : count_(count) {}
    ~Counted() override { ++count_; }
    int& count_;
  };
  int destroyed = 0;
  auto node = std::make_shared<Counted>(destroyed);
  {
    const Tensor x = leaf(), y = torch::ones({2});
    node->set_next_edges(collect_next_edges(x));
    set_history(y, node);
    std::shared_ptr<Node> same = y.grad_fn();
    EXPECT_EQ(same, node);
    const Tensor z = torch::ones({2});
    set_history(z, node);
  }
  EXPECT_EQ(destroyed, 0);
  {
    const NodePtr again = node;
    EXPECT_EQ(again, node->getptr());
  }
  node.reset();
  EXPECT_EQ(destroyed, 1);
  Tensor y = torch::ones({2});
  set_history(y, std::make_shared<Counted>(destroyed));
  const std::weak_ptr<Node> weak = std::shared_ptr<Node>(y.grad_fn());
  EXPECT_FALSE(weak.expired());
  y = Tensor();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(destroyed, 2);
  std::shared_ptr<Node> of_an_operator = (leaf() * 2).grad_fn();
  EXPECT_EQ(of_an_operator->name(), "MulBackward1");
  const NodePtr shared = of_an_operator;
  of_an_operator.reset();
  EXPECT_EQ(shared->num_inputs(), 1U);
}

TEST(Nodes, InLongChainsAreDestroyedOneByOne) {
  Tensor x = leaf();
  for (int i = 0; i < 100'000; ++i) {
    const auto node = std::make_shared<Identity>();
    node->set_next_edges(collect_next_edges(x));
    x = torch::ones({2});
    set_history(x, node);
  }
  x = Tensor();
}

TEST(Nodes, RunHooksOfLibTorchsKind) {
  const Tensor x = leaf(), y = cube(x);
  const uintptr_t key = y.grad_fn()->add_post_hook(std::make_unique<PlusOne>());
  y.sum().backward({}, true);
  expect_same(x.grad(), torch::tensor({4.F, 13.F}));
  EXPECT_TRUE(y.grad_fn()->del_post_hook(key));
  EXPECT_FALSE(y.grad_fn()->del_post_hook(key));
  y.grad_fn()->add_pre_hook(std::make_unique<TimesTen>());
  x.mutable_grad() = Tensor();
  y.sum().backward();
  expect_same(x.grad(), torch::tensor({30.F, 120.F}));
  const Tensor w = torch::ones({1}).requires_grad_();
  impl::add_hook(w, std::make_unique<TimesTen>());
  (w * 2).backward();
  EXPECT_EQ(w.grad().item<float>(), 20);
  impl::clear_hooks(w);
  (w * 2).backward();
  EXPECT_EQ(w.grad().item<float>(), 22);
}

TEST(Nodes, CollectEdgesAndTensorsOfArguments) {
  const Tensor x = leaf(), plain = torch::ones({1});
  const std::optional<Tensor> none;
  EXPECT_EQ(collect_next_edges(x, none, plain, std::vector<Tensor>{x, x}).size(), 5U);
  EXPECT_TRUE(collect_next_edges(x)[0].is_valid());
  EXPECT_FALSE(collect_next_edges(none)[0].is_valid());
  EXPECT_EQ(flatten_tensor_args(x, none, std::vector<Tensor>{x, plain}).size(), 3U);
  EXPECT_TRUE(compute_requires_grad(plain, none, x));
  EXPECT_FALSE(any_variable_requires_grad({Tensor(), plain}));
  EXPECT_ERROR(set_history(torch::ones({2}, torch::kLong), std::make_shared<Identity>()),
               "Autograd not support dtype: ");
  EXPECT_ERROR(check_input_variables("F", {x}, 2), "F: expected 2 arguments (got 1)");
  EXPECT_ERROR(check_input_variables("F", {Tensor()}, 1),
               "F: expected Tensor at argument 0 (got None)");
}

TEST(Nodes, RewriteTheHistoryOfViews) {
  const Tensor x = torch::ones({4}).requires_grad_(), base = x * 1, view = base.slice(0, 0, 2);
  const Tensor old = view.detach().clone();
  const auto node = std::make_shared<CubeBackward>();
  node->set_next_edges(collect_next_edges(view));
  node->self_ = SavedVariable(old, false);
  node->result_ = SavedVariable(old.pow(3), false);
  view.detach().pow_(3);
  rebase_history(view, node);
  EXPECT_EQ(base.grad_fn()->name(), "torch::autograd::CopySlices");
  base.sum().backward();
  expect_same(x.grad(), torch::tensor({3.F, 3.F, 1.F, 1.F}));
}

TEST(Nodes, OfLibTorch) {
  const Tensor x = leaf();
  Tensor failing = torch::ones({2});
  set_history(failing, std::make_shared<torch::autograd::Error>("my message"));
  EXPECT_ERROR(failing.sum().backward(), "my message");
  set_history(failing, std::make_shared<NotImplemented>("foo"));
  EXPECT_ERROR(failing.sum().backward(), "derivative for foo is not implemented");
  const variable_list delayed = (*std::make_shared<DelayedError>("delayed", 1))({x * 1});
  EXPECT_TRUE(delayed[0].requires_grad());
  EXPECT_ERROR(delayed[0].sum().backward(), "delayed");
  GraphRoot root({impl::gradient_edge(x)}, {torch::ones({2})});
  EXPECT_EQ(root.num_inputs() + root.num_outputs(), 2U);
  const NodePtr accumulator = impl::grad_accumulator(x);
  EXPECT_TRUE(dynamic_cast<AccumulateGrad&>(*accumulator).variable.is_same(x));
  EXPECT_EQ(impl::try_get_grad_accumulator(x), accumulator);
  EXPECT_FALSE(impl::grad_accumulator(torch::ones({1})));
  EXPECT_ERROR(impl::grad_accumulator(x * 1),
               "grad_accumulator() should be only called on leaf Variables");
}

}  // namespace hand_written_nodes
