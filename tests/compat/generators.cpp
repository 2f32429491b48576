// Generators as kernels use them, and the default dtype. The expected results are LibTorch's.
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

TEST(Generators, KernelsLockAGeneratorAndDrawNumbers) {
  at::Generator generator = at::detail::createCPUGenerator();
  EXPECT_EQ(generator.current_seed(), 67280421310721U);
  {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(5);
  }
  auto* const impl = at::check_generator<at::CPUGeneratorImpl>(generator);
  {
    const std::lock_guard<std::mutex> lock(impl->mutex_);
    EXPECT_EQ(impl->random(), 953453411U);
    EXPECT_EQ(impl->random64(), 1017893569125961711U);
  }
  EXPECT_EQ(generator.get<at::CPUGeneratorImpl>()->current_seed(), 5U);
  impl->set_current_seed(5);
  EXPECT_EQ(impl->random(), 953453411U);
}

TEST(Generators, TheDefaultOneReplacesNone) {
  const auto& standard = at::detail::getDefaultCPUGenerator();
  const auto own = at::make_generator<at::CPUGeneratorImpl>(9);
  EXPECT_EQ(at::get_generator_or_default<at::CPUGeneratorImpl>(std::nullopt, standard),
            standard.get<at::CPUGeneratorImpl>());
  EXPECT_EQ(at::get_generator_or_default<at::CPUGeneratorImpl>(own, standard),
            own.get<at::CPUGeneratorImpl>());
  EXPECT_THROW(at::check_generator<at::CPUGeneratorImpl>(std::nullopt), c10::Error);
  EXPECT_THROW(at::check_generator<at::CPUGeneratorImpl>(at::Generator()), c10::Error);
}

TEST(Generators, OpsWaitForTheProgramsLock) {
  at::Generator generator = at::detail::createCPUGenerator(5);
  std::future<torch::Tensor> drawn;
  {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    drawn = std::async(std::launch::async, [=] { return torch::rand({1}, generator); });
    EXPECT_EQ(drawn.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    EXPECT_EQ(generator.get<at::CPUGeneratorImpl>()->random(), 953453411U);
  }
  at::Generator other = at::detail::createCPUGenerator(5);
  other.get<at::CPUGeneratorImpl>()->random();
  EXPECT_TRUE(drawn.get().equal(torch::rand({1}, other)));
}

TEST(Generators, OnlyThoseOfTheCpuHaveATwister) {
  static_assert(!std::is_default_constructible_v<at::CPUGeneratorImpl>);
  const auto& gpu = hearth::default_generator(at::Device(at::kCUDA, 0));
  EXPECT_THROW(gpu.get<at::CPUGeneratorImpl>(), c10::Error);
  EXPECT_TRUE(gpu.mutex().try_lock());
  gpu.mutex().unlock();
}

TEST(DefaultDtype, IsATypeMeta) {
  const caffe2::TypeMeta type = torch::get_default_dtype();
  EXPECT_EQ(std::string(type.name()), "float");
  EXPECT_EQ(type.itemsize(), 4U);
  EXPECT_TRUE(type == torch::kFloat && type.isScalarType() && type.isScalarType(torch::kFloat));
  EXPECT_EQ(torch::typeMetaToScalarType(type), torch::kFloat);
  EXPECT_EQ(torch::get_default_dtype_as_scalartype(), torch::kFloat);
  EXPECT_EQ(c10::get_default_complex_dtype(), torch::kComplexFloat);
  std::ostringstream text;
  text << torch::get_default_dtype();
  EXPECT_EQ(text.str(), "float");
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  EXPECT_EQ(torch::ones(1).dtype(), torch::get_default_dtype());
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat));
  EXPECT_EQ(caffe2::TypeMeta::fromScalarType(torch::kInt), caffe2::TypeMeta::Make<int>());
}

TEST(DefaultDtype, RelatedDtypes) {
  EXPECT_EQ(c10::toComplexType(torch::kDouble), torch::kComplexDouble);
  EXPECT_EQ(c10::toComplexType(torch::kFloat), torch::kComplexFloat);
  EXPECT_EQ(c10::toRealValueType(torch::kComplexFloat), torch::kFloat);
  EXPECT_EQ(c10::toRealValueType(torch::kInt), torch::kInt);
  EXPECT_TRUE(c10::isReducedFloatingType(torch::kHalf) &&
              !c10::isReducedFloatingType(torch::kFloat));
  EXPECT_EQ(c10::get_channels_last_strides_2d({2, 3, 4, 5}), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_EQ(c10::get_channels_last_strides_2d({3, 4, 5}), (std::vector<int64_t>{1, 15, 3}));
}

TEST(DimVectors, CompareWithLists) {
  const at::DimVector sizes({3, 4});
  EXPECT_TRUE(sizes == c10::IntArrayRef({3, 4}) && torch::ones({3, 4}).sizes() == sizes);
  EXPECT_TRUE(sizes == at::DimVector({3, 4}) && sizes != at::DimVector({3}));
  std::ostringstream text;
  text << sizes;
  EXPECT_EQ(text.str(), "[3, 4]");
}

}  // namespace
