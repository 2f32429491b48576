// Names and numbers of dtypes, layouts and backends, and predicates of devices, as LibTorch has
// them; the expected texts are LibTorch's.
#include <c10/core/Backend.h>
#include <c10/util/Float8_e4m3fn.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;

TEST(DtypeNames, HaveLibTorchsNumbers) {
  EXPECT_EQ(int(at::kComplexHalf), 8);
  EXPECT_EQ(int(at::kQInt8), 12);
  EXPECT_EQ(int(at::kQUInt8), 13);
  EXPECT_EQ(int(at::kQInt32), 14);
  EXPECT_EQ(int(at::kQUInt2x4), 17);
  EXPECT_EQ(int(at::kBits1x8), 18);
  EXPECT_EQ(int(at::kBits16), 22);
  EXPECT_EQ(int(torch::kFloat8_e5m2), 23);
  EXPECT_EQ(int(torch::kFloat8_e4m3fn), 24);
  EXPECT_EQ(int(torch::kFloat8_e5m2fnuz), 25);
  EXPECT_EQ(int(torch::kFloat8_e4m3fnuz), 26);
  EXPECT_EQ(int(torch::kUInt16), 27);
  EXPECT_EQ(int(c10::ScalarType::UInt64), 29);
  EXPECT_EQ(int(torch::kFloat8_e8m0fnu), 44);
  EXPECT_EQ(int(at::ScalarType::Undefined), 47);
  EXPECT_STREQ(c10::toString(at::kQUInt4x2), "QUInt4x2");
  EXPECT_STREQ(torch::toString(torch::kFloat8_e4m3fnuz), "Float8_e4m3fnuz");
  EXPECT_EQ(torch::zeros({1}, torch::kUInt32).dtype().name(), std::string("unsigned int"));
  EXPECT_EQ(torch::zeros({1}, torch::kUInt16).toString(), "CPUUInt16Type");
  EXPECT_NE(text_of_error([] { torch::empty({2}, torch::kQInt8); }).find("QInt8"),
            std::string::npos);
}

TEST(DtypeNames, HaveTypes) {
  static_assert(std::is_same_v<c10::impl::ScalarTypeToCPPTypeT<at::kUInt16>, uint16_t>);
  static_assert(c10::CppTypeToScalarType<c10::Float8_e5m2>::value == at::kFloat8_e5m2);
  static_assert(std::numeric_limits<c10::Float8_e4m3fn>::max() == 448.F);
  static_assert(std::numeric_limits<c10::Float8_e5m2>::lowest() == -57344.F);
  static_assert(std::numeric_limits<c10::Float8_e4m3fnuz>::epsilon() == 0.125F);
  EXPECT_TRUE(c10::isFloat8Type(at::kFloat8_e8m0fnu) && c10::isFloatingType(at::kFloat8_e5m2));
  EXPECT_TRUE(c10::isIntegralType(at::kUInt64, false) && !c10::isSignedType(at::kUInt64));
  EXPECT_TRUE(c10::isBarebonesUnsignedType(at::kUInt16) && c10::isBitsType(at::kBits8));
  EXPECT_EQ(c10::toUnderlying(at::kQInt32), at::kInt);
  torch::Tensor t = torch::ones({2}, torch::kFloat8_e4m3fn);
  t.data_ptr<c10::Float8_e4m3fn>()[1] = 3.F;
  EXPECT_EQ(t[1].item<float>(), 3);
  EXPECT_EQ(t.element_size(), 1);
}

TEST(DtypeNames, AreRefusedInPromotions) {
  EXPECT_EQ(c10::promoteTypes(at::kUInt16, at::kHalf), at::kHalf);
  EXPECT_EQ(text_of_error([] { c10::promoteTypes(at::kByte, at::kUInt32); }),
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            "Byte and UInt32");
  EXPECT_EQ(
      text_of_error([] { c10::promoteTypes(at::kFloat8_e5m2, at::kFloat); }),
      "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and Float");
}

TEST(DeviceNames, HavePredicates) {
  EXPECT_TRUE(torch::Device("hpu:0").is_hpu() && torch::Device(at::kXLA).is_xla());
  EXPECT_EQ(torch::Device("privateuseone:1").type(), at::Device::Type::PrivateUse1);
  EXPECT_FALSE(torch::ones({2}).is_hpu() || torch::ones({2}).is_mkldnn() ||
               torch::Tensor().is_ve());
  EXPECT_EQ(c10::COMPILE_TIME_MAX_DEVICE_TYPES, 21);
}

TEST(LayoutNames, AreRefused) {
  EXPECT_EQ(c10::str(at::kSparseCsr), "SparseCsr");
  EXPECT_EQ(torch::TensorOptions(at::kSparse).layout(), torch::kSparse);
  EXPECT_NE(text_of_error([] { torch::zeros({2}, torch::kSparse); }).find("of the layout Sparse"),
            std::string::npos);
  EXPECT_EQ(torch::ones({2}).layout(), torch::kStrided);
}

TEST(BackendNames, HaveDevices) {
  EXPECT_EQ(c10::backendToDeviceType(at::Backend::SparseCsrCUDA), at::kCUDA);
  EXPECT_EQ(c10::backendToDeviceType(at::Backend::MkldnnCPU), at::kCPU);
  EXPECT_STREQ(c10::toString(at::Backend::PrivateUse1), "PrivateUseOne");
  EXPECT_TRUE(c10::isSparse(at::Backend::SparseMPS) && !c10::isSparse(at::Backend::SparseCsrCPU));
  EXPECT_EQ(c10::layout_from_backend(at::Backend::SparseXPU), at::kSparse);
  EXPECT_EQ(torch::ones({2}).type().backend(), at::Backend::CPU);
  EXPECT_EQ(text_of_error([] { c10::backendToDeviceType(at::Backend::Undefined); }),
            "Undefined backend is not a valid device type");
}

}  // namespace
