// What nodes keep: hooks on it, and when it goes.
#include <cmath>

#include "tests/autograd/support.h"

#include "hearth/autograd_hooks.h"
#include "hearth/custom_function.h"

namespace hearth::testing {
namespace {

using autograd::SavedTensorHooks;

struct Counter {
  int packed = 0, unpacked = 0;
  SavedTensorHooks::Pack pack() {
    return [this](const Tensor& t) -> std::any {
      ++packed;
      EXPECT_FALSE(t.requires_grad());
      return t.to(kDouble);  // kept in another form
    };
  }
  SavedTensorHooks::Unpack unpack() {
    return [this](const std::any& value) {
      ++unpacked;
      return std::any_cast<Tensor>(value).to(kFloat);
    };
  }
};

TEST(SavedTensorHooks, PackAndUnpack) {
  Counter counter;
  const Tensor x = leaf({1, 2});
  Tensor y;
  {
    const SavedTensorHooks hooks(counter.pack(), counter.unpack());
    y = (x * x).exp();
  }
  EXPECT_EQ(counter.packed, 3);
  EXPECT_EQ(counter.unpacked, 0);
  y.sum().backward();
  EXPECT_EQ(counter.unpacked, 3);
  expect_values(x.grad(), {2 * std::exp(1.0), 4 * std::exp(4.0)}, 1e-3);
  EXPECT_FALSE((x * 2).grad_fn() == nullptr);
  EXPECT_EQ(counter.packed, 3);  // the guard is gone
}

TEST(SavedTensorHooks, KeepTheGraphForHigherOrders) {
  Counter counter;
  const Tensor x = leaf({2});
  const SavedTensorHooks hooks(counter.pack(), counter.unpack());
  const Tensor y = x * 1;
  const Tensor z = (y * y * y).exp();
  const Tensor g = autograd::grad({z}, {x}, {}, {}, true)[0];
  // d2/dx2 exp(x^3) = (6x + 9x^4) exp(x^3)
  expect_values(autograd::grad({g}, {x})[0], {(12 + 144) * std::exp(8.0)}, 1);
}

TEST(SavedTensorHooks, InnerGuardsWin) {
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

TEST(SavedTensorHooks, MayNotModify) {
  const Tensor x = leaf({1});
  const SavedTensorHooks hooks(
      [](const Tensor& t) -> std::any {
        t.add_(1);
        return t;
      },
      [](const std::any& value) { return std::any_cast<Tensor>(value); });
  EXPECT_THROWS_WITH(x.exp(), "A saved tensor pack hook is modifying its input in place.");
}

/// A tensor whose memory tells when it goes.
Tensor watched(bool* gone) {
  auto* data = new float[2]{1, 2};
  return from_blob(data, {2}, [gone](void* memory) {
    delete[] static_cast<float*>(memory);
    *gone = true;
  });
}

TEST(SavedTensors, GoWithTheBackward) {
  bool gone = false;
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * watched(&gone)).sum();
  EXPECT_FALSE(gone);
  y.backward();
  EXPECT_TRUE(gone);
}

TEST(SavedTensors, StayWithRetainGraph) {
  bool gone = false;
  const Tensor x = leaf({1, 2});
  Tensor y = (x * watched(&gone)).sum();
  y.backward({}, true);
  EXPECT_FALSE(gone);
  y.reset();
  EXPECT_TRUE(gone);
}

TEST(SavedTensors, GoAlsoWhenTheBackwardThrows) {
  bool gone = false;
  const Tensor x = leaf({1, 2});
  const Tensor product = x * watched(&gone);
  const Tensor y = product.sum();
  product.register_hook([](const Tensor&) { throw Error("on purpose"); });
  EXPECT_THROWS_WITH(y.backward(), "on purpose");
  EXPECT_TRUE(gone);
}

TEST(SavedTensors, OfACustomFunctionGoToo) {
  struct Scale : autograd::Function<Scale> {
    static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Tensor& w) {
      ctx->save_for_backward({w});
      return x * w;
    }
    static variable_list backward(autograd::AutogradContext* ctx, variable_list grads) {
      return {grads[0] * ctx->get_saved_variables()[0], Tensor()};
    }
  };
  bool gone = false;
  const Tensor x = leaf({1, 2});
  const Tensor y = Scale::apply(x, watched(&gone)).sum();
  EXPECT_FALSE(gone);
  y.backward();
  EXPECT_TRUE(gone);
  expect_values(x.grad(), {1, 2});
}

}  // namespace
}  // namespace hearth::testing
