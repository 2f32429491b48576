// Long chains, backward inside backward, many threads.
#include <thread>

#include "hearth/custom_function.h"
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

using autograd::AutogradContext;
using autograd::Function;

constexpr int kMany = 100'000;

TEST(Engine, LongChains) {
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x;
  for (int i = 0; i < kMany; ++i) y = y + 1;
  y.backward();
  expect_values(x.grad(), {1});
}

TEST(Engine, LongChainsAreDestroyedWithoutRecursion) {
  Tensor y = leaf({1}, kDouble);
  for (int i = 0; i < kMany; ++i) y = y * y;  // each keeps its input
  y.reset();
}

TEST(Engine, LongChainsOfViews) {
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x * 1;
  for (int i = 0; i < kMany; ++i) y = y.view({1});
  y.backward();
  expect_values(x.grad(), {1});
}

TEST(Engine, LongChainsOfWrites) {
  const Tensor x = leaf({1, 1}, kDouble);
  Tensor y = x * 1;
  for (int i = 0; i < kMany / 20; ++i) y[0].add_(1);
  y.sum().backward();
  expect_values(x.grad(), {1, 1});
}

TEST(Engine, DiamondsAreVisitedOnce) {
  const Tensor x = leaf({1}, kDouble);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = (y + y) * 0.5;  // 2^60 paths
  y.backward();
  expect_values(x.grad(), {1});
}

/// Its backward runs a backward through itself, `depth` times nested.
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

TEST(Engine, BackwardInsideBackward) {
  const Tensor x = leaf({1}, kDouble);
  Nested::apply(x, 300).backward();
  expect_values(x.grad(), {301});
}

TEST(Engine, ErrorsComeThroughDeepNesting) {
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
  Nested::apply(leaf({1}, kDouble), 3).backward();  // nothing is left behind
}

TEST(Engine, CallbacksRunAtTheEnd) {
  struct Queues : Function<Queues> {
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
  const Tensor y = Queues::apply(x, std::vector<int64_t>{1, 2});
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

TEST(Threads, ShareLeaves) {
  const Tensor w = zeros({16}, kDouble).requires_grad_();
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; ++i) (w.exp() * 2).sum().backward();
  });
  expect_values(w.grad(), std::vector<double>(16, 400));
}

TEST(Threads, ShareAGraph) {
  const Tensor w = zeros({16}, kDouble).requires_grad_();
  const Tensor y = (w.exp() * 2).sum();
  on_threads(4, [&](int) {
    for (int i = 0; i < 25; ++i) y.backward({}, true);
  });
  expect_values(w.grad(), std::vector<double>(16, 200));
}

TEST(Threads, ShareAViewWhoseBaseWasWrittenTo) {
  const Tensor w = leaf({1, 1, 1, 1}, kDouble);
  const Tensor base = w * 1, view = base.slice(0, 2);
  base.mul_(3);
  on_threads(4, [&](int) { (view * 1).sum().backward({}, true); });
  expect_values(w.grad(), {0, 0, 12, 12});
}

TEST(Threads, HaveModesOfTheirOwn) {
  const NoGradGuard off;
  on_threads(2, [&](int) {
    EXPECT_TRUE(GradMode::is_enabled());
    EXPECT_FALSE(autograd::AnomalyMode::is_enabled());
  });
}

TEST(Threads, HooksRunOnTheCallersThread) {
  const Tensor x = leaf({1});
  std::thread::id id;
  x.register_hook([&](const Tensor&) { id = std::this_thread::get_id(); });
  (x * 1).backward();
  EXPECT_EQ(id, std::this_thread::get_id());
}

}  // namespace
}  // namespace hearth::testing
