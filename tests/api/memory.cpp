// Handles, dtypes and memory of tensors.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/hearth.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

TEST(Handles, AreEmptyAfterMove) {
  Tensor p = ones({2}), q = zeros({3});
  const Tensor old = p;
  p = std::move(q);
  EXPECT_FALSE(q.defined());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(old.use_count(), 1U);
  EXPECT_EQ(p.size(0), 3);
  Tensor& same = p;
  p = std::move(same);
  EXPECT_EQ(p.size(0), 3);

  Storage a = ones({2}).storage(), b = zeros({3}).storage();
  a = std::move(b);
  EXPECT_FALSE(b);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.use_count(), 1U);
}

TEST(Dtypes, MustBeValid) {
  const auto unknown = ScalarType(77);
  const Tensor t = ones({2});
  EXPECT_ERROR(t.to(ScalarType::Undefined),
               "ScalarType 47 (Undefined) is not a dtype of tensor elements");
  EXPECT_ERROR(t.to(unknown), "ScalarType 77 (Undefined) is not a dtype of tensor elements");
  EXPECT_ERROR(t.to(kCPU, unknown), "is not a dtype");
  EXPECT_ERROR(t.to(TensorOptions(unknown)), "is not a dtype");
  EXPECT_ERROR(t.sum(unknown), "is not a dtype");
  EXPECT_ERROR(t.sum(0, false, ScalarType::Undefined), "is not a dtype");
  EXPECT_ERROR(t.mean(unknown), "mean(): could not infer output dtype");
  for (const ScalarType type : {unknown, ScalarType::Undefined, ScalarType(-3), kQInt8, kBits16}) {
    float data[2] = {};
    EXPECT_ERROR(empty({2}, type), "is not a dtype");
    EXPECT_ERROR(empty_strided({2}, {1}, type), "is not a dtype");
    EXPECT_ERROR(zeros({2}, type), "is not a dtype");
    EXPECT_ERROR(full({2}, 1, type), "is not a dtype");
    EXPECT_ERROR(ones_like(t, type), "is not a dtype");
    EXPECT_ERROR(arange(3, type), "is not a dtype");
    EXPECT_ERROR(linspace(0, 1, 3, type), "is not a dtype");
    EXPECT_ERROR(rand({2}, type), "is not a dtype");
    EXPECT_ERROR(randperm(3, type), "is not a dtype");
    EXPECT_ERROR(tensor({1, 2}, type), "is not a dtype");
    EXPECT_ERROR(from_blob(data, {2}, type), "is not a dtype");
    EXPECT_ERROR(set_default_dtype(type), "is not a dtype");
  }
}

TEST(FromBlob, ChecksItsArguments) {
  float data[4] = {1, 2, 3, 4};
  EXPECT_ERROR(from_blob(data, {2, 2}, {INT64_MAX, INT64_MAX}),
               "Storage size calculation overflowed with sizes=[2, 2] and strides=");
  EXPECT_ERROR(from_blob(data, {2, 2}, {-1, 1}), "and strides=[-1, 1]");
  EXPECT_ERROR(from_blob(nullptr, {2}), "the pointer is null");
  EXPECT_EQ(data[3], 4);
}

TEST(FromBlob, AcceptsStridesAndADeleter) {
  float data[4] = {1, 2, 3, 4};
  int freed = 0;
  Tensor t = from_blob(
      data, {2, 2}, {1, 2}, [&](void* p) { freed += p == data; }, kFloat);
  EXPECT_EQ(t[0][1].item<float>(), 3);
  t.reset();
  EXPECT_EQ(freed, 1);
}

TEST(FromBlob, ChecksTheDeviceOfTheMemory) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  float data[2] = {1, 2};
  const Device first("cuda:0"), second("cuda:1");
  const Tensor on_first = ones({2}, first);
  EXPECT_ERROR(from_blob(data, {2}, first),
               "The specified pointer resides on host memory and is not registered with any CUDA");
  EXPECT_ERROR(from_blob(on_first.data_ptr(), {2}, second),
               "specified device cuda:1 does not match device of data cuda:0");
  EXPECT_ERROR(from_blob(on_first.data_ptr(), {2}),
               "the pointer is to memory of cuda:0, but the options say cpu");
  const Tensor alias = from_blob(on_first.data_ptr(), {2}, first);
  EXPECT_EQ(alias.sum().item<float>(), 2);
  const Tensor pinned = ones({2}).pin_memory();
  EXPECT_EQ(from_blob(pinned.data_ptr(), {2}, first).sum().item<float>(), 2);
  EXPECT_EQ(from_blob(pinned.data_ptr(), {2}).sum().item<float>(), 2);
}

TEST(Resize, GrowsTheStorageIfNeeded) {
  Tensor t = arange(6, kFloat).view({2, 3});
  const void* data = t.data_ptr();
  EXPECT_EQ(t.resize_({2, 2}).sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(t.data_ptr(), data);
  EXPECT_EQ(t[1][1].item<float>(), 3);
  t.resize_({4, 100});
  EXPECT_EQ(t.stride(0), 100);
  EXPECT_EQ(t.flatten()[5].item<float>(), 5);  // old elements are kept
  t.resize_({1, 2, 3, 4}, MemoryFormat::ChannelsLast);
  EXPECT_TRUE(t.is_contiguous(MemoryFormat::ChannelsLast));
  resize_(t, {0});
  EXPECT_EQ(t.numel(), 0);
}

TEST(Resize, FailureLeavesTheTensorUnchanged) {
  float data[2] = {1, 2};
  const Tensor t = from_blob(data, {2});
  EXPECT_ERROR(t.resize_({9}), "Trying to resize storage that is not resizable");
  EXPECT_EQ(t.numel(), 2);
  EXPECT_ERROR(t.resize_({-1}), "negative dimension");
  EXPECT_ERROR(ones({2}, requires_grad()).resize_({3}),
               "cannot resize variables that require grad");
  EXPECT_ERROR(ones({2}).resize_({3}, MemoryFormat::Preserve), "Unsupported memory format");
}

TEST(Accessors, PackedAccessorsCopyTheirSizes) {
  const Tensor t = arange(6, kFloat).view({2, 3});
  const PackedTensorAccessor32<float, 2> small = t.packed_accessor32<float, 2>();
  const auto large = t.t().packed_accessor64<float, 2>();
  EXPECT_EQ(small[1][2], 5);
  EXPECT_EQ(large[2][1], 5);
  EXPECT_EQ(small.size(1), 3);
  const auto constant = t.packed_accessor32<const float, 2>();
  static_assert(std::is_same_v<decltype(constant[1][2]), const float&>);
  EXPECT_EQ((t.generic_packed_accessor<float, 2, DefaultPtrTraits, int16_t>()[1][0]), 3);
  small[0][0] = 7;
  EXPECT_EQ(t[0][0].item<float>(), 7);
  EXPECT_ERROR((t.packed_accessor32<double, 2>()), "expected scalar type Double but found Float");
  EXPECT_ERROR((t.packed_accessor32<float, 3>()), "expected 3 dims but tensor has 2");
  EXPECT_ERROR((t.to(kMeta).packed_accessor64<float, 2>()), "this tensor is on meta");
}

/// For kernels: the host may not read the memory, but sizes and strides.
TEST(Accessors, PackedAccessorsOfGpusPointToTheirMemory) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU";
  const Tensor t = zeros({2, 3}, TensorOptions(kCUDA)).t();
  const auto a = t.packed_accessor64<float, 2, RestrictPtrTraits>();
  EXPECT_EQ(a.data(), t.data_ptr());
  EXPECT_EQ(a.size(0), 3);
  EXPECT_EQ(a.stride(0), 1);
  EXPECT_ERROR((t.accessor<float, 2>()),
               "accessor() needs a CPU tensor, but this one is on cuda:0");
}

TEST(Names, OfTensorsAndStoragesMatchLibTorch) {
  const Tensor t = arange(6, kFloat);
  EXPECT_EQ(t.storage().data_ptr().get(), t.data_ptr());
  EXPECT_TRUE(t.storage().data_ptr());
  EXPECT_TRUE(is_floating_point(t));
  EXPECT_FALSE(is_complex(t));
  EXPECT_TRUE(is_signed(t));
  const std::vector<Tensor> parts = t.split_with_sizes({1, 5});
  EXPECT_EQ(parts[1].size(0), 5);
  EXPECT_EQ(split_with_sizes(t, {2, 4})[0].size(0), 2);
}

TEST(Indices, MustNotBeNull) {
  const char* const null_text = nullptr;
  EXPECT_ERROR(indexing::TensorIndex{null_text}, "to represent an ellipsis index");
}

}  // namespace
}  // namespace hearth
