// The engine: long chains, nested backward passes, threads.
#include <thread>

#include "hearth/custom_function.h"
#include "tests/autograd/support.h"
#include "tests/support/sanitizers.h"

namespace hearth::testing {
namespace {

using autograd::AutogradContext;
using autograd::Function;

constexpr int kLength = kSanitized ? 20'000 : 100'000;

TEST(Engine, RunsLongChains) {
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x;
  for (int i = 0; i < kLength; ++i) y = y + 1;
  y.backward();
  expect_values(x.grad(), {1});
}

TEST(Engine, FreesGradientsWhenTheirNodeHasRun) {
  const int64_t rows = 40, bytes_of_matrix = rows * 1000 * 4;
  const Tensor x = rand({rows, 1000}).requires_grad_();
  Tensor y = x * 1;
  for (int64_t i = 0; i < rows; ++i) y.select(0, i).mul_(2);  // a CopySlices node for each
  const Tensor loss = y.sum();
  reset_peak_memory_stats(kCPU);
  const int64_t before = memory_stats(kCPU).allocated_bytes.current;
  loss.backward();
  const int64_t peak = memory_stats(kCPU).allocated_bytes.peak - before;
  EXPECT_LE(peak, 6 * bytes_of_matrix);
  EXPECT_TRUE(x.grad().eq(2).all().item<bool>());
}

TEST(Engine, LongChainsAreDestroyedWithoutRecursion) {
  Tensor y = leaf({1}, kDouble);
  for (int i = 0; i < kLength; ++i) y = y * y;  // each node saves its input
  y.reset();
}

TEST(Engine, RunsLongChainsOfViews) {
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x * 1;
  for (int i = 0; i < kLength; ++i) y = y.view({1});
  y.backward();
  expect_values(x.grad(), {1});
}

TEST(Engine, RunsLongChainsOfInplaceWrites) {
  const Tensor x = leaf({1, 1}, kDouble);
  Tensor y = x * 1;
  for (int i = 0; i < kLength / 20; ++i) y[0].add_(1);
  y.sum().backward();
  expect_values(x.grad(), {1, 1});
}

TEST(Engine, RunsEachNodeOnce) {
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = (y + y) * 0.5;  // 2^60 paths
  y.backward();
  expect_values(x.grad(), {1});
}

/// A function whose backward runs a nested backward pass, `depth` levels deep.
struct Nested : Function<Nested> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return x * 2;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const int64_t depth = ctx->saved_data["depth"].toInt();
    if (depth == 0) return {grads[0], Tensor()};
    const AutoGradMode on(true);
    const Tensor inner = leaf({1}, kDouble);
    Nested::apply(inner, depth - 1).backward(grads[0].detach());
    return {inner.grad() + 1, Tensor()};
  }
};

TEST(Engine, RunsNestedBackward) {
  const Tensor x = leaf({1}, kDouble);
  Nested::apply(x, 300).backward();
  expect_values(x.grad(), {301});
}

TEST(Engine, PropagatesErrorsFromNestedBackward) {
  struct Failing : Function<Failing> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t depth) {
      ctx->saved_data["depth"] = depth;
      return x * 1;
    }
    static variable_list backward(AutogradContext* ctx, variable_list) {
      const int64_t depth = ctx->saved_data["depth"].toInt();
      HEARTH_CHECK(depth > 0, "the innermost one failed");
      const AutoGradMode on(true);
      Failing::apply(leaf({1}), depth - 1).backward();
      return {};
    }
  };
  EXPECT_ERROR(Failing::apply(leaf({1}), 200).backward(), "the innermost one failed");
  Nested::apply(leaf({1}, kDouble), 3).backward();  // the engine works after the error
}

TEST(Engine, RunsFinalCallbacks) {
  struct Identity : Function<Identity> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x, std::vector<int64_t> numbers) {
      ctx->saved_data["numbers"] = numbers;
      return x * 1;
    }
    static variable_list backward(AutogradContext*, variable_list grads) {
      return {grads[0], Tensor()};
    }
  };
  const Tensor x = leaf({1});
  std::vector<std::string> order;
  const Tensor y = Identity::apply(x, std::vector<int64_t>{1, 2});
  y.register_hook([&](const Tensor&) {
    autograd::queue_callback([&] {
      order.push_back(x.grad().defined() ? "all done" : "too early");
      autograd::queue_callback([&] { order.push_back("queued by a callback"); });
    });
    order.push_back("hook");
  });
  y.backward();
  EXPECT_EQ(order, (std::vector<std::string>{"hook", "all done", "queued by a callback"}));
  EXPECT_ERROR(autograd::queue_callback([] {}),
               "Final callbacks can only be installed during backward pass.");
}

template <class Work>
void on_threads(int count, const Work& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, AccumulateIntoSharedLeaves) {
  const Tensor w = zeros({16}, kDouble).requires_grad_();
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; ++i) (w.exp() * 2).sum().backward();
  });
  expect_values(w.grad(), std::vector<double>(16, 400));
}

TEST(Threads, RunBackwardOnASharedGraph) {
  const Tensor w = zeros({16}, kDouble).requires_grad_();
  const Tensor y = (w.exp() * 2).sum();
  on_threads(4, [&](int) {
    for (int i = 0; i < 25; ++i) y.backward({}, true);
  });
  expect_values(w.grad(), std::vector<double>(16, 200));
}

TEST(Threads, ShareAViewWithAModifiedBase) {
  const Tensor w = leaf({1, 1, 1, 1}, kDouble);
  const Tensor base = w * 1, view = base.slice(0, 2);
  base.mul_(3);
  on_threads(4, [&](int) { (view * 1).sum().backward({}, true); });
  expect_values(w.grad(), {0, 0, 12, 12});
}

TEST(Threads, HaveTheirOwnModes) {
  const NoGradGuard off;
  const autograd::DetectAnomalyGuard anomaly;
  EXPECT_TRUE(autograd::AnomalyMode::is_enabled());
  on_threads(2, [&](int) {
    EXPECT_TRUE(GradMode::is_enabled());
    EXPECT_FALSE(autograd::AnomalyMode::is_enabled());
  });
}

TEST(Threads, HooksRunOnTheCallingThread) {
  const Tensor x = leaf({1});
  std::thread::id id;
  x.register_hook([&](const Tensor&) { id = std::this_thread::get_id(); });
  (x * 1).backward();
  EXPECT_EQ(id, std::this_thread::get_id());
}

}  // namespace
}  // namespace hearth::testing
