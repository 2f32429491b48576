#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

// LibTorch programs use both namespaces at once, add to them and specialise their templates.
using namespace torch;
using namespace at;

namespace torch {
struct AddedByTheProgram {
  Tensor value;
};
template <class T>
struct Trait {
  static constexpr int value = 0;
};
}  // namespace torch
template <>
struct torch::Trait<int> {
  static constexpr int value = 1;
};

static_assert(std::is_same_v<torch::Tensor, at::Tensor>);
static_assert(std::is_same_v<torch::Tensor, torch::autograd::Variable>);
static_assert(std::is_same_v<at::Scalar, c10::Scalar>);
static_assert(std::is_same_v<c10::optional<int>, std::optional<int>>);
static_assert(std::is_same_v<torch::IntArrayRef, c10::ArrayRef<int64_t>>);
static_assert(std::is_same_v<at::ScalarType, torch::Dtype>);
static_assert(std::is_base_of_v<std::exception, c10::Error>);
static_assert(std::is_base_of_v<c10::Error, torch::IndexError>);
static_assert(torch::Trait<int>::value == 1 && torch::Trait<float>::value == 0);
static_assert(torch::kF32 == at::kFloat && torch::kInt64 == c10::kLong);

TEST(Names, BothNamespacesCanBeUsedAtOnce) {
  Tensor a = torch::ones({2, 2});
  Device device = kCPU;
  EXPECT_TRUE(a.device().type() == kCPU && device.is_cpu());
  const NoGradGuard guard;
  EXPECT_FALSE(GradMode::is_enabled());
  EXPECT_EQ(torch::cuda::device_count() > 0, torch::cuda::is_available());
  EXPECT_EQ(a.index({torch::indexing::Slice(0, 1)}).sizes(), IntArrayRef({1, 2}));
  EXPECT_EQ(tensor(1).dtype(), kInt);
  EXPECT_EQ(AddedByTheProgram{a}.value.numel(), 4);
}

TEST(Names, TensorLiteralsOfTheNamespacesDiffer) {
  EXPECT_EQ(torch::tensor(1).dtype(), torch::kLong);
  EXPECT_EQ(at::tensor(1).dtype(), torch::kInt);
  EXPECT_EQ(at::tensor(1).sizes(), torch::IntArrayRef({1}));
  EXPECT_EQ(torch::tensor(1).dim(), 0);
  EXPECT_EQ(torch::tensor({1.5, 2.0}).dtype(), torch::kFloat);
  EXPECT_EQ(at::tensor({1.5, 2.0}).dtype(), torch::kDouble);
  EXPECT_EQ(at::tensor({1, 2}).dtype(), torch::kInt);
  EXPECT_EQ(at::tensor(std::vector<float>{1, 2}).dtype(), torch::kFloat);
  EXPECT_EQ(at::tensor({1, 2}, at::kDouble).dtype(), torch::kDouble);
  EXPECT_EQ(torch::tensor(std::vector<int>{1, 2}).dtype(), torch::kLong);
}

TEST(Names, IrangeCounts) {
  int64_t sum = 0;
  for (const auto i : c10::irange(5)) sum += i;
  for (const auto i : c10::irange(2, 4)) sum += 10 * i;
  for (const auto i : c10::irange(int64_t(-3))) sum += 1000 + i;
  EXPECT_EQ(sum, 10 + 50);
  std::vector<size_t> seen;
  for (const auto i : c10::irange(torch::ones({3}).sizes().size() + 1)) seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<size_t>{0, 1}));
}

TEST(Names, SetThreadsAndSeeds) {
  const int before = torch::get_num_threads();
  torch::set_num_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  torch::set_num_threads(before);
  torch::manual_seed(7);
  const auto a = torch::rand({3});
  auto generator = at::detail::createCPUGenerator(7);
  EXPECT_TRUE(torch::equal(a, torch::rand({3}, generator)));
  at::manual_seed(7);
  EXPECT_TRUE(torch::equal(a, torch::rand(3)));
  torch::cuda::manual_seed_all(1);
}

TEST(Names, SetTheDefaultDtype) {
  const auto before = torch::get_default_dtype();
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  EXPECT_EQ(torch::ones({1}).dtype(), torch::kDouble);
  EXPECT_TRUE(torch::ones({1}).dtype() == caffe2::TypeMeta::Make<double>());
  torch::set_default_dtype(before);
  EXPECT_EQ(torch::typeMetaToScalarType(torch::ones({1}).dtype()), torch::kFloat);
  EXPECT_EQ(c10::CppTypeToScalarType<int64_t>::value, torch::kLong);
}
