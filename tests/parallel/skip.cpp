// skip::stash and skip::pop outside of pipelines: a stashed tensor belongs to one call of the
// outermost Sequential.
#include "hearth/nn/skip.h"

#include <stdexcept>

#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

struct KeepInputImpl : nn::Cloneable<KeepInputImpl> {
  void reset() override {}
  Tensor forward(Tensor x) {
    nn::skip::stash("input", x);
    return x * 2;
  }
};
HEARTH_MODULE(KeepInput);
struct AddInputImpl : nn::Cloneable<AddInputImpl> {
  void reset() override {}
  Tensor forward(Tensor x) { return x + nn::skip::pop("input"); }
};
HEARTH_MODULE(AddInput);
struct ThrowsImpl : nn::Cloneable<ThrowsImpl> {
  void reset() override {}
  Tensor forward(Tensor) { throw std::runtime_error("stopped"); }
};
HEARTH_MODULE(Throws);
/// Stashes in a function that backward calls again.
struct CheckpointedImpl : nn::Cloneable<CheckpointedImpl> {
  void reset() override {}
  Tensor forward(Tensor x) {
    const auto body = [](const Tensor& t) {
      const Tensor y = t.exp();
      nn::skip::stash("input", y);
      return y * y;
    };
    return utils::checkpoint(body, x);
  }
};
HEARTH_MODULE(Checkpointed);

TEST(Skips, EndWithTheOutermostSequential) {
  const Tensor x = ones({2});
  nn::Sequential nested{nn::Sequential(KeepInput{}, nn::Identity{}), nn::Sequential(AddInput{})};
  EXPECT_TRUE(nested->forward(x).equal(x * 3));
  nn::Sequential keeps{KeepInput(), nn::Identity()}, adds{nn::Identity(), AddInput()};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(keeps->forward(x).equal(x * 2));
  EXPECT_ERROR(adds->forward(x), "There is no tensor 'input' to pop");
}

TEST(Skips, EndWithAnException) {
  nn::Sequential throws{KeepInput(), Throws()}, adds{nn::Identity(), AddInput()};
  const Tensor x = ones({2}).requires_grad_();
  const Tensor y = x.exp();
  const size_t handles = y.use_count();
  EXPECT_ERROR(throws->forward(y), "stopped");
  EXPECT_EQ(y.use_count(), handles) << "the stashed tensor is released";
  EXPECT_ERROR(adds->forward(x), "There is no tensor 'input' to pop");
}

TEST(Skips, TwoTensorsOfOneName) {
  nn::Sequential twice{KeepInput(), KeepInput(), AddInput()};
  EXPECT_ERROR(twice->forward(ones({2})), "The tensor 'input' was stashed twice");
  nn::Sequential one_by_one{KeepInput(), AddInput(), KeepInput(), AddInput()};
  EXPECT_TRUE(one_by_one->forward(ones({2})).equal(full({2}, 9.)));
}

TEST(Skips, OutsideOfASequential) {
  EXPECT_ERROR(nn::skip::stash("a", ones({2})), "skip::stash(\"a\") was called outside");
  EXPECT_ERROR(nn::skip::pop("a"), "skip::pop(\"a\") was called outside");
}

TEST(Skips, CheckpointedFunctionStashesAgain) {
  nn::Sequential net{Checkpointed(), AddInput()};
  for (int i = 0; i < 2; ++i) {
    const Tensor x = zeros({2}).requires_grad_();
    const Tensor y = net->forward(x);
    y.sum().backward();
    EXPECT_TRUE(x.grad().equal(full({2}, 3.)));  // the derivative of e^2x + e^x at 0
  }
}

}  // namespace
}  // namespace hearth::testing
