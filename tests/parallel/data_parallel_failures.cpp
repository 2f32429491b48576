// DataParallel when a copy cannot be made, or when a replica throws or returns no tensor.
#include <exception>
#include <stdexcept>

#include "hearth/hearth.h"
#include "hearth/nn/data_parallel.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

class FailingReplicas : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  }
  const Device first_{DeviceType::CUDA, 0}, second_{DeviceType::CUDA, 1};
};

/// A layer that can be copied `possible` times; with -1, any number of times.
struct HardToCopyImpl : nn::Cloneable<HardToCopyImpl> {
  HardToCopyImpl() { reset(); }
  void reset() override {
    if (possible-- == 0) throw OutOfMemoryError("no memory for a copy");
    layer = register_module("layer", nn::Linear(4, 2));
  }
  Tensor forward(const Tensor& x) { return layer(x); }
  nn::Linear layer = nullptr;
  static inline int possible = -1;
};
HEARTH_MODULE(HardToCopy);

TEST_F(FailingReplicas, AfterAFailedCopyTheNextCallMakesAllCopies) {
  HardToCopy net;
  net->to(first_);
  nn::DataParallel model(net, nn::DataParallelOptions({first_, second_, Device(kCPU)}).min_rows(1));
  const Tensor x = rand({6, 4}, first_), expected = net(x);
  EXPECT_TRUE(model(x).allclose(expected));
  model->reset_replicas();
  for (const int possible : {0, 1}) {
    HardToCopyImpl::possible = possible;
    EXPECT_ERROR(model(x), "no memory for a copy");
    HardToCopyImpl::possible = -1;
  }
  EXPECT_TRUE(model(x).allclose(expected));
}

TEST_F(FailingReplicas, NothingToGather) {
  EXPECT_ERROR(nn::parallel::gather(std::vector<std::vector<Tensor>>{}, first_),
               "Expected at least one result to gather from");
  EXPECT_ERROR(nn::parallel::gather(std::vector<std::optional<Tensor>>{}, first_),
               "Expected at least one result");
}

/// Throws an exception of the standard library on the second GPU.
struct ForeignErrorImpl : nn::Cloneable<ForeignErrorImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) {
    if (x.device().index() == 1) throw std::invalid_argument("the user's own error");
    return x;
  }
};
HEARTH_MODULE(ForeignError);

TEST_F(FailingReplicas, AnyExceptionNamesTheDevice) {
  nn::DataParallel model{ForeignError()};
  EXPECT_ERROR(model(ones({4}, first_)), "the user's own error\nin replica 1 on device cuda:1");
  try {
    model(ones({4}, first_));
  } catch (const Error& error) {
    EXPECT_THROW(std::rethrow_if_nested(error), std::invalid_argument);
  }
}

/// Returns an undefined tensor: always, or on the second GPU only.
struct NothingImpl : nn::Cloneable<NothingImpl> {
  explicit NothingImpl(bool always) : is_always(always) {}
  void reset() override {}
  Tensor forward(const Tensor& x) { return is_always || x.device().index() == 1 ? Tensor() : x; }
  bool is_always;
};
HEARTH_MODULE(Nothing);

TEST_F(FailingReplicas, UndefinedResults) {
  const Tensor x = ones({4}, first_);
  nn::DataParallel nothing{Nothing(true)}, sometimes{Nothing(false)};
  EXPECT_FALSE(nothing(x).defined());
  EXPECT_FALSE(nothing(ones({1}, first_)).defined());
  EXPECT_ERROR(sometimes(x), "Some devices returned a tensor and others an undefined one");
  EXPECT_FALSE(nn::parallel::data_parallel(Nothing(true), x).defined());
  EXPECT_FALSE(nn::parallel::data_parallel(Nothing(true), x, {{first_}}).defined());
}

}  // namespace
}  // namespace hearth::testing
