// Parametrizations: registration, state, clones, removal.
#include <gtest/gtest.h>

#include <sstream>

#include "hearth/autograd.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "tests/support/throws.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using namespace hearth::nn::utils::parametrizations;
using namespace hearth::nn::utils::parametrize;
using Keys = std::vector<std::string>;

/// The symmetric matrix with the upper triangle of the input.
struct Symmetric : Cloneable<Symmetric> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return x.triu() + x.triu(1).mT(); }
  Tensor right_inverse(const Tensor& value) { return value.triu(); }
};

struct Doubled : Module {
  Tensor forward(const Tensor& x) { return x * 2; }
};

struct ToDouble : Module {
  Tensor forward(const Tensor& x) { return x.to(kDouble); }
};

TEST(Parametrize, OwnModulesComputeAWeight) {
  Linear linear = register_parametrization(Linear(3, 3), "weight", std::make_shared<Symmetric>());
  EXPECT_EQ(linear->state_dict().keys(), (Keys{"bias", "parametrizations.weight.original"}));
  EXPECT_TRUE(linear->weight.equal(linear->weight.mT()));
  linear(ones({1, 3})).sum().backward();
  const Tensor original = linear->named_parameters()["parametrizations.weight.original"];
  EXPECT_TRUE(original.grad().equal(ones({3, 3}).triu() + ones({3, 3}).triu(1)));
  register_parametrization(linear, "weight", std::make_shared<Doubled>());
  EXPECT_TRUE(linear->weight.allclose(Symmetric().forward(original) * 2));
  EXPECT_EQ(linear->named_modules().keys(),
            (Keys{"", "parametrizations", "parametrizations.weight", "parametrizations.weight.0",
                  "parametrizations.weight.1"}));
}

TEST(Parametrize, OptimizersTrainTheOriginals) {
  Linear linear = weight_norm(Linear(3, 2));
  EXPECT_EQ(linear->parameters().size(), 3u);
  const Tensor x = ones({1, 3}), before = linear(x);
  for (int i = 0; i < 2; ++i) {
    linear->zero_grad();
    linear(x).square().sum().backward();
    const NoGradGuard no_grad;
    for (const Tensor& parameter : linear->parameters()) parameter.sub_(parameter.grad(), 0.05);
  }
  EXPECT_LT(linear(x).square().sum().item<double>(), before.square().sum().item<double>());
}

TEST(Parametrize, ClonesAreIndependent) {
  manual_seed(1);
  Sequential model(spectral_norm(Linear(4, 3)), ReLU(), weight_norm(Linear(3, 2)));
  model->eval();
  const Tensor x = ones({2, 4}), wanted = model->forward(x);
  const auto copy = std::dynamic_pointer_cast<SequentialImpl>(model->clone());
  EXPECT_EQ(copy->state_dict().keys(), model->state_dict().keys());
  EXPECT_TRUE(copy->forward(x).equal(wanted));
  {
    const NoGradGuard no_grad;
    for (const char* name : {"2.bias", "2.parametrizations.weight.original0"})
      copy->named_parameters()[name].zero_();
  }
  EXPECT_TRUE(copy->forward(x).equal(zeros({2, 2})));
  EXPECT_TRUE(model->forward(x).equal(wanted));
}

TEST(Parametrize, StatesLoad) {
  manual_seed(1);
  Linear first = spectral_norm(Linear(4, 3)), second = spectral_norm(Linear(4, 3));
  second->load_state_dict(first->state_dict());
  first->eval();
  second->eval();
  const Tensor x = ones({2, 4});
  EXPECT_TRUE(first(x).equal(second(x)));
  EXPECT_ERROR(Linear(4, 3)->load_state_dict(first->state_dict()), "Missing key(s)");
}

TEST(Parametrize, RemovalLeavesAParameter) {
  Linear linear = weight_norm(Linear(3, 2));
  EXPECT_TRUE(is_parametrized(*linear));
  const Tensor x = ones({1, 3}), wanted = linear(x);
  remove_parametrizations(linear, "weight");
  EXPECT_FALSE(is_parametrized(*linear));
  EXPECT_EQ(linear->named_parameters().keys(), (Keys{"bias", "weight"}));
  EXPECT_TRUE(linear(x).allclose(wanted));
  linear(x).sum().backward();
  EXPECT_TRUE(linear->weight.grad().equal(ones({2, 3})));
  spectral_norm(linear);
  remove_parametrizations(linear, "weight", /*leave_parametrized=*/false);
  EXPECT_TRUE(linear(x).allclose(wanted));
}

TEST(Parametrize, HooksOfRemovedOnesDoNothing) {
  manual_seed(1);
  Linear linear = weight_norm(Linear(30, 20)), other(30, 20);
  remove_parametrizations(linear, "weight");
  {
    const NoGradGuard no_grad;
    other->weight.copy_(linear->weight);
  }
  // Each call must do one power iteration.
  Tensor vectors[2];
  for (Linear* layer : {&linear, &other}) {
    manual_seed(2);
    spectral_norm(*layer);
    const Tensor vector = (*layer)->named_buffers()["parametrizations.weight.0._u"];
    const Tensor before = vector.clone();
    (*layer)(ones({1, 30}));
    EXPECT_FALSE(vector.equal(before));
    vectors[layer == &other] = vector;
  }
  EXPECT_TRUE(vectors[0].equal(vectors[1]));
}

TEST(Parametrize, AModuleCalledTwiceHasGradients) {
  Linear linear = spectral_norm(Linear(4, 3));
  const Tensor a = linear(ones({2, 4})), b = linear(ones({2, 4}) * 2);
  (a.sum() + b.sum()).backward();
  EXPECT_TRUE(linear->named_parameters()["parametrizations.weight.original"].grad().defined());
}

TEST(Parametrize, OrthogonalWeightsStayOrthogonal) {
  for (const char* map : {"matrix_exp", "cayley", "householder"}) {
    Linear linear = orthogonal(Linear(6, 4), "weight", map);
    {
      const NoGradGuard no_grad;
      linear->named_parameters()["parametrizations.weight.original"].add_(
          arange(24).reshape({4, 6}).sin().triu(1) * 3);
    }
    linear(ones({1, 6}));
    const Tensor w = linear->weight;
    EXPECT_TRUE(w.matmul(w.mT()).allclose(eye(4), 1e-4, 1e-5)) << map;
  }
}

TEST(Parametrize, BadCallsAreRefused) {
  EXPECT_ERROR(weight_norm(Linear(3, 2), "foo"), "has no member 'foo'");
  EXPECT_ERROR(weight_norm(Linear(LinearOptions(3, 2).bias(false)), "bias"),
               "does not have a parameter, a buffer, or a parametrized element with name 'bias'");
  EXPECT_ERROR(weight_norm(weight_norm(Linear(3, 2))), "has a parametrization already");
  EXPECT_ERROR(weight_norm(Linear(3, 2), "weight", 3),
               "Dimension out of range (expected to be in range of [-2, 1], but got 3)");
  EXPECT_ERROR(spectral_norm(Linear(3, 2), "weight", 0),
               "Expected n_power_iterations to be positive, but got n_power_iterations=0");
  EXPECT_ERROR(orthogonal(Linear(3, 2), "weight", "foo"),
               "orthogonal_map has to be one of \"matrix_exp\", \"cayley\", \"householder\". Got: "
               "foo");
  EXPECT_ERROR(orthogonal(PReLU()), "Expected a matrix or batch of matrices. Got a tensor of 1");
  EXPECT_ERROR(remove_parametrizations(Linear(3, 2), "weight"),
               "does not have a parametrization on weight");
  EXPECT_ERROR(remove_parametrizations(weight_norm(Linear(3, 2)), "weight", false),
               "parametrized in terms of a sequence of tensors");
  EXPECT_ERROR(register_parametrization(Linear(3, 2), "weight", std::make_shared<ToDouble>()),
               "may not change the dtype of the tensor");
  EXPECT_ERROR(register_parametrization(Linear(3, 2), "weight", std::make_shared<Symmetric>()),
               "must match");
}

TEST(Parametrize, PrintsItsModules) {
  std::ostringstream stream;
  stream << weight_norm(Linear(3, 2));
  EXPECT_EQ(stream.str(),
            "Linear(in_features=3, out_features=2, bias=true)(\n"
            "  (parametrizations): ModuleDict(\n"
            "    (weight): ParametrizationList(\n"
            "      (0): WeightNorm()\n"
            "    )\n"
            "  )\n"
            ")");
}

}  // namespace
