#include <gtest/gtest.h>
#include <torch/torch.h>

// Custom functions in the style of LibTorch's autograd tutorial.

using namespace torch::autograd;

namespace {

/// The tutorial's linear layer with a custom gradient.
class LinearFunction : public Function<LinearFunction> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor input, torch::Tensor weight,
                               torch::Tensor bias = torch::Tensor()) {
    ctx->save_for_backward({input, weight, bias});
    auto output = input.mm(weight.t());
    if (bias.defined()) output += bias.unsqueeze(0).expand_as(output);
    return output;
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list grad_outputs) {
    auto saved = ctx->get_saved_variables();
    auto grad_output = grad_outputs[0];
    auto grad_bias = torch::Tensor();
    if (saved[2].defined()) grad_bias = grad_output.sum(0);
    return {grad_output.mm(saved[1]), grad_output.t().mm(saved[0]), grad_bias};
  }
};

class MulConstant : public Function<MulConstant> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor tensor, double constant) {
    ctx->saved_data["constant"] = constant;
    return tensor * constant;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grad_outputs) {
    return {grad_outputs[0] * ctx->saved_data["constant"].toDouble(), torch::Tensor()};
  }
};

}  // namespace

TEST(CustomFunction, TutorialsLinearLayerMatchesAutograd) {
  torch::manual_seed(3);
  auto x = torch::randn({2, 3}).requires_grad_();
  auto weight = torch::randn({4, 3}).requires_grad_();
  auto bias = torch::randn({4}).requires_grad_();
  auto y = LinearFunction::apply(x, weight, bias);
  EXPECT_EQ(y.sizes(), torch::IntArrayRef({2, 4}));
  y.sum().backward();
  const auto custom = std::vector<torch::Tensor>{x.grad().clone(), weight.grad().clone()};
  const auto expected = grad({(torch::mm(x, weight.t()) + bias).sum()}, {x, weight});
  EXPECT_TRUE(torch::allclose(custom[0], expected[0]));
  EXPECT_TRUE(torch::allclose(custom[1], expected[1]));
  EXPECT_EQ(bias.grad()[0].item<float>(), 2);
}

TEST(CustomFunction, AcceptsNonTensorArguments) {
  auto x = torch::randn({2}).requires_grad_();
  MulConstant::apply(x, 5.5).sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 5.5F);
}

TEST(CustomFunction, SupportsLocalStructsAndSeveralOutputs) {
  struct Both : Function<Both> {
    static variable_list forward(AutogradContext* ctx, Variable a, Variable b) {
      ctx->saved_data["number"] = int64_t(7);
      return {a + b, a * b};
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      EXPECT_EQ(ctx->saved_data["number"].toInt(), 7);
      EXPECT_TRUE(grads[1].defined()) << "gradients are materialised";
      return {grads[0], grads[0] * 2};  // not b's derivative, to show that this function ran
    }
  };
  const auto a = torch::ones({2}, torch::requires_grad()),
             b = torch::ones({2}, torch::requires_grad());
  const auto out = Both::apply(a, b);
  ASSERT_EQ(out.size(), 2U);
  out[0].sum().backward();
  EXPECT_EQ(b.grad()[1].item<float>(), 2);
}

TEST(CustomFunction, SupportsInplaceWithMarkDirty) {
  struct Double : Function<Double> {
    static Variable forward(AutogradContext* ctx, Variable x) {
      x.mul_(2);
      ctx->mark_dirty({x});
      return x;
    }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
  };
  const auto x = torch::ones({2}, torch::requires_grad());
  auto y = x * 1;
  EXPECT_TRUE(Double::apply(y).is_same(y));
  y.sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 2);
}
