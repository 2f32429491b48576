#include <gtest/gtest.h>
#include <torch/torch.h>

// Indexing: examples from LibTorch's tutorial, functions, printed indices and errors.

using namespace torch::indexing;

TEST(Indexing, TutorialsGettersWork) {
  const auto t = torch::arange(24).reshape({2, 3, 4});
  EXPECT_TRUE(torch::equal(t.index({None}), t.unsqueeze(0)));
  EXPECT_TRUE(torch::equal(t.index({Ellipsis, 2}), t.select(2, 2)));
  EXPECT_TRUE(torch::equal(t.index({"...", 2}), t.select(2, 2)));
  EXPECT_EQ(t.index({1, 2, 3}).item<int64_t>(), 23);
  EXPECT_EQ(t.index({true, 1}).sizes(), torch::IntArrayRef({1, 3, 4}));
  EXPECT_EQ(t.index({Slice()}).sizes(), t.sizes());
  EXPECT_EQ(t.index({Slice(1, None)}).size(0), 1);
  EXPECT_EQ(t.index({0, Slice(None, None, 2)}).sizes(), torch::IntArrayRef({2, 4}));
  EXPECT_EQ(t.index({torch::tensor({1, 0, 1})}).size(0), 3);
  EXPECT_EQ(t.index({t > 20}).sizes(), torch::IntArrayRef({3}));
  EXPECT_EQ(t.index(std::vector<TensorIndex>{Slice(), 1}).sizes(), torch::IntArrayRef({2, 4}));
}

TEST(Indexing, TutorialsSettersWork) {
  auto t = torch::zeros({3, 3});
  t.index_put_({1, 1}, 5);
  t.index_put_({Slice(), 2}, torch::ones({3}));
  t.index_put_({Ellipsis, 0}, -1);
  t[2][1] = 7;
  t[0] = torch::tensor({1.0, 2.0, 3.0});
  EXPECT_TRUE(
      torch::equal(t, torch::tensor({{1.0, 2.0, 3.0}, {-1.0, 5.0, 1.0}, {-1.0, 7.0, 1.0}})));
  t.index_put_({torch::tensor({0, 0})}, torch::ones({2, 3}), /*accumulate=*/true);
  EXPECT_EQ(t[0][2].item<float>(), 5);
}

TEST(Indexing, FunctionsIndexAndPut) {
  auto t = torch::arange(6).reshape({2, 3});
  const auto columns = torch::tensor({2, 0}), row = torch::tensor({1});
  EXPECT_TRUE(torch::index(t, {std::nullopt, columns}).equal(t.index({Slice(), columns})));
  EXPECT_TRUE(torch::index(t, {row}).equal(torch::tensor({{3, 4, 5}})));
  const auto put = torch::index_put(t, {row, torch::Tensor()}, torch::tensor(7));
  EXPECT_TRUE(put.equal(torch::tensor({{0, 1, 2}, {7, 7, 7}})));
  at::index_put_(t, {row, columns}, torch::tensor({10}), /*accumulate=*/true);
  EXPECT_TRUE(t.equal(torch::tensor({{0, 1, 2}, {13, 4, 15}})));
}

TEST(Indexing, IndicesCanBePrinted) {
  const auto text = [](const auto& value) { return c10::str(value); };
  EXPECT_EQ(text(Slice(1, 2, 3)), "1:2:3");
  EXPECT_EQ(text(std::vector<TensorIndex>{None, "...", 0, true, Slice(1, 5, 2)}),
            "(None, ..., 0, true, 1:5:2)");
}

TEST(Indexing, ThrowsForInvalidIndices) {
  const auto t = torch::zeros({2, 2});
  EXPECT_THROW(t[2], c10::IndexError);
  EXPECT_THROW(t.index({0, 0, 0}), c10::IndexError);
  EXPECT_THROW(t.index({".."}), c10::Error);
}
