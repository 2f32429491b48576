// Overload resolution, and functions in all their overloads. The expected numbers are LibTorch's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <optional>
#include <tuple>
#include <vector>

namespace {

using torch::Tensor;

const Tensor& matrix() {
  static const Tensor x = torch::tensor({{1.0, 2.0, 4.0}, {1.0, 5.0, 0.0}});
  return x;
}

void expect_near(const Tensor& got, const std::vector<double>& wanted) {
  const Tensor flat = got.to(torch::kDouble).contiguous().view({-1});
  ASSERT_EQ(flat.numel(), int64_t(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(flat.data_ptr<double>()[i], wanted[i], 1e-6);
}

TEST(Overloads, VarTreatsAnIntAsDimension) {
  const std::vector<double> rows{7.0 / 3, 7}, columns{0, 4.5, 8};
  expect_near(torch::var(matrix(), 1), rows);
  expect_near(torch::var(matrix(), {1}), rows);
  expect_near(matrix().var(0), columns);
  expect_near(matrix().var(1), rows);
  expect_near(matrix().std(0).square(), columns);
  expect_near(torch::std(matrix(), {1}).square(), rows);
  expect_near(std::get<0>(torch::var_mean(matrix(), 1)), rows);
  expect_near(std::get<1>(torch::var_mean(matrix(), 1)), {7.0 / 3, 2});
  expect_near(std::get<1>(torch::std_mean(matrix(), {1})), {7.0 / 3, 2});
}

TEST(Overloads, VarTreatsABoolAsUnbiased) {
  // The sum of the squared distances of the six numbers from their mean, 13 / 6.
  const double squares = 47 - 13 * 13.0 / 6;
  expect_near(torch::var(matrix(), true), {squares / 5});
  expect_near(matrix().var(false), {squares / 6});
  expect_near(std::get<0>(torch::var_mean(matrix(), false)), {squares / 6});
}

TEST(Overloads, AcceptMissingOptionalTensorsInEachForm) {
  const Tensor x = torch::ones({2, 3}), weight = torch::ones({4, 3}), bias = torch::ones({4});
  const std::optional<Tensor> none, some = bias;
  expect_near(torch::linear(x, weight, std::nullopt), std::vector<double>(8, 3));
  expect_near(torch::linear(x, weight, none), std::vector<double>(8, 3));
  expect_near(torch::linear(x, weight, {}), std::vector<double>(8, 3));
  expect_near(torch::linear(x, weight, Tensor()), std::vector<double>(8, 3));
  expect_near(torch::linear(x, weight, some), std::vector<double>(8, 4));
  const Tensor rows = torch::tensor({{1.0, 2.0, 4.0}, {3.0, 5.0, 0.0}});
  const Tensor normal =
      torch::batch_norm(rows, std::nullopt, none, {}, Tensor(), true, 0.1, 0, false);
  expect_near(normal, {-1, -1, 1, 1, 1, -1});
  EXPECT_THROW(torch::batch_norm(rows, none, none, torch::zeros({3}, torch::kDouble), none, true,
                                 0.1, 0, false),
               c10::ValueError);
  expect_near(torch::layer_norm(matrix(), {3}, std::nullopt, std::nullopt, 0).sum(1), {0, 0});
  const Tensor target = torch::tensor({2, 1});
  expect_near(torch::nll_loss(matrix(), target, std::nullopt, at::Reduction::Sum), {-9});
  expect_near(torch::nll_loss(matrix(), target, std::optional<Tensor>(torch::tensor({1., 2., 3.})),
                              at::Reduction::Sum),
              {-22});
}

TEST(Overloads, AcceptGeneratorsLikeLibTorch) {
  const auto generator = [] { return at::detail::createCPUGenerator(5); };
  const Tensor first = torch::randperm(9, generator());
  EXPECT_TRUE(torch::equal(first, torch::randperm(9, generator())));
  EXPECT_FALSE(torch::equal(first, torch::arange(9)));
  EXPECT_TRUE(torch::equal(torch::randint(99, {7}, generator()),
                           torch::randint(0, 99, {7}, generator(), torch::kLong)));
  EXPECT_TRUE(torch::equal(torch::rand({4}, generator()),
                           torch::rand({4}, std::optional<at::Generator>(generator()))));
  torch::manual_seed(5);
  EXPECT_TRUE(
      torch::equal(torch::rand({4}, std::nullopt, torch::kFloat), torch::rand({4}, generator())));
  EXPECT_TRUE(
      torch::equal(torch::randn_like(matrix(), generator()), torch::randn({2, 3}, generator())));
}

TEST(Overloads, RandomAcceptsOneBoundOrTwo) {
  const Tensor x = torch::empty({1000}, torch::kLong);
  x.random_(3);
  EXPECT_EQ(x.min().item<int64_t>(), 0);
  EXPECT_EQ(x.max().item<int64_t>(), 2);
  x.random_(5, 7);
  EXPECT_EQ(x.min().item<int64_t>(), 5);
  EXPECT_EQ(x.max().item<int64_t>(), 6);
  const Tensor bytes = torch::empty({5000}, torch::kByte);
  bytes.random_(250, std::optional<int64_t>());
  EXPECT_EQ(bytes.min().item<int64_t>(), 250);
  EXPECT_EQ(bytes.max().item<int64_t>(), 255);
  x.random_(-1, std::optional<int64_t>());
  EXPECT_GE(x.min().item<int64_t>(), -1);
}

TEST(Overloads, RandomLikeKeepsStrides) {
  const Tensor transposed = torch::zeros({3, 4}).t();
  for (const Tensor& t :
       {torch::rand_like(transposed), torch::randn_like(transposed),
        torch::randint_like(transposed, 7), torch::randint_like(transposed, 2, 7)})
    EXPECT_EQ(t.strides(), transposed.strides());
  EXPECT_TRUE(torch::rand_like(transposed, torch::TensorOptions(), torch::MemoryFormat::Contiguous)
                  .is_contiguous());
}

TEST(Overloads, SplitAndNarrowByTensors) {
  const Tensor x = torch::arange(6);
  const auto parts = torch::tensor_split(x, torch::tensor({1, 4}));
  ASSERT_EQ(parts.size(), 3u);
  expect_near(parts[1], {1, 2, 3});
  EXPECT_EQ(x.tensor_split(torch::tensor(2)).size(), 2u);
  EXPECT_THROW(x.tensor_split(torch::tensor({1.0})), c10::Error);
  expect_near(x.narrow(0, torch::tensor(2), 3), {2, 3, 4});
  EXPECT_THROW(x.narrow(0, torch::tensor({2}), 3), c10::Error);
}

TEST(Overloads, ConvertToPropertiesOfOtherTensors) {
  const Tensor x = torch::ones({2, 3}, torch::kInt), y = torch::ones({1}, torch::kDouble);
  EXPECT_EQ(x.to(y.dtype()).scalar_type(), torch::kDouble);
  EXPECT_EQ(x.to(y.device(), y.dtype()).scalar_type(), torch::kDouble);
  EXPECT_EQ(x.type_as(y).scalar_type(), torch::kDouble);
  EXPECT_EQ(x.to({torch::kCPU, y.get_device()}).device(), torch::Device("cpu"));
  EXPECT_EQ(x.to({torch::kMeta, 0}).device().type(), torch::kMeta);
  static_assert(std::is_same_v<decltype(x.get_device()), c10::DeviceIndex>);
  const Tensor image = torch::ones({1, 2, 3, 4});
  EXPECT_TRUE(image.to(y, false, false, torch::MemoryFormat::ChannelsLast)
                  .is_contiguous(torch::MemoryFormat::ChannelsLast));
}

TEST(Overloads, CountNonzeroAcceptsEachFormOfDim) {
  expect_near(torch::count_nonzero(matrix(), std::nullopt), {5});
  expect_near(matrix().count_nonzero(std::vector<int64_t>{1}), {3, 2});
  expect_near(matrix().count_nonzero(std::optional<int64_t>(0)), {2, 2, 1});
}

TEST(Overloads, RangesAcceptNumbersAndTensors) {
  expect_near(torch::linspace(torch::tensor(1.0), 3, 3), {1, 2, 3});
  expect_near(torch::linspace(1, torch::tensor(3.0), 3), {1, 2, 3});
  expect_near(torch::logspace(torch::tensor(0.0), torch::tensor(2.0), 3), {1, 10, 100});
  EXPECT_THROW(torch::linspace(torch::tensor({1.0}), 3, 3), c10::Error);
  EXPECT_EQ(torch::result_type(2.5, torch::ones({1}, torch::kInt)), torch::kFloat);
  EXPECT_EQ(torch::result_type(1, 2.5), torch::kFloat);
}

TEST(Overloads, OutFormsOfScalarsAndFullReductions) {
  Tensor out = torch::empty({0}), flags = torch::empty({0}, torch::kInt);
  torch::sum_out(out, matrix().to(torch::kFloat));
  expect_near(out, {13});
  torch::mean_out(out, matrix().to(torch::kFloat), torch::kFloat);
  expect_near(out, {13.0 / 6});
  torch::norm_out(out, matrix().to(torch::kFloat), 1);
  expect_near(out, {13});
  torch::bitwise_and_out(flags, 3, torch::tensor({6, 1}).to(torch::kInt));
  expect_near(flags, {2, 1});
  Tensor values = torch::empty({0}, torch::kDouble);
  torch::hstack_out(values, {matrix(), matrix()});
  EXPECT_EQ(values.sizes(), (std::vector<int64_t>{2, 6}));
}

TEST(Overloads, QueriesMatchLibTorch) {
  EXPECT_TRUE(torch::tensor(2).is_nonzero());
  EXPECT_FALSE(torch::is_nonzero(torch::tensor({0.0})));
  EXPECT_THROW(matrix().is_nonzero(), c10::Error);
  EXPECT_TRUE(matrix().is_same_size(torch::zeros({2, 3})));
  EXPECT_FALSE(torch::is_same_size(matrix(), torch::zeros({3, 2})));
  EXPECT_EQ(torch::numel(matrix()), 6);
  EXPECT_EQ(torch::size(matrix(), -1), 3);
  EXPECT_EQ(torch::stride(matrix(), 0), 3);
  Tensor x = torch::zeros({2});
  x.resize_as_(matrix());
  EXPECT_EQ(x.sizes(), matrix().sizes());
  EXPECT_TRUE(torch::equal(torch::real(matrix()), matrix()));
  EXPECT_TRUE(torch::equal(torch::conj(matrix()), matrix()));
  EXPECT_TRUE(torch::equal(matrix().adjoint(), matrix().t()));
  EXPECT_TRUE(torch::isreal(matrix()).all().item<bool>());
  EXPECT_THROW(torch::imag(matrix()), c10::TypeError);
}

TEST(Overloads, JoinAddDimensionsAndPad) {
  EXPECT_EQ(torch::atleast_1d(torch::tensor(1)).dim(), 1);
  EXPECT_EQ(torch::atleast_2d(torch::tensor({1, 2})).sizes(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(torch::atleast_3d(torch::tensor({1, 2})).sizes(), (std::vector<int64_t>{1, 2, 1}));
  EXPECT_EQ(torch::atleast_3d(matrix()).sizes(), (std::vector<int64_t>{2, 3, 1}));
  EXPECT_EQ(torch::atleast_2d({torch::tensor(1), matrix()})[0].dim(), 2);
  expect_near(torch::block_diag({torch::tensor({{1, 2}}), torch::tensor(3)}), {1, 2, 0, 0, 0, 3});
  EXPECT_EQ(torch::row_stack({matrix(), matrix()}).size(0), 4);
  EXPECT_EQ(torch::concatenate({matrix(), matrix()}, 1).size(1), 6);
  const Tensor line = torch::tensor({{1., 2., 3.}});
  expect_near(torch::reflection_pad1d(line, {1, 1}), {2, 1, 2, 3, 2});
  expect_near(torch::replication_pad1d(line, {1, 1}), {1, 1, 2, 3, 3});
}

TEST(Overloads, PutByIndexAndFillDiagonal) {
  Tensor x = torch::zeros({2, 3}, torch::kLong);
  x.put_(torch::tensor({1, -1}), torch::tensor({7, 8}));
  expect_near(x, {0, 7, 0, 0, 0, 8});
  expect_near(x.put(torch::tensor({1, 1}), torch::tensor({1, 2}), true), {0, 10, 0, 0, 0, 8});
  EXPECT_THROW(x.put_(torch::tensor({1}), torch::tensor({7, 8})), c10::IndexError);
  Tensor tall = torch::zeros({7, 2});
  tall.fill_diagonal_(1);
  expect_near(tall.sum(1), {1, 1, 0, 0, 0, 0, 0});
  tall.zero_().fill_diagonal_(1, true);
  expect_near(tall.sum(1), {1, 1, 0, 1, 1, 0, 1});
}

TEST(Overloads, SpecialFunctionsAreAliases) {
  const Tensor x = torch::tensor({0.5, 0.25});
  EXPECT_TRUE(torch::equal(torch::special_expit(x), x.sigmoid()));
  EXPECT_TRUE(torch::equal(torch::special_xlogy(2, x), torch::xlogy(2, x)));
  EXPECT_TRUE(torch::equal(torch::special_logsumexp(x, 0), x.logsumexp(0)));
  EXPECT_TRUE(torch::equal(torch::special_softmax(x, 0), x.softmax(0)));
}

}  // namespace
