// Saved tensors: pack and unpack hooks, lifetime, versions.
#include <cmath>
#include <thread>

#include "tests/autograd/support.h"

#include "core/modes.h"
#include "hearth/autograd_hooks.h"
#include "hearth/custom_function.h"

namespace hearth::testing {
namespace {

using autograd::SavedTensorHooks;

/// Hooks that save tensors as float64 and count their calls.
struct Counter {
  int packed = 0, unpacked = 0;
  SavedTensorHooks::Pack pack() {
    return [this](const Tensor& t) -> std::any {
      ++packed;
      EXPECT_FALSE(t.requires_grad());
      return t.to(kDouble);
    };
  }
  SavedTensorHooks::Unpack unpack() {
    return [this](const std::any& value) {
      ++unpacked;
      return std::any_cast<Tensor>(value).to(kFloat);
    };
  }
};

TEST(SavedTensorHooks, RunOnSaveAndBackward) {
  Counter counter;
  const Tensor x = leaf({1, 2});
  Tensor y;
  {
    const SavedTensorHooks hooks(counter.pack(), counter.unpack());
    y = (x * x * 1).exp();  // the number is not saved as a tensor
  }
  EXPECT_EQ(counter.packed, 3);
  EXPECT_EQ(counter.unpacked, 0);
  y.sum().backward();
  EXPECT_EQ(counter.unpacked, 3);
  expect_values(x.grad(), {2 * std::exp(1.0), 4 * std::exp(4.0)}, 1e-3);
  (x * x).sum().backward();  // outside the guard
  EXPECT_EQ(counter.packed, 3);
  EXPECT_EQ(counter.unpacked, 3);
}

TEST(SavedTensorHooks, SupportHigherOrders) {
  Counter counter;
  const Tensor x = leaf({2});
  const SavedTensorHooks hooks(counter.pack(), counter.unpack());
  const Tensor y = x * 1;
  const Tensor z = (y * y * y).exp();
  const Tensor g = autograd::grad({z}, {x}, {}, {}, true)[0];
  // d2/dx2 exp(x^3) = (6x + 9x^4) exp(x^3)
  expect_values(autograd::grad({g}, {x})[0], {(12 + 144) * std::exp(8.0)}, 1);
}

TEST(SavedTensorHooks, InnermostGuardApplies) {
  Counter outer, inner;
  const Tensor x = leaf({1});
  const SavedTensorHooks a(outer.pack(), outer.unpack());
  {
    const SavedTensorHooks b(inner.pack(), inner.unpack());
    x.exp();
  }
  x.exp();
  EXPECT_EQ(outer.packed, 1);
  EXPECT_EQ(inner.packed, 1);
}

TEST(SavedTensorHooks, MustNotModifyTheirInput) {
  const Tensor x = leaf({1});
  const SavedTensorHooks hooks(
      [](const Tensor& t) -> std::any {
        t.add_(1);
        return t;
      },
      [](const std::any& value) { return std::any_cast<Tensor>(value); });
  EXPECT_ERROR(x.exp(), "A saved tensor pack hook is modifying its input in place.");
}

TEST(SavedTensorHooks, MustUnpackATensor) {
  const auto backward_with = [](const Tensor& unpacked, const auto& op) {
    const Tensor x = leaf({1, 2, 3, 4, 5, 6}).detach().view({3, 2}).requires_grad_();
    const SavedTensorHooks hooks([](const Tensor& t) -> std::any { return t; },
                                 [=](const std::any&) { return unpacked; });
    op(x).sum().backward();
  };
  const auto square = [](const Tensor& x) { return x * x; };
  EXPECT_ERROR(backward_with({}, square),
               "Output of saved tensor unpack_hook expected to be a Tensor but got");
  EXPECT_ERROR(backward_with(ones({7}), square), "must match the size of tensor b");
  backward_with(ones({3, 2}, kDouble), square);  // accepted, as in PyTorch
  const auto normed = [](const Tensor& x) {
    return batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);
  };
  EXPECT_ERROR(backward_with(ones({7}), normed), "expected a gradient like the input");
  EXPECT_ERROR(backward_with(ones({3, 2}), normed), "save_mean should contain 2 elements");
}

TEST(SavedTensorHooks, ArePartOfThreadModes) {
  Counter counter;
  const Tensor x = leaf({1});
  const SavedTensorHooks hooks(counter.pack(), counter.unpack());
  const Modes snapshot = modes;
  std::thread([&] {
    x.exp();
    const ModesGuard guard(snapshot);
    x.exp();
  }).join();
  EXPECT_EQ(counter.packed, 1);
}

/// A tensor that sets `freed` when its memory is freed.
Tensor watched(bool* freed) {
  auto* data = new float[2]{1, 2};
  return from_blob(data, {2}, [freed](void* memory) {
    delete[] static_cast<float*>(memory);
    *freed = true;
  });
}

TEST(SavedTensors, AreFreedByBackward) {
  bool freed = false;
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * watched(&freed)).sum();
  EXPECT_FALSE(freed);
  y.backward();
  EXPECT_TRUE(freed);
}

TEST(SavedTensors, AreKeptByRetainGraph) {
  bool freed = false;
  const Tensor x = leaf({1, 2});
  Tensor y = (x * watched(&freed)).sum();
  y.backward({}, true);
  EXPECT_FALSE(freed);
  y.reset();
  EXPECT_TRUE(freed);
}

TEST(SavedTensors, AreFreedWhenBackwardThrows) {
  bool freed = false;
  const Tensor x = leaf({1, 2});
  const Tensor product = x * watched(&freed);
  const Tensor y = product.sum();
  product.register_hook([](const Tensor&) { throw Error("on purpose"); });
  EXPECT_ERROR(y.backward(), "on purpose");
  EXPECT_TRUE(freed);
}

TEST(SavedTensors, OfCustomFunctionsAreFreed) {
  struct Scale : autograd::Function<Scale> {
    static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Tensor& w) {
      ctx->save_for_backward({w});
      return x * w;
    }
    static variable_list backward(autograd::AutogradContext* ctx, variable_list grads) {
      return {grads[0] * ctx->get_saved_variables()[0], Tensor()};
    }
  };
  bool freed = false;
  const Tensor x = leaf({1, 2});
  const Tensor y = Scale::apply(x, watched(&freed)).sum();
  EXPECT_FALSE(freed);
  y.backward();
  EXPECT_TRUE(freed);
  expect_values(x.grad(), {1, 2});
}

constexpr const char* kOverwritten = "has been modified by an inplace operation";

TEST(SavedTensors, HaveTheVersionFromBeforeTheOp) {
  const Tensor w = leaf({3, 4});
  const Tensor x = w * 1;
  x.mul_(x.detach());
  EXPECT_ERROR(x.sum().backward(), kOverwritten);
  const Tensor y = w * 1;
  y.mul_(y.view({2}));
  EXPECT_ERROR(y.sum().backward(), kOverwritten);
  const Tensor base = w * 1, first = base.select(0, 0), second = base.select(0, 1);
  first.mul_(second);
  EXPECT_ERROR(base.sum().backward(), kOverwritten);
}

TEST(SavedTensors, OverwrittenInputsKeepTheirHistory) {
  const Tensor w = leaf({3}), y = leaf({5});
  const Tensor x = w * 2;
  x.mul_(y);  // d/dy = 2w, d2/dy dw = 2
  const auto by_y = autograd::grad({x.sum()}, {y}, {}, true, true);
  expect_values(by_y[0], {6});
  expect_values(autograd::grad({by_y[0].sum()}, {w})[0], {2});
}

TEST(SavedTensors, KeepTheirHistoryAfterDetach) {
  const Tensor w = leaf({1});
  const Tensor x = w * 2;
  const Tensor y = x * x * x;  // 8 w^3
  x.detach_();
  const auto first = autograd::grad({y.sum()}, {w}, {}, true, true);
  expect_values(first[0], {24});
  expect_values(autograd::grad({first[0].sum()}, {w})[0], {48});
}

/// Whether a tensor is freed after `record` built a graph with it, without a backward pass.
bool is_freed(const std::function<void(const Tensor&)>& record) {
  static float values[2];
  bool freed = false;
  record(from_blob(values, {2}, [&freed](void*) { freed = true; }));
  return freed;
}

TEST(SavedTensors, DoNotFormCycles) {
  const Tensor w = leaf({2});
  EXPECT_TRUE(is_freed([&](const Tensor& c) {
    const Tensor v1 = c.select(0, 0), v2 = c.select(0, 1);
    v1.mul_(w[0]);
    v1.mul_(v2);
  }));
  EXPECT_TRUE(is_freed([&](const Tensor& c) {
    const Tensor y = c * w;
    c.add_(y);
  }));
}

TEST(SavedTensors, AsStridedViewsAreRelativeToTheStorage) {
  const Tensor w = leaf({2, 3}), x = arange(5, kFloat);
  const Tensor base = x.slice(0, 2, 4).detach();
  base.mul_(w);
  base.as_strided({1}, {1}, 3).mul_(2);  // element 3 of the storage is element 1 of the base
  base.sum().backward();
  expect_values(w.grad(), {2, 6});
  const Tensor m = leaf({1, 2, 3, 4}).detach().reshape({2, 2}).requires_grad_();
  m.t().as_strided({2}, {1}, 0).sum().backward();
  expect_values(m.grad().reshape({-1}), {1, 1, 0, 0});
}

TEST(SavedTensors, OutputsOfMultiViewOpsCannotBeModified) {
  const Tensor w = leaf({1, 2, 3, 4});
  const Tensor x = w * 2;
  EXPECT_ERROR(x.split(2)[0].mul_(2),
               "Output 0 of SplitBackward0 is a view and is being modified inplace. This "
               "view is the output of a function that returns multiple views.");
  EXPECT_ERROR(x.unbind()[3].zero_(), "Output 3 of UnbindBackward0 is a view");
  const auto halves = x.split(2);
  (halves[1] * halves[1]).sum().backward();
  expect_values(w.grad(), {0, 0, 24, 32});
}

TEST(SavedTensors, SupportLongLists) {
  std::vector<Tensor> pieces;
  for (int i = 0; i < 70; ++i) pieces.push_back(leaf({float(i)}));
  cat(pieces).mul(arange(70, kFloat)).sum().backward();
  for (int i = 0; i < 70; ++i) expect_values(pieces[size_t(i)].grad(), {float(i)});
}

}  // namespace
}  // namespace hearth::testing
