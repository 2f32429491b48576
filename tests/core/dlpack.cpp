#include "hearth/dlpack.h"

#include <gtest/gtest.h>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

TEST(Dlpack, SharesMemoryBothWays) {
  Tensor imported;
  {
    const Tensor base = arange(12, kFloat).view({3, 4});
    const Tensor view = base.slice(0, 1).t();
    DLManagedTensor* shared = toDLPack(view);
    EXPECT_EQ(shared->dl_tensor.data, view.data_ptr());
    EXPECT_EQ(shared->dl_tensor.ndim, 2);
    EXPECT_EQ(shared->dl_tensor.strides[0], 1);
    EXPECT_EQ(shared->dl_tensor.strides[1], 4);
    imported = fromDLPack(shared);
    base[1][0] = 100;
  }
  EXPECT_EQ(imported.sizes(), IntArrayRef({4, 2}));
  EXPECT_EQ(imported[0][0].item<float>(), 100);
  EXPECT_EQ(imported[3][1].item<float>(), 11);
}

TEST(Dlpack, KeepsStridesThatAreNotNeeded) {
  for (const Tensor& tensor : {ones({1, 3, 4}), ones({0, 3}), ones({1, 4}).t(), ones({})})
    EXPECT_EQ(fromDLPack(toDLPack(tensor)).strides(), tensor.strides());
}

TEST(Dlpack, KeepsEveryDtype) {
#define HEARTH_EXPECT_KEPT(type, Name)                                                          \
  EXPECT_EQ(fromDLPack(toDLPack(ones({2}, ScalarType::Name))).scalar_type(), ScalarType::Name); \
  EXPECT_TRUE(fromDLPackVersioned(toDLPackVersioned(ones({2}, ScalarType::Name)))               \
                  .equal(ones({2}, ScalarType::Name)));
  HEARTH_ALL_DTYPES(HEARTH_EXPECT_KEPT)
#undef HEARTH_EXPECT_KEPT
}

TEST(Dlpack, CallsTheDeleterOnce) {
  float data[] = {1, 2, 3, 4};
  int64_t sizes[] = {3};
  static int deletions = 0;
  DLManagedTensor source{};
  source.dl_tensor = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, sizes, nullptr, sizeof(float)};
  source.deleter = [](DLManagedTensor*) { ++deletions; };
  {
    const Tensor tensor = fromDLPack(&source);
    EXPECT_EQ(tensor[2].item<float>(), 4);
    const Tensor view = tensor.slice(0, 1);
  }
  EXPECT_EQ(deletions, 1);
  int own_deletions = 0;
  fromDLPack(&source, [&](void*) { ++own_deletions; });
  EXPECT_EQ(own_deletions, 1);
  EXPECT_EQ(deletions, 1);
}

TEST(Dlpack, RefusesUnsupportedTensors) {
  int64_t sizes[] = {1};
  float data = 0;
  DLManagedTensorVersioned source{};
  source.version = {1, 0};
  source.dl_tensor = {&data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, sizes, nullptr, 0};
  const auto error = [&] { return testing::error_of([&] { fromDLPackVersioned(&source); }); };
  EXPECT_EQ(error(), "no error");
  source.version.major = 2;
  EXPECT_NE(error().find("version 2 of DLPack"), std::string::npos);
  source.version.major = 1;
  source.dl_tensor.dtype = {kDLUInt, 24, 1};
  EXPECT_EQ(error(), "Unsupported kUInt bits 24");
  source.dl_tensor.dtype = {kDLFloat, 32, 4};
  EXPECT_EQ(error(), "ATen does not support lanes != 1 for dtype code2");
  source.dl_tensor.dtype = {17, 4, 1};
  EXPECT_EQ(error(), "Unsupported code 17");
  source.dl_tensor.dtype = {kDLFloat, 32, 1};
  source.dl_tensor.device.device_type = kDLROCM;
  EXPECT_EQ(error(), "Unsupported device_type: 10");
  source.dl_tensor.device.device_type = kDLCPU;
  source.dl_tensor.ndim = 99;
  EXPECT_NE(error().find("of 99 dimensions"), std::string::npos);
  source.dl_tensor.ndim = 1;
  source.dl_tensor.byte_offset = 3;
  EXPECT_EQ(error(), "byte offset must be multiple of element size");
  EXPECT_ERROR(toDLPack(ones({1}, kMeta)), "Cannot pack tensors on meta");
  EXPECT_ERROR(toDLPack(Tensor()), "tensor does not have a device");
}

TEST(Dlpack, SharesMemoryOfGpus) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const Tensor tensor = arange(4, TensorOptions(kCUDA).dtype(kFloat));
  const Tensor imported = fromDLPack(toDLPack(tensor));
  EXPECT_EQ(imported.device(), tensor.device());
  tensor.fill_(7);
  EXPECT_EQ(imported.sum().item<float>(), 28);
}

}  // namespace
}  // namespace hearth
