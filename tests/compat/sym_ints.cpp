// Sizes that may be symbolic, which are always numbers here, and helpers of kernels. The expected
// results are LibTorch's.
#include <torch/torch.h>
#ifdef HEARTH_CHECK  // LibTorch's header needs Python.h
#include <torch/extension.h>
#endif
// Extensions include these headers after that one.
#include <ATen/AccumulateType.h>
#include <ATen/Config.h>
#include <ATen/ExpandUtils.h>
#include <ATen/ScalarOps.h>
#include <ATen/autocast_mode.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/MaybeOwned.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <tuple>
#include <type_traits>

namespace {

TEST(SymInts, Numbers) {
  c10::SymInt n = 3;
  n = n * 2 + 1;
  n = n - 2;
  EXPECT_TRUE(n == 5 && n < c10::SymInt(6) && !n.is_symbolic());
  EXPECT_EQ(n.guard_int(__FILE__, __LINE__), 5);
  EXPECT_EQ(n.expect_int(), 5);
  EXPECT_EQ(*n.maybe_as_int(), 5);
  EXPECT_EQ(n.min(4), 4);
}

TEST(SymInts, SizesOfTensors) {
  const auto x = torch::zeros({2, 3, 4}).transpose(0, 2);
  EXPECT_EQ(x.sym_size(-1), 2);
  EXPECT_EQ(x.sym_sizes()[0].expect_int(), 4);
  EXPECT_EQ(C10_AS_INTARRAYREF_SLOW(x.sym_strides()), x.strides());
  EXPECT_EQ(x.sym_numel(), 24);
  EXPECT_EQ(x.select(0, 1).sym_storage_offset(), 1);
  const std::vector<int64_t> sizes = {5, 6};
  EXPECT_EQ(c10::fromIntArrayRefSlow(sizes)[1], 6);
}

TEST(SymInts, Values) {
  const c10::SymInt n = 7;
  c10::IValue value = n;
  EXPECT_EQ(value.toSymInt(), 7);
  EXPECT_EQ(value.toInt(), 7);
  EXPECT_EQ(value.to<c10::SymInt>(), 7);
}

TEST(SymInts, MaybeOwnedTensors) {
  const auto x = torch::arange(6).reshape({2, 3});
  EXPECT_TRUE(x.expect_contiguous()->is_same(x));
  const auto columns = x.t();
  const c10::MaybeOwned<torch::Tensor> dense = columns.expect_contiguous();
  EXPECT_TRUE(dense->is_contiguous() && dense->equal(columns));
}

TEST(SymInts, ExpandedTensors) {
  const auto a = torch::ones({2, 1}), b = torch::ones({3});
  const auto [x, y] = at::expand_outplace(a, b);
  EXPECT_EQ(x->sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(y->sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(at::expand_inplace(torch::ones({2, 3}), b)->dim(), 2);
  EXPECT_EQ(at::sum_to(torch::ones({2, 3}), at::IntArrayRef({2, 1})).sizes(),
            at::IntArrayRef({2, 1}));
}

TEST(SymInts, HelpersOfExtensions) {
  static_assert(std::is_same_v<at::acc_type<float, true>, float>);
  const auto x = torch::ones({2}), w = torch::ones({2}).requires_grad_();
  EXPECT_FALSE(torch::autograd::any_variable_requires_grad({x}));
  EXPECT_TRUE(torch::autograd::any_variable_requires_grad({x, w}));
  EXPECT_TRUE(torch::autograd::compute_requires_grad(x, w));
  C10_LOG_API_USAGE_ONCE("test");
  EXPECT_EQ(at::scalar_to_tensor(3).scalar_type(), at::kLong);
  EXPECT_EQ(at::scalar_to_tensor(2.5).item<double>(), 2.5);
  EXPECT_TRUE(at::empty_like(w, LEGACY_CONTIGUOUS_MEMORY_FORMAT).is_contiguous());
  EXPECT_EQ(at::autocast::cached_cast(at::kBFloat16, x, at::kCPU).scalar_type(), at::kBFloat16);
  EXPECT_EQ(at::autocast::cached_cast(at::kBFloat16, x.to(at::kDouble), at::kCPU).scalar_type(),
            at::kDouble);
  EXPECT_EQ(at::autocast::cached_cast(at::kHalf, x).scalar_type(), at::kFloat);
}

}  // namespace
