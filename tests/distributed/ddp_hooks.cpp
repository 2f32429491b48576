#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "hearth/distributed/ddp_comm_hooks.h"
#include "tests/distributed/ddp_models.h"
#include "tests/support/throws.h"

// Communication hooks of DistributedDataParallel.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
namespace hooks = hearth::distributed::algorithms::ddp_comm_hooks;
using nn::parallel::DistributedDataParallel;

/// The gradients of two steps with a hook, one after another.
Tensor gradients_with(dist::CommHook hook, bool as_view, ScalarType dtype = kDouble) {
  nn::Sequential net = make_mlp();
  net->to(dtype);
  DistributedDataParallel model(
      net, DDPOptions().bucket_cap_mb(0.0005).gradient_as_bucket_view(as_view));
  if (hook) model->register_comm_hook(std::move(hook));
  std::vector<Tensor> steps;
  for (int64_t step = 0; step < 2; ++step) {
    model->zero_grad();
    const Batch part = Batch(step, 12).of_rank(dist::get_rank(), dist::get_world_size());
    mse_loss(model(part.x.to(dtype)), part.y.to(dtype)).backward();
    steps.push_back(flattened(net->parameters(), true));
    REQUIRE(is_equal_on_all_ranks(steps.back()));
  }
  return cat(steps);
}

const RankFunction compression("ddp_compression", [] {
  in_group([](int, int) {
    for (const bool as_view : {false, true}) {
      const Tensor exact = gradients_with(nullptr, as_view);
      const double size = exact.abs().max().item<double>();
      REQUIRE(equal(gradients_with(hooks::allreduce_hook(), as_view), exact));
      const double half = distance(gradients_with(hooks::fp16_compress_hook(), as_view), exact);
      REQUIRE(half > 0 && half < 2e-3 * size);  // float16 has 11 bits of precision
      const double bfloat16 = distance(gradients_with(hooks::bf16_compress_hook(), as_view), exact);
      REQUIRE(bfloat16 > half && bfloat16 < 2e-2 * size);  // bfloat16 has 8 bits
      REQUIRE(
          distance(gradients_with(hooks::fp16_compress_wrapper(hooks::allreduce_hook()), as_view),
                   exact) == half);
      REQUIRE(
          distance(gradients_with(hooks::bf16_compress_wrapper(hooks::allreduce_hook()), as_view),
                   exact) == bfloat16);
    }
  });
});
TEST(CommHooks, HalfPrecision) { run_ranks_well(compression, 2); }

const RankFunction own_hook("ddp_own_hook", [] {
  in_group([](int, int size) {
    const Tensor exact = gradients_with(nullptr, false);
    // Communicates twice: then() of the first all_reduce calls the second one.
    const Tensor twice = gradients_with(
        [size](dist::GradBucket& bucket) {
          const Tensor buffer = bucket.buffer().clone();
          return dist::Future(dist::all_reduce(buffer, dist::ReduceOp::SUM, nullptr, true))
              .then([buffer](const dist::Future& sum) {
                dist::all_reduce(sum.value());
                return sum.value();
              })
              .then(
                  [size](const dist::Future& sum) { return sum.value() / (double(size) * size); });
        },
        true);
    REQUIRE(distance(twice, exact) < 1e-13);
    const auto wrong = [](dist::GradBucket& bucket) {
      return dist::Future(bucket.buffer().narrow(0, 0, 1));
    };
    REQUIRE_ERROR(gradients_with(wrong, false), "a communication hook must return a tensor with");
    DistributedDataParallel model(make_mlp());
    REQUIRE_ERROR(model->register_comm_hook(nullptr), "needs a function");
    model->register_comm_hook(hooks::allreduce_hook());
    REQUIRE_ERROR(model->register_comm_hook(hooks::allreduce_hook()),
                  "register_comm_hook or register_builtin_comm_hook can only be called once.");
  });
});
TEST(CommHooks, OwnHooksMayCommunicateSeveralTimes) { run_ranks_well(own_hook, 3); }

dist::CommHook power_sgd(int64_t rank, bool feedback, double epsilon = 0) {
  return hooks::powerSGD_hook(hooks::make_powerSGD_state(hooks::PowerSGDOptions()
                                                             .matrix_approximation_rank(rank)
                                                             .start_powerSGD_iter(2)
                                                             .min_compression_rate(0.1)
                                                             .orthogonalization_epsilon(epsilon)
                                                             .use_error_feedback(feedback)));
}

/// Gives a parameter of sizes [8, 6] in each step the gradient that `of_step` returns, and collects
/// the hook's results.
template <class F>
std::vector<Tensor> communicated(dist::CommHook hook, int64_t steps, const F& of_step) {
  struct MatrixImpl : nn::Module {
    MatrixImpl() { weight = register_parameter("weight", zeros({8, 6}, kDouble)); }
    Tensor forward(const Tensor& gradient) { return (weight * gradient).sum(); }
    Tensor weight;
  };
  const auto net = std::make_shared<MatrixImpl>();
  DistributedDataParallel model(net);
  model->register_comm_hook(std::move(hook));
  std::vector<Tensor> result;
  for (int64_t step = 0; step < steps; ++step) {
    model->zero_grad();
    model(of_step(step)).backward();
    result.push_back(net->weight.grad().clone());
    REQUIRE(is_equal_on_all_ranks(result.back()));
  }
  return result;
}

const RankFunction compresses_by_power_sgd("ddp_power_sgd", [] {
  in_group([](int rank, int size) {
    const Tensor columns = (arange(8 * 2, kDouble) * 0.7).sin().view({8, 2});
    const auto of_rank = [&](int64_t r) {
      const Tensor rows = (arange(2 * 6, kDouble) * (0.3 + 0.1 * double(r))).cos().view({2, 6});
      return columns.matmul(rows);  // rank 2, like the mean over the processes
    };
    Tensor mean = zeros({8, 6}, kDouble);
    for (int r = 0; r < size; ++r) mean += of_rank(r) / size;
    const auto gradient = [&](int64_t) { return of_rank(rank); };
    // A matrix of rank 2 survives the compression to rank 2.
    for (const double epsilon : {0.0, 1e-12})
      for (const Tensor& got : communicated(power_sgd(2, false, epsilon), 4, gradient))
        REQUIRE(distance(got, mean) < 1e-8);
    // A matrix of rank 1 cannot represent the gradient, but with error feedback the mean over
    // the steps converges to it.
    const std::vector<Tensor> lossy = communicated(power_sgd(1, false), 4, gradient);
    REQUIRE(distance(lossy[1], mean) < 1e-12 && distance(lossy[3], mean) > 1e-2);
    constexpr int64_t kFedSteps = 42;
    const std::vector<Tensor> fed = communicated(power_sgd(1, true), kFedSteps, gradient);
    Tensor sum = zeros({8, 6}, kDouble);
    for (const Tensor& part : fed) sum += part;
    REQUIRE(distance(sum / double(kFedSteps), mean) < 0.1 * distance(lossy[3], mean));
    // Vectors are not compressed.
    REQUIRE(distance(gradients_with(power_sgd(16, false), true), gradients_with(nullptr, true)) <
            1e-12);
    REQUIRE_ERROR(hooks::make_powerSGD_state(hooks::PowerSGDOptions().start_powerSGD_iter(1)),
                  "Expect `start_powerSGD_iter` > 1");
  });
});
/// done() must not wait for a step that runs on another thread.
TEST(Futures, DoneDoesNotWait) {
  std::promise<void> started, go;
  const dist::Future next = dist::Future(ones({1})).then([&](const dist::Future& first) {
    started.set_value();
    go.get_future().wait();
    return first.value() * 2;
  });
  EXPECT_FALSE(next.done());
  std::thread waiter([&] { next.wait(); });
  started.get_future().wait();
  EXPECT_FALSE(next.done());
  go.set_value();
  waiter.join();
  EXPECT_TRUE(next.done());
  EXPECT_EQ(next.value().item<float>(), 2);
}

TEST(Futures, AStepThatFailsRunsOnce) {
  int calls = 0;
  const dist::Future next = dist::Future(ones({1})).then([&](const dist::Future&) -> Tensor {
    ++calls;
    throw Error("the step fails");
  });
  for (int i = 0; i < 2; ++i) EXPECT_ERROR(next.wait(), "the step fails");
  EXPECT_TRUE(next.done());
  EXPECT_EQ(calls, 1);
}

TEST(CommHooks, PowerSGD) { run_ranks_well(compresses_by_power_sgd, 2); }

}  // namespace
}  // namespace hearth::testing
