// Averaged models, batch norm statistics, SWALR's errors.
#include "hearth/optim/swa_utils.h"

#include <gtest/gtest.h>

#include "tests/optim/support.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace optim;
using namespace optim::swa_utils;

/// One parameter, one buffer.
struct PointImpl : nn::Cloneable<PointImpl> {
  PointImpl() { PointImpl::reset(); }
  void reset() override {
    weight = register_parameter("weight", zeros({3}, kDouble));
    seen = register_buffer("seen", zeros({1}, kDouble));
  }
  Tensor forward(const Tensor& x) { return x * weight; }
  void set(double value) {
    const NoGradGuard no_grad;
    weight.fill_(value);
    seen.fill_(10 * value);
  }
  Tensor weight, seen;
};
HEARTH_MODULE(Point);

/// The average and the buffer of models with the weights 1, 4 and 10.
std::vector<double> averages(const AveragedModelOptions& options, Device device = kCPU) {
  Point model;
  model->to(device);
  AveragedModel average(model, options);
  for (const double value : {1, 4, 10}) {
    model->set(value);
    average.update_parameters(model);
  }
  EXPECT_EQ(average.n_averaged.item<int64_t>(), 3);
  EXPECT_FALSE(average.module()->weight.is_same(model->weight));
  return {average.module()->weight[1].item<double>(), average.module()->seen.item<double>()};
}

using Pair = std::vector<double>;

TEST(AveragedModel, AveragesParametersAndCopiesBuffers) {
  for (const Device device : devices()) {
    EXPECT_EQ(averages({}, device), (Pair{5, 100}));
    EXPECT_EQ(averages(AveragedModelOptions().avg_fn(get_swa_avg_fn()), device), (Pair{5, 100}));
    const Pair ema =
        averages(AveragedModelOptions().multi_avg_fn(get_ema_multi_avg_fn(0.75)), device);
    EXPECT_NEAR(ema[0], 0.75 * (0.75 * 1 + 0.25 * 4) + 0.25 * 10, 1e-12);
    EXPECT_EQ(averages(AveragedModelOptions().avg_fn(get_ema_avg_fn(0.75)), device), ema);
  }
  EXPECT_EQ(averages(AveragedModelOptions().use_buffers(true)), (Pair{5, 50}));
  EXPECT_EQ(averages(AveragedModelOptions().device(devices().back())), (Pair{5, 100}));
}

TEST(AveragedModel, HasPythonsNamesAndForwards) {
  Point model;
  model->set(2);
  AveragedModel average(model);
  EXPECT_EQ(average.forward(ones({3}, kDouble)).sum().item<double>(), 6);
  const auto state = average.state_dict();
  ASSERT_EQ(state.size(), 3u);
  EXPECT_TRUE(state.contains("module.weight"));
  EXPECT_TRUE(state.contains("module.seen"));
  EXPECT_TRUE(state.contains("n_averaged"));
}

TEST(AveragedModel, RejectsInvalidArguments) {
  Point model;
  EXPECT_ERROR(get_ema_avg_fn(1.5), "Invalid decay value 1.5 provided. Please provide a value in");
  EXPECT_ERROR(get_ema_multi_avg_fn(-0.5), "Invalid decay value -0.5");
  EXPECT_ERROR(
      AveragedModel(
          model,
          AveragedModelOptions().avg_fn(get_swa_avg_fn()).multi_avg_fn(get_swa_multi_avg_fn())),
      "Only one of avg_fn and multi_avg_fn should be provided");
  AveragedModel average(model);
  EXPECT_ERROR(average.update_parameters(*nn::Linear(2, 2)), "but the model has 2");
}

TEST(UpdateBn, ComputesTheMeanOverAllBatches) {
  for (const Device device : devices()) {
    nn::Sequential model(nn::BatchNorm1d(nn::BatchNorm1dOptions(2).momentum(0.3)),
                         nn::Linear(2, 1));
    model->to(device);
    model->eval();
    const std::vector<data::Example<>> batches{{full({4, 2}, 1.0), Tensor()},
                                               {full({4, 2}, 4.0), Tensor()}};
    update_bn(batches, model, device);
    const auto norm = model->ptr<nn::BatchNorm1dImpl>(0);
    EXPECT_EQ(norm->running_mean[1].item<float>(), 2.5F);
    EXPECT_EQ(norm->running_var[0].item<float>(), 0);
    EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 2);
    EXPECT_EQ(norm->options.momentum(), 0.3);
    EXPECT_FALSE(model->is_training());
    EXPECT_FALSE(norm->is_training());
  }
}

TEST(UpdateBn, TakesTensorsAndListsOfTensors) {
  nn::BatchNorm1d norm(2);
  update_bn(Tensors{full({4, 2}, 1.0), full({4, 2}, 2.0)}, norm);
  EXPECT_EQ(norm->running_mean[0].item<float>(), 1.5F);
  update_bn(std::vector<Tensors>{{full({4, 2}, 3.0), Tensor()}}, norm);
  EXPECT_EQ(norm->running_mean[0].item<float>(), 3);
  EXPECT_TRUE(norm->is_training());
}

TEST(Swalr, RejectsInvalidArguments) {
  SGD sgd({leaf({1}, {})}, SGDOptions(0.1));
  EXPECT_ERROR(SWALR(sgd, 0.05, 10, "cosine"),
               "anneal_strategy must be one of 'cos' or 'linear', instead got cosine");
  EXPECT_ERROR(SWALR(sgd, 0.05, -1), "anneal_epochs must be equal or greater than 0, got -1");
  EXPECT_ERROR(SWALR(sgd, PerGroup{0.1, 0.2}),
               "swa_lr must have the same length as optimizer.param_groups. swa_lr has 2 values, "
               "param_groups has 1.");
}

}  // namespace
}  // namespace hearth::testing
