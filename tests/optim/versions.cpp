// Version counters of parameters: as in LibTorch, steps increment them, except SGD's.
#include <gtest/gtest.h>

#include <vector>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace optim;

Tensor matrix() { return eye(2).mul(0.5).requires_grad_(); }

TEST(Versions, AreUnchangedBySgd) {
  for (const double momentum : {0.0, 0.9}) {
    const Tensor w = matrix(), x = ones({1, 2});
    SGD sgd({w}, SGDOptions(0.1).momentum(momentum));
    const Tensor hidden = x.mm(w), y = hidden.mm(w).sum();
    y.backward({}, true);
    const int64_t version = w._version();
    sgd.step();
    EXPECT_EQ(w._version(), version);
    EXPECT_FALSE(w.equal(eye(2).mul(0.5)));
    y.backward();  // uses the new weights, as in LibTorch
  }
}

template <class Kind>
void expect_increment(const char* name) {
  SCOPED_TRACE(name);
  const Tensor w = matrix(), x = ones({1, 2});
  Kind optimizer(std::vector<Tensor>{w});
  const Tensor y = x.mm(w).mm(w).sum();
  y.backward({}, true);
  optimizer.step();
  EXPECT_ERROR(y.backward(), "has been modified by an inplace operation");
}

TEST(Versions, AreIncrementedByOtherOptimizers) {
  expect_increment<Adadelta>("Adadelta");
  expect_increment<Adafactor>("Adafactor");
  expect_increment<Adagrad>("Adagrad");
  expect_increment<Adam>("Adam");
  expect_increment<Adamax>("Adamax");
  expect_increment<AdamW>("AdamW");
  expect_increment<ASGD>("ASGD");
  expect_increment<Muon>("Muon");
  expect_increment<NAdam>("NAdam");
  expect_increment<RAdam>("RAdam");
  expect_increment<RMSprop>("RMSprop");
  expect_increment<Rprop>("Rprop");
}

}  // namespace
}  // namespace hearth::testing
