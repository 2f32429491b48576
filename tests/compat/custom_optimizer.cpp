// Optimizers that programs define with LibTorch's macros.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <deque>
#include <memory>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

namespace {

// The macros of deques name these without their namespace.
using torch::optim::deque_to_list;
using torch::optim::list_to_deque;

struct SignOptions : public torch::optim::OptimizerCloneableOptions<SignOptions> {
  SignOptions(double lr = 0.5) : lr_(lr) {}
  TORCH_ARG(double, lr) = 0.5;
  typedef std::tuple<double, double> betas_t;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.5, 0.75);
  TORCH_ARG(std::optional<int64_t>, limit) = std::nullopt;

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(betas);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(limit);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(betas_t, betas);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(int64_t, limit);
  }
  double get_lr() const override { return lr(); }
  void set_lr(const double lr) override { lr_ = lr; }
};

struct SignParamState : public torch::optim::OptimizerCloneableParamState<SignParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, average);
  TORCH_ARG(torch::Tensor, unused);
  TORCH_ARG(std::deque<torch::Tensor>, history);

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(step);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(average);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(unused);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(history);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, step);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, average);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, unused);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(std::deque<torch::Tensor>, history);
  }
};

/// Moves each parameter by lr against the sign of the gradients' average.
class Sign : public torch::optim::Optimizer {
 public:
  explicit Sign(std::vector<torch::Tensor> params, SignOptions defaults = {})
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(params))},
                  std::make_unique<SignOptions>(defaults)) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    const torch::NoGradGuard no_grad;
    for (auto& group : param_groups_) {
      const auto& options = static_cast<SignOptions&>(group.options());
      for (auto& param : group.params()) {
        auto& slot = state_[param.unsafeGetTensorImpl()];
        if (!slot) {
          slot = std::make_unique<SignParamState>();
          static_cast<SignParamState&>(*slot).average(torch::zeros_like(param));
        }
        auto& state = static_cast<SignParamState&>(*slot);
        state.step(state.step() + 1);
        state.average().mul_(std::get<0>(options.betas())).add_(param.grad());
        state.history().push_back(state.average().clone());
        param.add_(state.average().sign(), -options.lr());
      }
    }
    return closure ? closure() : torch::Tensor();
  }
  void save(torch::serialize::OutputArchive& archive) const override { serialize(*this, archive); }
  void load(torch::serialize::InputArchive& archive) override { serialize(*this, archive); }

 private:
  template <class Self, class Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Sign);
  }
};

torch::Tensor parameter() {
  auto value = torch::tensor({1.0, -1.0}, torch::requires_grad());
  value.mutable_grad() = torch::tensor({2.0, -4.0});
  return value;
}

SignParamState& state_of(torch::optim::Optimizer& optimizer) {
  auto& params = optimizer.param_groups()[0].params();
  return static_cast<SignParamState&>(*optimizer.state()[params[0].unsafeGetTensorImpl()]);
}

TEST(CustomOptimizer, IsSavedAndLoaded) {
  const auto p = parameter(), q = parameter();
  Sign first({p}, SignOptions(0.25).betas(std::make_tuple(0.5, 0.9)).limit(7));
  first.step();
  EXPECT_TRUE(p.equal(torch::tensor({0.75, -0.75})));
  std::stringstream file;
  torch::save(first, file);

  Sign second({q}, SignOptions(0.5));
  torch::load(second, file);
  const auto& options = static_cast<SignOptions&>(second.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.25);
  EXPECT_EQ(std::get<1>(options.betas()), 0.9);
  EXPECT_EQ(options.limit(), 7);
  EXPECT_EQ(state_of(second).step(), 1);
  EXPECT_FALSE(state_of(second).unused().defined());
  ASSERT_EQ(state_of(second).history().size(), 1U);
  EXPECT_TRUE(state_of(second).history()[0].equal(torch::tensor({2.0, -4.0})));
  second.step();
  EXPECT_EQ(state_of(second).step(), 2);
  EXPECT_TRUE(state_of(second).average().equal(torch::tensor({3.0, -6.0})));
}

}  // namespace
