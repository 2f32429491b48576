// The strides of results: literal values from LibTorch 2.15. A program sees them through data_ptr()
// and view().
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

namespace {

using torch::Tensor;
using torch::indexing::Slice;

/// The given strides as a vector.
template <class... T>
std::vector<int64_t> strides(T... strides) {
  return {int64_t(strides)...};
}

#define EXPECT_STRIDES(wanted, ...) EXPECT_EQ((__VA_ARGS__).strides().vec(), wanted) << #__VA_ARGS__

Tensor channels_last(at::IntArrayRef sizes) {
  return torch::randn(sizes).contiguous(at::MemoryFormat::ChannelsLast);
}

/// x is permuted, t is transposed, c and even (whose sizes are even) are channels_last, i, j and
/// zeros are indices.
class Layouts : public ::testing::Test {
 protected:
  const Tensor x = torch::randn({2, 3, 4}).permute({2, 0, 1});
  const Tensor t = torch::randn({5, 3}).t();
  const Tensor c = channels_last({2, 3, 4, 5}), even = channels_last({2, 4, 4, 6});
  const Tensor i = torch::tensor({1, 0, 1}), j = torch::tensor({0, 1, 1});
  const Tensor zeros = torch::zeros({3, 5}, torch::kLong);
};

Tensor gradient(Tensor (*f)(const Tensor&), const Tensor& point) {
  const Tensor leaf = point.detach().requires_grad_();
  return torch::autograd::grad({f(leaf).sum()}, {leaf})[0];
}

Tensor normalised(const Tensor& v, bool training) {
  const int64_t n = v.size(1);
  return torch::batch_norm(v, {}, {}, torch::zeros({n}), torch::ones({n}), training, 0.1, 1e-5,
                           false);
}

TEST_F(Layouts, Indexing) {
  EXPECT_STRIDES(strides(6, 3, 1), x.index({i}));
  EXPECT_STRIDES(strides(1, 4, 12), x.index({Slice(), j}));
  EXPECT_STRIDES(strides(3, 12, 1), x.index({Slice(), Slice(), j}));
  EXPECT_STRIDES(strides(3, 1), x.index({i, j}));
  EXPECT_STRIDES(strides(2, 1), x.index({i, Slice(), j}));
  EXPECT_STRIDES(strides(9, 3, 1), x.index({i.unsqueeze(1), j}));
  EXPECT_STRIDES(strides(1), x.index({x > 0}));
  EXPECT_STRIDES(strides(6, 3, 1), x.index({torch::tensor({true, false, true, true})}));
  EXPECT_STRIDES(strides(5, 1), t.index({i}));
  EXPECT_STRIDES(strides(3, 1), t.index({Slice(), i}));
  EXPECT_STRIDES(strides(60, 1, 15, 3), c.index({torch::tensor({1, 0})}));
  EXPECT_STRIDES(strides(60, 20, 5, 1), c.index({Slice(), i}));
  EXPECT_STRIDES(strides(45, 1, 3, 9), c.index({Slice(), Slice(), i}));
  EXPECT_STRIDES(strides(36, 3, 9, 1), c.index({Slice(), Slice(), Slice(), i}));
  EXPECT_STRIDES(strides(20, 5, 1), c.index({torch::tensor({1, 0, 1}), i}));
  EXPECT_STRIDES(strides(60, 20, 20, 5, 1), c.index({Slice(), i.unsqueeze(1)}));
  EXPECT_STRIDES(strides(5, 5, 1), t.index({i.unsqueeze(1)}));
  EXPECT_STRIDES(strides(120, 60, 20, 5, 1), c.index({Slice(), i.repeat({2, 1})}));
  EXPECT_STRIDES(strides(15, 5, 1), t.index({i.repeat({2, 1})}));
  EXPECT_STRIDES(strides(120, 20, 60, 5, 1), c.index({Slice(), i.repeat({2, 1}).t()}));
  EXPECT_STRIDES(strides(5, 15, 1), t.index({i.repeat({2, 1}).t()}));
}

TEST_F(Layouts, StackAndCat) {
  EXPECT_STRIDES(strides(120, 60, 1, 15, 3), torch::stack({c, c}, 0));
  EXPECT_STRIDES(strides(120, 3, 1, 30, 6), torch::stack({c, c}, 1));
  EXPECT_STRIDES(strides(120, 1, 60, 15, 3), torch::stack({c, c}, 2));
  EXPECT_STRIDES(strides(120, 1, 30, 15, 3), torch::stack({c, c}, 3));
  EXPECT_STRIDES(strides(120, 40, 10, 2, 1), torch::stack({c, c}, 4));
  EXPECT_STRIDES(strides(15, 5, 1), torch::stack({t, t}, 0));
  EXPECT_STRIDES(strides(10, 5, 1), torch::stack({t, t}, 1));
  EXPECT_STRIDES(strides(10, 2, 1), torch::stack({t, t}, 2));
  EXPECT_STRIDES(strides(24, 6, 3, 1), torch::stack({x, x}, 0));
  EXPECT_STRIDES(strides(12, 6, 3, 1), torch::stack({x, x}, 1));
  EXPECT_STRIDES(strides(12, 6, 3, 1), torch::stack({x, x}, 2));
  EXPECT_STRIDES(strides(12, 6, 2, 1), torch::stack({x, x}, 3));
  EXPECT_STRIDES(strides(120, 60, 20, 5, 1), torch::stack({c, c.contiguous()}, 0));
  EXPECT_STRIDES(strides(120, 40, 20, 5, 1), torch::stack({c.contiguous(), c}, 2));
  EXPECT_STRIDES(strides(5, 1), torch::cat({t, t}, 0));
  EXPECT_STRIDES(strides(6, 3, 1), torch::cat({x, x}, 0));
  EXPECT_STRIDES(strides(60, 1, 15, 3), torch::cat({c, c}, 0));
}

// A slice of a channels_last tensor has gaps, but its strides have the order of channels_last.
TEST_F(Layouts, SlicesOfChannelsLast) {
  const Tensor s = channels_last({2, 8, 6, 7}).slice(1, 0, 4);
  const Tensor w = torch::randn({3, 4, 3, 1}), one = torch::ones({4}), zero = torch::zeros({4});
  EXPECT_EQ(s.suggest_memory_format(), at::MemoryFormat::ChannelsLast);
  EXPECT_FALSE(s.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_STRIDES(strides(336, 1, 56, 8), torch::cat({s, s}, 1));
  EXPECT_STRIDES(strides(168, 1, 28, 4), torch::cat({s, s}, 0));
  EXPECT_STRIDES(strides(336, 4, 1, 56, 8), torch::stack({s, s}, 1));
  EXPECT_STRIDES(strides(84, 1, 21, 3), torch::conv2d(s, w));
  EXPECT_STRIDES(strides(84, 1, 21, 3), torch::conv2d(s.to(torch::kDouble), w.to(torch::kDouble)));
  EXPECT_STRIDES(strides(224, 1, 32, 4), torch::max_pool2d(s, 2, 1, 1));
  EXPECT_STRIDES(strides(224, 1, 32, 4), torch::avg_pool2d(s, 2, 1, 1));
  EXPECT_STRIDES(strides(8, 1, 4, 4), torch::adaptive_avg_pool2d(s, {2, 1}));
  EXPECT_STRIDES(strides(168, 1, 28, 4),
                 torch::batch_norm(s, one, zero, {}, {}, true, 0.1, 1e-5, false));
  EXPECT_STRIDES(strides(216, 1, 36, 4), torch::constant_pad_nd(s, {1, 1}));
  EXPECT_STRIDES(strides(168, 1, 28, 4), torch::dropout(s, 0.5, true));
  EXPECT_STRIDES(strides(168, 1, 28, 4), s.flip(2));
  EXPECT_STRIDES(strides(168, 1, 28, 4),
                 gradient([](const Tensor& v) { return torch::max_pool2d(v, 2).pow(2); }, s));
}

TEST_F(Layouts, GluAndBatchNorm) {
  const Tensor g = torch::randn({4, 6}).t(), b = torch::randn({3, 6}).t();
  const Tensor b3 = torch::randn({6, 5, 3}).permute({0, 2, 1});
  const Tensor p4 = torch::randn({2, 4, 3, 5}).permute({0, 2, 1, 3});
  EXPECT_STRIDES(strides(1, 3), torch::glu(g, 0));
  EXPECT_STRIDES(strides(1, 6), torch::glu(g, 1));
  EXPECT_STRIDES(strides(48, 1, 12, 2), torch::glu(even, 1));
  EXPECT_STRIDES(strides(48, 1, 24, 4), torch::glu(even, 2));
  EXPECT_STRIDES(strides(48, 1, 12, 4), torch::glu(even, 3));
  EXPECT_STRIDES(strides(1, 4), gradient([](const Tensor& v) { return torch::glu(v.t(), 0); },
                                         torch::randn({4, 6})));
  EXPECT_STRIDES(strides(4, 1), gradient([](const Tensor& v) { return torch::glu(v, 1); }, g));
  EXPECT_STRIDES(strides(3, 1), normalised(b, true));
  EXPECT_STRIDES(strides(3, 1), normalised(b, false));
  EXPECT_STRIDES(strides(15, 5, 1), normalised(b3, true));
  EXPECT_STRIDES(strides(15, 5, 1), normalised(b3, false));
  EXPECT_STRIDES(strides(60, 1, 15, 3), normalised(c, true));
  EXPECT_STRIDES(strides(60, 1, 15, 3), normalised(c, false));
  EXPECT_STRIDES(strides(60, 20, 5, 1), normalised(p4, true));
  EXPECT_STRIDES(strides(60, 20, 5, 1), normalised(p4, false));
  EXPECT_STRIDES(strides(3, 1),
                 gradient([](const Tensor& v) { return normalised(v, true).pow(2); }, b));
  EXPECT_STRIDES(strides(15, 5, 1),
                 gradient([](const Tensor& v) { return normalised(v, true).pow(2); }, b3));
  EXPECT_STRIDES(strides(15, 5, 1),
                 gradient([](const Tensor& v) { return normalised(v, false).pow(2); }, b3));
  EXPECT_STRIDES(strides(60, 1, 15, 3),
                 gradient([](const Tensor& v) { return normalised(v, true).pow(2); }, c));
}

TEST_F(Layouts, RandomNumbers) {
  EXPECT_STRIDES(strides(5, 1), torch::bernoulli(t.sigmoid()));
  EXPECT_STRIDES(strides(5, 1), torch::bernoulli(t.sigmoid(), 0.5));
  EXPECT_STRIDES(strides(60, 20, 5, 1), torch::bernoulli(c.sigmoid()));
  EXPECT_STRIDES(strides(1, 3), torch::dropout(t, 0.5, true));
  EXPECT_STRIDES(strides(1, 3), torch::rand_like(t));
  EXPECT_STRIDES(strides(2, 1), torch::multinomial(t.sigmoid(), 2));
}

TEST_F(Layouts, UniqueSlices) {
  const Tensor u = torch::tensor({0, 1, 2, 0, 1, 2, 2, 2, 2, 1, 0, 0}).view({4, 3}).t();
  const Tensor numbers = torch::arange(24).view({2, 3, 4});
  EXPECT_STRIDES(strides(4, 1), std::get<0>(torch::unique_dim(u, 0)));
  EXPECT_STRIDES(strides(1, 3), std::get<0>(torch::unique_dim(u, 1)));
  EXPECT_STRIDES(strides(1, 3), std::get<0>(torch::unique_consecutive(u, false, false, 1)));
  EXPECT_STRIDES(strides(6, 3, 1), std::get<0>(torch::unique_dim(numbers.permute({2, 0, 1}), 0)));
  EXPECT_STRIDES(strides(3, 12, 1), std::get<0>(torch::unique_dim(numbers.permute({2, 0, 1}), 1)));
  EXPECT_STRIDES(strides(2, 1, 8), std::get<0>(torch::unique_dim(numbers.permute({2, 0, 1}), 2)));
  EXPECT_STRIDES(strides(12, 4, 1), std::get<0>(torch::unique_dim(numbers, 0)));
  EXPECT_STRIDES(strides(4, 8, 1), std::get<0>(torch::unique_dim(numbers, 1)));
  EXPECT_STRIDES(strides(3, 1, 6), std::get<0>(torch::unique_dim(numbers, 2)));
}

TEST_F(Layouts, ScatterAndGather) {
  const Tensor u = torch::tensor({0, 1, 2, 0, 1, 2, 2, 2, 2, 1, 0, 0}).view({4, 3}).t();
  EXPECT_STRIDES(strides(5, 1), t.index_select(0, i));
  EXPECT_STRIDES(strides(9, 3, 1), x.index_select(1, j));
  EXPECT_STRIDES(strides(5, 1), torch::take_along_dim(t, zeros, 0));
  EXPECT_STRIDES(strides(5, 1), t.gather(0, zeros));
  EXPECT_STRIDES(strides(5, 1), t.index_add(0, i, t));
  EXPECT_STRIDES(strides(5, 1), t.index_copy(0, torch::arange(3), t));
  EXPECT_STRIDES(strides(1, 3), t.index_fill(0, i, 1));
  EXPECT_STRIDES(strides(5, 1), t.scatter(0, zeros, t));
  EXPECT_STRIDES(strides(5, 1), t.scatter_add(0, zeros, t));
  EXPECT_STRIDES(strides(5, 1), t.masked_scatter(t > 0, t));
  EXPECT_STRIDES(strides(5, 1), torch::embedding(t, i));
  EXPECT_STRIDES(strides(12, 3, 1), torch::one_hot(u));
  EXPECT_STRIDES(strides(1), t.masked_select(t > 0));
  EXPECT_STRIDES(strides(5, 1), t.masked_fill(t > 0, 1));
  EXPECT_STRIDES(strides(1, 15), t.nonzero());
}

TEST_F(Layouts, ReductionsAndScans) {
  EXPECT_STRIDES(strides(5, 1), t.cumsum(0));
  EXPECT_STRIDES(strides(5, 1), t.softmax(0));
  EXPECT_STRIDES(strides(3, 1), std::get<0>(x.kthvalue(1, 0)));
  EXPECT_STRIDES(strides(3, 1), std::get<0>(x.max(0)));
  EXPECT_STRIDES(strides(3, 1), x.sum(0));
  EXPECT_STRIDES(strides(3, 1), x.sum(1));
  EXPECT_STRIDES(strides(6, 3, 1), x.sum(0, true));
  EXPECT_STRIDES(strides(20, 20, 5, 1), c.sum(1, true));
  EXPECT_STRIDES(strides(3, 1, 1, 1), c.mean({2, 3}, true));
  EXPECT_STRIDES(strides(3, 1), x.norm(2, 1));
  EXPECT_STRIDES(strides(3, 1), x.var(1));
  EXPECT_STRIDES(strides(3, 1), x.logsumexp(1));
  EXPECT_STRIDES(strides(3, 1), x.argmax(0));
  EXPECT_STRIDES(strides(3, 1), x.amax(0));
  EXPECT_STRIDES(strides(3, 1), x.prod(0));
  EXPECT_STRIDES(strides(3, 1), (x > 0).all(0));
  EXPECT_STRIDES(strides(3, 1), x.nansum(0));
  EXPECT_STRIDES(strides(3, 1), std::get<0>(x.median(0)));
  EXPECT_STRIDES(strides(6, 3, 1), std::get<0>(x.cummax(0)));
  EXPECT_STRIDES(strides(6, 3, 1), x.cumprod(1));
  EXPECT_STRIDES(strides(6, 3, 1), x.logcumsumexp(0));
}

TEST_F(Layouts, Ordering) {
  EXPECT_STRIDES(strides(5, 1), std::get<0>(t.topk(2, 0)));
  EXPECT_STRIDES(strides(1, 3), std::get<0>(t.sort(0)));
  EXPECT_STRIDES(strides(1, 12, 4), std::get<1>(x.sort(1)));
  EXPECT_STRIDES(strides(6, 3, 1), x.log_softmax(1));
}

TEST_F(Layouts, Images) {
  EXPECT_STRIDES(strides(84, 1, 21, 3), torch::constant_pad_nd(c, {1, 1}));
  EXPECT_STRIDES(strides(10, 5, 1), torch::constant_pad_nd(x, {1, 1}));
  EXPECT_STRIDES(strides(12, 1, 6, 3), torch::max_pool2d(c, 2));
  EXPECT_STRIDES(strides(12, 1, 6, 3), torch::avg_pool2d(c, 2));
  EXPECT_STRIDES(strides(60, 1, 15, 3), torch::group_norm(c, 1));
  EXPECT_STRIDES(strides(40, 1, 10, 2), torch::conv2d(c, torch::ones({2, 3, 1, 1})));
  EXPECT_STRIDES(strides(20, 5, 1), torch::nll_loss2d(c, torch::zeros({2, 4, 5}, torch::kLong), {},
                                                      at::Reduction::None));
  EXPECT_STRIDES(strides(96, 1, 48, 16), torch::pixel_unshuffle(even, 2));
  EXPECT_STRIDES(strides(60, 20, 5, 1),
                 torch::instance_norm(c, {}, {}, {}, {}, true, 0.1, 1e-5, false));
}

TEST_F(Layouts, OtherOperators) {
  EXPECT_STRIDES(strides(1, 3), t.flip(0));
  EXPECT_STRIDES(strides(5, 1), t.roll(1, 0));
  EXPECT_STRIDES(strides(5, 1), t.tril());
  EXPECT_STRIDES(strides(60, 20, 5, 1), c.tril());
  EXPECT_STRIDES(strides(6, 3, 1), x.tril());
  EXPECT_STRIDES(strides(5, 1), torch::layer_norm(t, {5}));
  EXPECT_STRIDES(strides(3, 1), t.mm(t.t()));
  EXPECT_STRIDES(strides(4, 2, 1), torch::bmm(x, x.transpose(1, 2)));
  EXPECT_STRIDES(strides(120, 40, 5, 1), c.repeat_interleave(2, 2));
  EXPECT_STRIDES(strides(5, 1), t.repeat({2, 1}));
  EXPECT_STRIDES(strides(10, 1), t.tile({2}));
  EXPECT_STRIDES(strides(4, 2, 1), torch::arange(4.).view({1, 2, 2}).expand({3, 2, 2}).clone());
  EXPECT_STRIDES(strides(6, 3, 1), torch::rms_norm(x, {3}));
  EXPECT_STRIDES(strides(1, 3), t.lerp(t, 0.5));
  EXPECT_STRIDES(strides(5, 1), torch::linalg_cross(t, t, 0));
  EXPECT_STRIDES(strides(3, 1), t.rot90());
  EXPECT_STRIDES(strides(25, 5, 1), t.diag_embed());
  EXPECT_STRIDES(strides(3, 1), torch::outer(i, j));
  EXPECT_STRIDES(strides(1, 3), torch::huber_loss(t, t + 1, at::Reduction::None));
  EXPECT_STRIDES(strides(1, 3), torch::binary_cross_entropy_with_logits(t, t.sigmoid(), {}, {},
                                                                        at::Reduction::None));
  EXPECT_STRIDES(strides(3, 1), torch::cosine_similarity(x, x, 1));
  EXPECT_STRIDES(strides(1), torch::pairwise_distance(t, t));
  EXPECT_STRIDES(strides(60, 1, 15, 3), torch::full_like(c, 2));
  EXPECT_STRIDES(strides(1, 3), t.to(torch::kDouble));
  EXPECT_STRIDES(strides(5, 1), torch::bucketize(t, torch::arange(3.)));
}

}  // namespace
