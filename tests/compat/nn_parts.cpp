// Small parts of LibTorch: its traits of modules, dropout of inputs without a batch (unlike
// Python's), older names of Tensor's functions, sizes of unpooling.
#include <gtest/gtest.h>
#include <torch/detail/static.h>
#include <torch/torch.h>

namespace {

namespace F = torch::nn::functional;

struct WithoutForward : torch::nn::Module {};
static_assert(torch::detail::has_forward<torch::nn::LinearImpl>::value);
static_assert(!torch::detail::has_forward<WithoutForward>::value);
static_assert(torch::detail::is_module<WithoutForward>::value);
static_assert(!torch::detail::is_module<torch::nn::Linear>::value);

/// The elements that a dropout of ones keeps, as "0011…".
template <class Drop>
std::string kept(torch::IntArrayRef sizes, const Drop& drop) {
  torch::manual_seed(0);
  const torch::Tensor kept_elements = drop(torch::ones(sizes)).ne(0).flatten();
  std::string text;
  for (int64_t i = 0; i < kept_elements.numel(); ++i)
    text += kept_elements[i].item<bool>() ? '1' : '0';
  return text;
}

TEST(Dropout, TakesInputsWithoutABatchAsLibTorch) {
  struct Row {
    std::vector<int64_t> sizes;
    std::string kept_by_dropout2d, kept_by_dropout3d;
  };
  // In Python, dropout2d takes three dimensions as [N, C, L].
  const std::vector<Row> rows = {
      {{4}, "0010", "0010"},
      {{2, 3}, "000000", "000000"},
      {{3, 4, 2}, "000000000000000011111111", "000000000000000011111111"},
      {{2, 3, 2, 2}, "000000001111000000000000", "000000000000000000000000"},
      {{2, 2, 2, 2, 2}, "00000000000000000000000000000000", "00000000000000001111111100000000"},
  };
  for (const Row& row : rows)
    for (const bool in_place : {false, true}) {
      const auto dropout2d = [&](torch::Tensor x) {
        return F::dropout2d(x, F::Dropout2dFuncOptions().inplace(in_place));
      };
      const auto dropout3d = [&](torch::Tensor x) {
        return torch::nn::Dropout3d(torch::nn::Dropout3dOptions().inplace(in_place))(x);
      };
      EXPECT_EQ(kept(row.sizes, dropout2d), row.kept_by_dropout2d) << row.sizes;
      EXPECT_EQ(kept(row.sizes, dropout3d), row.kept_by_dropout3d) << row.sizes;
    }
}

TEST(Tensor, OtherNamesOfDataAndDevice) {
  const torch::Tensor t = torch::arange(3.0);
  EXPECT_EQ(t.data<float>(), t.data_ptr<float>());
  EXPECT_TRUE(t.data().equal(t));
  EXPECT_THROW(t.data<int64_t>(), c10::Error);
  EXPECT_EQ(t.storage().device_type(), torch::kCPU);
}

TEST(Pooling, UnpoolOutputSizes) {
  const torch::Tensor x = torch::ones({1, 2, 3, 4});
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(F::_unpool_output_size(x, {2, 3}, {2, 1}, {0, 1}, {}), (Sizes{6, 4}));
  EXPECT_EQ(F::_unpool_output_size(x, {2, 3}, {2, 1}, {0, 1}, Sizes{1, 2, 7, 5}), (Sizes{7, 5}));
  EXPECT_THROW(F::_unpool_output_size(x, {2, 3}, {2, 1}, {0, 1}, Sizes{1, 2, 9, 5}), c10::Error);
  EXPECT_THROW(F::_unpool_output_size(x, {2, 3}, {2, 1}, {0, 1}, Sizes{5}), c10::Error);
}

}  // namespace
