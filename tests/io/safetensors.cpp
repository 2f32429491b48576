#include "hearth/io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <sstream>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"

namespace hearth::io {
namespace {

using testing::bytes_of;
using testing::TempFolder;
using testing::write_bytes;

using C = complex<float>;

std::string header_of(const std::string& bytes) {
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  return bytes.substr(8, length);
}

TEST(Safetensors, WritesTheFormat) {
  const TempFolder folder;
  const std::string path = folder.path("a.safetensors");
  save_safetensors({{"b", tensor({true, false, true})},
                    {"f", tensor({{1.5F, -2.F}})},
                    {"s", scalar_tensor(3, kLong)},
                    {"é\"", empty({0, 3}, kHalf)}},
                   path, {{"key", "a\nb"}});
  const std::string bytes = bytes_of(path), header = header_of(bytes);
  EXPECT_EQ(header.substr(0, header.find_last_not_of(' ') + 1),
            "{\"__metadata__\":{\"key\":\"a\\nb\"},"
            "\"b\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[16,19]},"
            "\"f\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[8,16]},"
            "\"s\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
            "\"é\\\"\":{\"dtype\":\"F16\",\"shape\":[0,3],\"data_offsets\":[16,16]}}");
  EXPECT_EQ((8 + header.size()) % 64, 0U);
  const unsigned char data[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 1, 0, 1};
  ASSERT_EQ(bytes.size(), 8 + header.size() + sizeof data);
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + header.size(), data, sizeof data), 0);
}

/// The file was written by the Python package safetensors (tests/oracle/safetensors_file.py).
TEST(Safetensors, ReadsFilesFromPython) {
  const SafetensorsFile file(testing::fixture_path("python.safetensors"));
  EXPECT_EQ(file.metadata(), (Metadata{{"made_by", "python"}}));
  EXPECT_EQ(file.keys().size(), 20U);
  EXPECT_TRUE(file.get_tensor("matrix").equal(arange(6, kFloat).view({2, 3}) - 2.5));
  EXPECT_TRUE(file.get_tensor("bool").equal(tensor({true, false, true})));
  EXPECT_EQ(file.get_tensor("scalar").item<int64_t>(), -7);
  EXPECT_EQ(file.get_tensor("empty").sizes(), IntArrayRef({0, 3}));
  EXPECT_TRUE(file.get_tensor("complex64").equal(tensor({C(0, 1), C(1, 1)})));
  for (const ScalarType type : {kByte, kChar, kShort, kInt, kHalf, kBFloat16, kDouble})
    EXPECT_TRUE(file.get_tensor(python_name_of(type)).equal(arange(5, type))) << type;
  EXPECT_EQ(file.info("uint16").dtype, "U16");
  EXPECT_EQ(file.info("uint16").sizes, std::vector<int64_t>{2});
  const std::vector<ScalarType> stored = {kUInt16,          kUInt32,        kUInt64,
                                          kFloat8_e5m2,     kFloat8_e4m3fn, kFloat8_e5m2fnuz,
                                          kFloat8_e4m3fnuz, kFloat8_e8m0fnu};
  for (const ScalarType type : stored)
    EXPECT_TRUE(file.get_tensor(python_name_of(type)).equal(tensor({1, 128}).to(type))) << type;
  EXPECT_ERROR(file.get_tensor("nothing"), "has no tensor 'nothing'");
}

TEST(Safetensors, LoadedTensorsDoNotShareMemory) {
  const TempFolder folder;
  const std::string path = folder.path("a.safetensors");
  save_safetensors({{"large", arange(100000, kFloat)}, {"small", arange(10, kInt)}}, path);
  const std::string before = bytes_of(path);
  Tensor one, other;
  {
    const SafetensorsFile file(path);
    one = file.get_tensor("large");
    other = file.get_tensor("large");
  }
  one.add_(1);
  EXPECT_EQ(other[99999].item<float>(), 99999);
  EXPECT_EQ(one[99999].item<float>(), 100000);
  Tensor small = load_safetensors(path)[1].second;
  small.zero_();
  EXPECT_EQ(bytes_of(path), before);
  // Tensors stay valid when the file is replaced or removed.
  save_safetensors({{"large", zeros({100000})}}, path);
  std::filesystem::remove(path);
  EXPECT_EQ(other[12345].item<float>(), 12345);
}

TEST(Safetensors, WritesNonContiguousTensors) {
  const TempFolder folder;
  const std::string path = folder.path("a.safetensors");
  const Tensor base = arange(24, kFloat).view({4, 6}).requires_grad_();
  const Tensor numbers = tensor({C(1, 2), C(-3, 4)});
  save_safetensors({{"whole", base},
                    {"same", base},
                    {"transposed", base.t()},
                    {"column", base.select(1, 2)},
                    {"expanded", ones({1}).expand({1000})},
                    {"result", base * 2},
                    {"complex", numbers}},
                   path);
  for (const auto& [name, loaded] : load_safetensors(path)) {
    EXPECT_TRUE(loaded.is_contiguous()) << name;
    EXPECT_FALSE(loaded.requires_grad()) << name;
  }
  const SafetensorsFile file(path);
  EXPECT_TRUE(file.get_tensor("same").equal(base.detach()));
  EXPECT_TRUE(file.get_tensor("transposed").equal(base.detach().t()));
  EXPECT_TRUE(file.get_tensor("column").equal(base.detach().select(1, 2)));
  EXPECT_TRUE(file.get_tensor("expanded").equal(ones({1000})));
  EXPECT_TRUE(file.get_tensor("result").equal(base.detach() * 2));
  EXPECT_TRUE(file.get_tensor("complex").equal(numbers));
}

TEST(Safetensors, SupportsDevicesAndMaps) {
  const TempFolder folder;
  const std::string path = folder.path("a.safetensors");
  const Device device = cuda::is_available() ? Device("cuda:0") : Device(kCPU);
  const std::map<std::string, Tensor> tensors = {{"a", arange(5, TensorOptions(device))},
                                                 {"b", ones({2}, TensorOptions(device))}};
  save_safetensors(tensors, path);
  EXPECT_TRUE(load_safetensors(path)[0].second.is_cpu());
  const Tensor loaded = load_safetensors(path, device)[0].second;
  EXPECT_EQ(loaded.device().type(), device.type());
  EXPECT_TRUE(loaded.cpu().equal(arange(5)));
}

TEST(Safetensors, ReadsStreamsAndBuffers) {
  std::ostringstream out;
  save_safetensors({{"x", arange(40000, kFloat)}}, [&](const void* data, size_t bytes) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  });
  const std::string bytes = out.str();
  std::istringstream in(bytes);
  EXPECT_EQ(SafetensorsFile(in).get_tensor("x").sum().item<float>(),
            arange(40000, kFloat).sum().item<float>());
  // At an unaligned address.
  const std::string moved = "x" + bytes;
  EXPECT_TRUE(
      SafetensorsFile(moved.data() + 1, bytes.size()).get_tensor("x").equal(arange(40000, kFloat)));
}

TEST(Safetensors, RejectsInvalidTensors) {
  const TempFolder folder;
  const std::string path = folder.path("a.safetensors");
  save_safetensors({{"x", ones({1})}}, path);
  const std::string before = bytes_of(path);
  EXPECT_ERROR(save_safetensors({{"x", Tensor()}}, path), "the undefined tensor 'x'");
  EXPECT_ERROR(save_safetensors({{"x", ones({1}, kMeta)}}, path), "on the meta device");
  EXPECT_ERROR(save_safetensors({{"x", ones({1}, kComplexDouble)}}, path),
               "have no dtype for ComplexDouble");
  EXPECT_ERROR(save_safetensors({{"x", ones({1})}, {"x", ones({1})}}, path),
               "two tensors under the name 'x'");
  EXPECT_ERROR(save_safetensors({{"__metadata__", ones({1})}}, path), "'__metadata__'");
  EXPECT_ERROR(save_safetensors({{"\xff", ones({1})}}, path), "it is not valid UTF-8");
  EXPECT_ERROR(save_safetensors({{"x", ones({1})}}, path, {{"a", "1"}, {"a", "2"}}),
               "two metadata under the key 'a'");
  EXPECT_EQ(bytes_of(path), before);
  EXPECT_EQ(folder.count(), 1U);
}

}  // namespace
}  // namespace hearth::io
