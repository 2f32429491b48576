#include "hearth/custom_function.h"

#include "hearth/dispatch_key.h"
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

using autograd::AutogradContext;
using autograd::Function;

struct MulBy : Function<MulBy> {
  static Tensor forward(AutogradContext* ctx, const Tensor& a, double factor, const Tensor& b) {
    ctx->saved_data["factor"] = factor;
    ctx->save_for_backward({a, b});
    return a + b * factor + a * b;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const double factor = ctx->saved_data["factor"].toDouble();
    const variable_list saved = ctx->get_saved_variables();
    return {grads[0] + grads[0] * saved[1], Tensor(), grads[0] * factor + grads[0] * saved[0]};
  }
};

TEST(CustomFunction, RunsForwardAndBackward) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  const Tensor result = MulBy::apply(x, 2, y);
  expect_values(result, {10, 18});
  EXPECT_EQ(result.grad_fn()->name(),
            "torch::autograd::CppNode<torch::testing::(anonymous namespace)::MulBy>");
  result.sum().backward();
  expect_values(x.grad(), {4, 5});
  expect_values(y.grad(), {3, 4});
}

TEST(CustomFunction, IsDifferentiableTwice) {
  const Tensor x = leaf({1}, kDouble), y = leaf({3}, kDouble);
  const Tensor g = autograd::grad({MulBy::apply(x, 2, y).sum()}, {x}, {}, {}, true)[0];
  expect_values(autograd::grad({g.sum()}, {y})[0], {1});
}

TEST(CustomFunction, SecondBackwardNeedsRetainGraph) {
  const Tensor x = leaf({1});
  const Tensor y = MulBy::apply(x, 1, x);
  y.backward({}, true);
  y.backward();
  EXPECT_ERROR(y.backward(), "Trying to backward through the graph a second time");
}

TEST(CustomFunction, RecordsNothingWithoutGradients) {
  EXPECT_FALSE(MulBy::apply(vec({1}), 2, vec({1})).requires_grad());
  const NoGradGuard off;
  EXPECT_FALSE(MulBy::apply(leaf({1}), 2, vec({1})).requires_grad());
}

TEST(CustomFunction, SupportsLocalStructsAndTensorLists) {
  struct Sum : Function<Sum> {
    static variable_list forward(AutogradContext* ctx, TensorList list, const variable_list& more,
                                 std::optional<Tensor> maybe, const std::string& note) {
      ctx->saved_data["note"] = note;
      ctx->saved_data["count"] = int64_t(list.size());
      ctx->saved_data["flag"] = true;
      ctx->saved_data["kept"] = list[0];
      Tensor sum = more[0] * 2;
      for (const Tensor& t : list) sum = sum + t;
      return {sum, maybe ? *maybe * 3 : Tensor()};
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      EXPECT_EQ(ctx->saved_data["note"].toStringRef(), "hello");
      EXPECT_EQ(ctx->saved_data["count"].toInt(), 2);
      EXPECT_TRUE(ctx->saved_data["flag"].toBool());
      expect_values(ctx->saved_data["kept"].toTensor(), {1});
      EXPECT_ERROR(ctx->saved_data["count"].toDouble(), "Expected Double but got Int");
      return {grads[0], grads[0], grads[0] * 2, grads[1] * 3, Tensor()};
    }
  };
  const Tensor a = leaf({1}), b = leaf({2}), c = leaf({3}), d = leaf({4});
  const std::vector<Tensor> list{a, b};
  const variable_list out = Sum::apply(TensorList(list), variable_list{c}, std::optional<Tensor>(d),
                                       std::string("hello"));
  (out[0] + out[1] * 5).backward();
  expect_values(a.grad(), {1});
  expect_values(b.grad(), {1});
  expect_values(c.grad(), {2});
  expect_values(d.grad(), {15});
}

TEST(CustomFunction, MaterializesUndefinedGradientsByDefault) {
  struct Two : Function<Two> {
    static variable_list forward(AutogradContext* ctx, const Tensor& x, bool materialize) {
      ctx->set_materialize_grads(materialize);
      ctx->saved_data["materialize"] = materialize;
      return {x * 2, x * 3};
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      EXPECT_EQ(grads[1].defined(), ctx->saved_data["materialize"].toBool());
      if (grads[1].defined()) expect_values(grads[1], {0, 0});
      return {grads[0] * 2, Tensor()};
    }
  };
  for (bool materialize : {true, false}) {
    const Tensor x = leaf({1, 1});
    Two::apply(x, materialize)[0].sum().backward();
    expect_values(x.grad(), {2, 2});
  }
}

TEST(CustomFunction, SupportsNonDifferentiableOutputs) {
  struct ThreeOutputs : Function<ThreeOutputs> {
    static variable_list forward(AutogradContext* ctx, const Tensor& x) {
      const Tensor marked = x * 2;
      ctx->mark_non_differentiable({marked});
      return {x * 3, marked, x.to(kLong)};
    }
    static variable_list backward(AutogradContext*, variable_list grads) {
      EXPECT_EQ(grads.size(), 3u);
      return {grads[0] * 3};
    }
  };
  const Tensor x = leaf({1, 2});
  const variable_list out = ThreeOutputs::apply(x);
  EXPECT_TRUE(out[0].requires_grad());
  EXPECT_FALSE(out[1].requires_grad());
  EXPECT_FALSE(out[2].requires_grad());
  out[0].sum().backward();
  expect_values(x.grad(), {3, 3});
}

struct AddOneInPlace : Function<AddOneInPlace> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    x.add_(1);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 10}; }
};

TEST(CustomFunction, SupportsDirtyInputs) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2, same = AddOneInPlace::apply(y);
  EXPECT_TRUE(same.is_same(y));
  (y * y).sum().backward();
  expect_values(y, {3, 5});
  expect_values(x.grad(), {120, 200});
  EXPECT_ERROR(AddOneInPlace::apply(x),
               "a leaf Variable that requires grad has been used in an in-place operation.");
}

TEST(CustomFunction, SupportsDirtyViews) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  AddOneInPlace::apply(y.slice(0, 0, 1));
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CopySlices");
  y.sum().backward();
  expect_values(x.grad(), {10, 1});
}

TEST(CustomFunction, ReturnedInputsBecomeViews) {
  struct Same : Function<Same> {
    static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 7}; }
  };
  const Tensor x = leaf({1});
  const Tensor y = Same::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_EQ(y.data_ptr(), x.data_ptr());
  EXPECT_ERROR(
      y.add_(1),
      "This view was created inside a custom Function (or because an input was returned as-is)");
  y.backward();
  expect_values(x.grad(), {7});
}

TEST(CustomFunction, SavedOutputsDoNotFormACycle) {
  struct Exp : Function<Exp> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      const Tensor y = x.exp();
      ctx->save_for_backward({Tensor(), y});
      return y;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      const variable_list saved = ctx->get_saved_variables();
      EXPECT_FALSE(saved[0].defined());
      EXPECT_EQ(saved[1].grad_fn()->name().find("CppNode<"),
                std::string("torch::autograd::").size());
      return {grads[0] * saved[1]};
    }
  };
  const Tensor x = leaf({0}, kDouble);
  const Tensor g = autograd::grad({Exp::apply(x)}, {x}, {}, {}, true)[0];
  expect_values(autograd::grad({g}, {x})[0], {1});
  const Tensor y = Exp::apply(x);
  y.mul_(2);
  EXPECT_ERROR(y.backward(),
               "has been modified by an inplace operation: [CPUDoubleType [1]], which is output 0 "
               "of torch::autograd::CppNode<");
}

TEST(CustomFunction, ReportsWhichInputsNeedGradients) {
  struct NeedsGradQueries : Function<NeedsGradQueries> {
    static Tensor forward(AutogradContext*, const Tensor& a, const Tensor& b, const Tensor& c) {
      return a + b + c;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      EXPECT_TRUE(ctx->needs_input_grad(0));
      EXPECT_FALSE(ctx->needs_input_grad(1));  // a constant
      EXPECT_FALSE(ctx->needs_input_grad(2));  // not among the requested inputs
      EXPECT_TRUE(ctx->needs_input_grad({{0, 1}, {1, 3}}));
      EXPECT_FALSE(ctx->needs_input_grad({{1, 3}}));
      return {grads[0], Tensor(), Tensor()};
    }
  };
  const Tensor a = leaf({1}), c = leaf({1});
  expect_values(autograd::grad({NeedsGradQueries::apply(a, vec({1}), c)}, {a})[0], {1});
}

TEST(CustomFunction, ChecksTheNumberOfGradients) {
  struct Few : Function<Few> {
    static Tensor forward(AutogradContext*, const Tensor& a, const Tensor& b) { return a + b; }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
  };
  struct Extra : Function<Extra> {
    static Tensor forward(AutogradContext*, const Tensor& a, double) { return a * 2; }
    static variable_list backward(AutogradContext*, variable_list grads) {
      return {grads[0], grads[0]};
    }
  };
  struct Padded : Function<Padded> {
    static Tensor forward(AutogradContext*, const Tensor& a) { return a * 2; }
    static variable_list backward(AutogradContext*, variable_list grads) {
      return {grads[0], Tensor(), Tensor()};
    }
  };
  const Tensor x = leaf({1});
  EXPECT_ERROR(Few::apply(x, x).backward(),
               "returned an incorrect number of gradients (expected 2, got 1)");
  EXPECT_ERROR(Extra::apply(x, 1.0).backward(),
               "returned a gradient different that is defined at position 2");
  Padded::apply(x).backward();
  expect_values(x.grad(), {1});
}

TEST(CustomFunction, DirtyInputsMustBeReturned) {
  struct DirtyNotReturned : Function<DirtyNotReturned> {
    static Tensor forward(AutogradContext* ctx, const Tensor& a) {
      ctx->mark_dirty({a});
      return a * 2;
    }
    static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
  };
  const char* const text =
      "Some elements marked as dirty during the forward method were not returned as output.";
  EXPECT_ERROR(DirtyNotReturned::apply(leaf({1}) * 1), text);
  EXPECT_ERROR(DirtyNotReturned::apply(ones({1})), text);
}

// LibTorch's guards for kernels of autograd: ops under them record nothing, custom functions do.
TEST(CustomFunction, RecordsWhereOpsSkipAutograd) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  {
    const impl::ExcludeDispatchKeyGuard guard(autograd_dispatch_keyset_with_ADInplaceOrView);
    EXPECT_FALSE((x * 2).requires_grad());
    EXPECT_FALSE(x.view({2, 1}).is_view());
    EXPECT_TRUE(GradMode::is_enabled());
    MulBy::apply(x, 2, y).backward(ones({2}));
  }
  expect_values(x.grad(), {4, 5});
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(CustomFunction, RejectsInvalidInputIndices) {
  struct InvalidQuery : Function<InvalidQuery> {
    static Tensor forward(AutogradContext*, const Tensor& a) { return a * 2; }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      EXPECT_TRUE(ctx->needs_input_grad(0));
      ctx->needs_input_grad(99);
      return grads;
    }
  };
  EXPECT_ERROR(InvalidQuery::apply(leaf({1})).backward(), "Index out of range");
}

}  // namespace
}  // namespace hearth::testing
