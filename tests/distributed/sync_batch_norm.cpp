#include <gtest/gtest.h>

#include <sstream>

#include "hearth/nn/sync_batch_norm.h"
#include "tests/distributed/ddp_models.h"
#include "tests/support/throws.h"

// SyncBatchNorm against BatchNorm in one process that has all rows.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;

/// The rows of a rank: rank r has r + 1 rows.
Tensor rows_of_rank(const Tensor& whole, int rank) {
  return whole.narrow(0, int64_t(rank) * (rank + 1) / 2, rank + 1);
}

/// Two training steps and one in evaluation mode; returns the outputs, and the inputs' gradients.
template <class Norm>
std::vector<Tensor> run_norm(Norm& norm, const Tensor& whole, int rank) {
  const auto part = [&](const Tensor& t) { return rank < 0 ? t : rows_of_rank(t, rank); };
  std::vector<Tensor> results;
  for (int step = 0; step < 2; ++step) {
    const Tensor x = part(whole * (1 + step)).clone().requires_grad_();
    const Tensor y = norm(x);
    (y * part(whole.cos())).sum().backward();
    results.push_back(y.detach());
    results.push_back(x.grad());
  }
  norm->eval();
  results.push_back(norm(part(whole)).detach());
  return results;
}

const RankFunction synchronized("sync_batch_norm", [] {
  in_group([](int rank, int size) {
    const int64_t rows = int64_t(size) * (size + 1) / 2;
    for (const ScalarType dtype : {kDouble, kFloat, kBFloat16}) {
      const double tolerance = dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-5 : 0.1;
      const Tensor whole = (arange(rows * 3 * 4, kDouble) * 0.7).sin().view({rows, 3, 4}).to(dtype);
      for (const auto momentum : {std::optional<double>(0.3), std::optional<double>()}) {
        const auto options = nn::BatchNormOptions(3).momentum(momentum);
        nn::BatchNorm1d alone(options), converted(options);
        nn::SyncBatchNorm norm(options);
        for (nn::Module* m : std::vector<nn::Module*>{&*alone, &*converted, &*norm})
          if (dtype == kDouble) m->to(kDouble);
        nn::SyncBatchNorm::convert_sync_batchnorm(converted);
        const std::vector<Tensor> expected = run_norm(alone, whole, -1);
        const auto compare = [&](auto& mine) {
          const std::vector<Tensor> got = run_norm(mine, whole, rank);
          for (size_t i = 0; i < got.size(); ++i) {
            REQUIRE(got[i].scalar_type() == dtype);
            REQUIRE(distance(got[i], rows_of_rank(expected[i], rank)) < tolerance);
          }
          REQUIRE(distance(mine->running_mean, alone->running_mean) < tolerance);
          REQUIRE(distance(mine->running_var, alone->running_var) < tolerance);
          REQUIRE(mine->num_batches_tracked.template item<int>() == 2);
          // The gradients of the parameters are this rank's part of the sum.
          Tensor weight = mine->weight.grad().clone(), bias = mine->bias.grad().clone();
          dist::all_reduce(weight);
          dist::all_reduce(bias);
          REQUIRE(distance(weight, alone->weight.grad()) < 10 * tolerance);
          REQUIRE(distance(bias, alone->bias.grad()) < 10 * tolerance);
        };
        compare(norm);
        compare(converted);
      }
    }
  });
});
TEST(SyncBatchNorm, HasTheStatisticsOfAllRanks) {
  for (const int size : {2, 3}) run_ranks_well(synchronized, size);
}

const RankFunction in_ddp("sync_batch_norm_in_ddp", [] {
  in_group([](int rank, int size) {
    const auto make = [] {
      manual_seed(3);
      nn::Sequential net(nn::Linear(6, 5), nn::BatchNorm1d(5), nn::Tanh(), nn::Linear(5, 3));
      net->to(kDouble);
      return net;
    };
    nn::Sequential alone = make();
    nn::Sequential net = nn::SyncBatchNorm::convert_sync_batchnorm(make());
    REQUIRE(net->named_parameters().contains("1.weight"));
    std::ostringstream text;
    text << *net;
    REQUIRE(text.str().find("(1): SyncBatchNorm(5, eps=1e-05") != std::string::npos);
    nn::parallel::DistributedDataParallel model(net);
    for (int64_t step = 0; step < 3; ++step) {
      const Batch whole(step, 12), part = whole.of_rank(rank, size);
      model->zero_grad();
      alone->zero_grad();
      mse_loss(alone->forward(whole.x), whole.y).backward();
      mse_loss(model(part.x), part.y).backward();
      REQUIRE(distance(flattened(net->parameters(), true), flattened(alone->parameters(), true)) <
              1e-12);
    }
    REQUIRE(distance(net->named_buffers()["1.running_var"],
                     alone->named_buffers()["1.running_var"]) < 1e-13);
  });
});
TEST(SyncBatchNorm, InDistributedDataParallelEqualsTheWholeBatch) { run_ranks_well(in_ddp, 2); }

const RankFunction empty_batch("sync_batch_norm_empty", [] {
  in_group([](int rank, int) {
    nn::SyncBatchNorm norm(nn::BatchNormOptions(2));
    const Tensor x = (rank == 0 ? arange(8, kFloat).view({4, 2}) : zeros({0, 2})).requires_grad_();
    const Tensor y = norm(x);
    REQUIRE(y.sizes().equals(x.sizes()));
    y.square().sum().backward();
    REQUIRE(allclose(norm->running_mean, tensor({0.3f, 0.4f})));
    REQUIRE_ERROR(norm(rank == 0 ? ones({1, 2}) : ones({0, 2})),
                  "Expected more than 1 value per channel when training, got input size [");
    REQUIRE_ERROR(norm(ones({2})), "expected at least 2D input (got 1D input)");
    REQUIRE_ERROR(norm(x).square().sum().backward({}, true, true), "no second derivative");
  });
});
TEST(SyncBatchNorm, AcceptsARankWithoutRowsAndRefusesWrongInputs) {
  run_ranks_well(empty_batch, 2);
}

const RankFunction no_channels("sync_batch_norm_no_channels", [] {
  in_group([](int rank, int) {
    const Tensor x = zeros({2 + rank, 0, 3}).requires_grad_();
    const Tensor y = nn::functional::sync_batch_norm(
        x, {}, {}, nn::functional::BatchNormFuncOptions().training(true));
    REQUIRE(y.sizes().equals(x.sizes()));
    y.sum().backward();
    REQUIRE(x.grad().sizes().equals(x.sizes()));
  });
});
TEST(SyncBatchNorm, AcceptsInputsWithoutChannels) { run_ranks_well(no_channels, 2); }

TEST(SyncBatchNorm, IsBatchNormWithoutAGroup) {
  nn::SyncBatchNorm norm(nn::BatchNormOptions(3));
  nn::BatchNorm1d expected(3);
  const Tensor x = randn({5, 3});
  EXPECT_TRUE(equal(norm(x), expected(x)));
  std::ostringstream text;
  text << norm;
  EXPECT_EQ(text.str().find("SyncBatchNorm(3, eps=1e-05, momentum=0.1"), 0u) << text.str();
}

}  // namespace
}  // namespace hearth::testing
