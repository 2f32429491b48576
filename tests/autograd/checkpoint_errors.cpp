// Errors of checkpoints: those of the function, and tensors that differ in the second computation
// or were modified.
#include "tests/autograd/checkpoint_support.h"

namespace hearth::testing {
namespace {

using utils::checkpoint;
using utils::CheckpointOptions;

TEST(Checkpoint, PropagatesErrors) {
  const Tensor x = rand({4}).requires_grad_();
  EXPECT_ERROR(checkpoint([](const Tensor& t) { return t.exp().matmul(ones({3})); }, x), "size");
  int calls = 0;
  const auto fails_later = [&](const Tensor& t) {
    HEARTH_CHECK(++calls == 1, "cannot be called again");
    return t.exp();
  };
  EXPECT_ERROR(checkpoint(fails_later, x).sum().backward(), "cannot be called again");
  checkpoint(CountedCalls(), x, rand({4, 4})).sum().backward();  // the thread's modes are as before
  EXPECT_THROW(checkpoint(CheckpointOptions().determinism_check("all"), CountedCalls(), x, x),
               ValueError);
}

/// The error of backward through a function whose second call gets 2 as its second argument.
std::string error_of_change(const std::function<Tensor(const Tensor&, int)>& f,
                            const CheckpointOptions& options = {}) {
  const Tensor x = ones({2, 3}).requires_grad_();
  int call = 0;
  const Tensor y = checkpoint(
      options, [&](const Tensor& t) { return f(t, ++call); }, x);
  return error_of([&] { y.sum().backward(); });
}

TEST(Checkpoint, NamesTensorsThatDiffer) {
  const std::string sizes = error_of_change([](const Tensor& t, int call) {
    return call == 1 ? t.exp().sin() : t.slice(0, 0, 1).exp().sin();
  });
  EXPECT_EQ(sizes.substr(0, sizes.find("tensor at position 1:")),
            "torch.utils.checkpoint: Recomputed values for the following tensors have different "
            "metadata than during the forward pass.\n"
            "tensor at position 0:\n"
            "saved metadata: {'shape': torch.Size([2, 3]), 'dtype': torch.float32, 'device': "
            "device(type='cpu')}\n"
            "recomputed metadata: {'shape': torch.Size([1, 3]), 'dtype': torch.float32, 'device': "
            "device(type='cpu')}\n"
            "saved by exp, recomputed by exp\n");
  const auto changes_op = [](const Tensor& t, int call) { return call == 1 ? t.exp() : t.tanh(); };
  EXPECT_NE(error_of_change(changes_op).find("saved by exp, recomputed by tanh"),
            std::string::npos);
  EXPECT_NE(error_of_change(changes_op, CheckpointOptions().debug(true))
                .find("Tensors saved during recomputation:\n  0: tanh {'shape'"),
            std::string::npos);
  {
    const utils::set_checkpoint_debug_enabled enabled(true);
    EXPECT_NE(error_of_change(changes_op).find("Tensors saved during recomputation"),
              std::string::npos);
  }
  EXPECT_EQ(error_of_change(changes_op).find("Tensors saved during recomputation"),
            std::string::npos);
  EXPECT_EQ(error_of_change(changes_op, CheckpointOptions().determinism_check("none")), "no error");
  EXPECT_NE(
      error_of_change([](const Tensor& t, int call) { return call == 1 ? t.exp().sin() : t.exp(); })
          .find("A different number of tensors was saved during the original forward and "
                "recomputation.\nNumber of tensors saved during forward: 2\nNumber of tensors "
                "saved during recomputation: 1.\n"),
      std::string::npos);
  EXPECT_NE(
      error_of_change([](const Tensor& t, int call) { return call == 1 ? t.exp() : t.exp().sin(); },
                      CheckpointOptions().early_stop(false))
          .find("trying to save more tensors during recomputation than during the original "
                "forward pass."),
      std::string::npos);
}

TEST(Checkpoint, NamesTensorsThatWereModified) {
  const Tensor x = rand({3}).requires_grad_(), w = rand({3}).requires_grad_();
  const auto product = [&](const Tensor& t) { return t.mul(w).exp(); };
  const Tensor input = x.mul(2);
  const Tensor y = checkpoint(product, input);
  input.add_(1);
  EXPECT_ERROR(y.sum().backward(), "input 0 of a function called by utils::checkpoint");
  const Tensor z = checkpoint(product, x);
  {
    const NoGradGuard no_grad;
    w.add_(1);
  }
  EXPECT_ERROR(z.sum().backward(),
               "the tensor at position 1 that mul saved in a function called by "
               "utils::checkpoint, {'shape': torch.Size([3]), 'dtype': torch.float32");
  const auto modifies = [](const Tensor& t) {
    Tensor a = t.mul(2);
    const Tensor b = a.sin();
    a.add_(1);
    return b.exp().mul(b);
  };
  EXPECT_ERROR(checkpoint(modifies, x).sum().backward(), "the tensor at position 0 that sin saved");
  const Tensor counter = zeros({3});
  const auto counts = [&](const Tensor& t) { return t.mul(counter.add_(1)); };
  EXPECT_ERROR(checkpoint(counts, x).sum().backward(), "the tensor at position 0 that mul saved");
}

}  // namespace
}  // namespace hearth::testing
