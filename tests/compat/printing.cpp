#include <gtest/gtest.h>
#include <torch/torch.h>

// Stream output of types other than tensors, as in LibTorch.

namespace {

template <class... T>
std::string print(const T&... values) {
  std::ostringstream out;
  const char* separator = "";
  ((out << separator << values, separator = " "), ...);
  return out.str();
}

}  // namespace

TEST(Printing, PrintsDtypes) {
  EXPECT_EQ(print(torch::kByte, torch::kLong, torch::kHalf, torch::kComplexDouble, torch::kBool),
            "Byte Long Half ComplexDouble Bool");
  EXPECT_EQ(print(torch::ones({1}).dtype(), torch::tensor(1).dtype(), torch::tensor(true).dtype()),
            "float long int bool");
  EXPECT_EQ(
      print(torch::scalarTypeToTypeMeta(torch::kByte), torch::scalarTypeToTypeMeta(torch::kShort),
            torch::scalarTypeToTypeMeta(torch::kHalf),
            torch::scalarTypeToTypeMeta(torch::kComplexFloat)),
      "unsigned char short int c10::Half c10::complex<float>");
}

TEST(Printing, PrintsDevicesAndLayouts) {
  EXPECT_EQ(print(torch::Device("cuda:1"), torch::Device(torch::kCPU), torch::kCUDA, torch::kMeta),
            "cuda:1 cpu cuda meta");
  EXPECT_EQ(
      print(torch::kStrided, torch::MemoryFormat::Preserve, torch::MemoryFormat::ChannelsLast),
      "Strided Preserve ChannelsLast");
}

TEST(Printing, PrintsDeprecatedTypes) {
  EXPECT_EQ(print(torch::ones({1}).type(), torch::tensor(1).type()), "CPUFloatType CPULongType");
}

TEST(Printing, PrintsLists) {
  EXPECT_EQ(
      print(torch::ones({2, 3}).sizes(), torch::IntArrayRef(), at::ArrayRef<double>({1.5, 2})),
      "[2, 3] [] [1.5, 2]");
  EXPECT_EQ(print(std::vector<int64_t>{2, 3}, std::vector<at::ScalarType>{at::kInt}), "2 3 Int");
  EXPECT_EQ(print(std::map<std::string, int>{{"a", 1}, {"b", 2}}, std::set<int>{3}),
            "(a, 1) (b, 2) 3");
}

TEST(Printing, PrintsNumbers) {
  EXPECT_EQ(print(torch::Scalar(1), torch::Scalar(1.5), torch::Scalar(true), torch::Scalar(2.0),
                  torch::Scalar(1e-10), torch::Scalar(3.14159265358979)),
            "1 1.5 true 2 1e-10 3.14159");
  EXPECT_EQ(print(c10::Half(1.5F), c10::BFloat16(2.5F), c10::complex<float>(1, 2)),
            "1.5 2.5 (1,2)");
}

TEST(Printing, PrintsTensorOptions) {
  EXPECT_EQ(
      print(torch::TensorOptions()),
      "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), "
      "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))");
  EXPECT_EQ(print(torch::TensorOptions()
                      .dtype(torch::kInt)
                      .device("cuda:1")
                      .layout(torch::kStrided)
                      .requires_grad(true)
                      .pinned_memory(true)
                      .memory_format(torch::MemoryFormat::ChannelsLast)),
            "TensorOptions(dtype=int, device=cuda:1, layout=Strided, requires_grad=true, "
            "pinned_memory=true, memory_format=ChannelsLast)");
}
