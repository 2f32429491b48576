#pragma once

// What the tests of checkpoints share: functions and layers to run in them, and the comparison with
// the plain run.

#include <memory>
#include <vector>

#include "tests/autograd/support.h"

#include "hearth/hearth.h"
#include "hearth/utils/checkpoint.h"

namespace hearth::testing {

inline bool identical(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.equal(b);
}

/// A loss and its gradients.
inline std::vector<Tensor> loss_and_gradients(const Tensor& loss,
                                              const std::vector<Tensor>& leaves) {
  loss.backward();
  std::vector<Tensor> all{loss.detach()};
  for (const Tensor& leaf : leaves) {
    all.push_back(leaf.grad().clone());
    leaf.mutable_grad() = Tensor();
  }
  return all;
}

/// Expects the same loss and gradients, bit for bit, from both functions.
template <class A, class B>
void expect_identical(const A& plain, const B& checkpointed, const std::vector<Tensor>& leaves) {
  manual_seed(7);
  const std::vector<Tensor> wanted = loss_and_gradients(plain(), leaves);
  const Tensor next = rand({2});
  manual_seed(7);
  const std::vector<Tensor> got = loss_and_gradients(checkpointed(), leaves);
  EXPECT_TRUE(identical(rand({2}), next)) << "the state of the generator differs";
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(identical(got[i], wanted[i])) << (i ? "gradient" : "loss") << " " << i;
}

/// Counts its calls.
struct CountedCalls {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  Tensor operator()(const Tensor& x, const Tensor& w) const {
    ++*calls;
    return x.matmul(w).tanh().mul(x.exp()).sigmoid();
  }
};

/// Two layers with dropout.
inline nn::Sequential block(int64_t width) {
  return nn::Sequential(nn::Linear(width, 2 * width), nn::GELU(), nn::Dropout(0.3),
                        nn::Linear(2 * width, width), nn::LayerNorm(std::vector<int64_t>{width}));
}

inline std::vector<Device> test_devices() {
  std::vector<Device> all{kCPU};
  if (cuda::is_available()) all.emplace_back(kCUDA);
  return all;
}

}  // namespace hearth::testing
