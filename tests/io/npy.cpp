// Files of NumPy; tests/oracle/pt_files.py writes the fixtures and checks Hearth's files.
#include "hearth/io/npy.h"

#include <gtest/gtest.h>

#include <sstream>

#include "hearth/io/tensors.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "io/npz.h"
#include "tests/io/pt_files.h"

namespace hearth::io {
namespace {

using testing::error_of;
using testing::pt_file;
using testing::TempFolder;
using testing::write_bytes;

Tensor find_tensor(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor;
  return {};
}

TEST(Npy, ReadsArraysOfNumpy) {
  const Tensor matrix = arange(6, kFloat).view({2, 3});
  for (const char* name : {"f32.npy", "version2.npy", "version3.npy"})
    EXPECT_TRUE(load_npy(pt_file(name)).equal(matrix)) << name;
  const Tensor fortran = load_npy(pt_file("fortran.npy"));
  EXPECT_TRUE(fortran.equal(matrix.to(kDouble)));
  EXPECT_EQ(fortran.strides(), IntArrayRef({1, 2}));
}

TEST(Npy, ReadsArchivesOfNumpy) {
  const NamedTensors tensors = load_npz(pt_file("arrays.npz"));
  EXPECT_EQ(tensors.size(), 13U);
  EXPECT_EQ(find_tensor(tensors, "scalar").item<int64_t>(), -7);
  EXPECT_EQ(find_tensor(tensors, "scalar").dim(), 0);
  EXPECT_EQ(find_tensor(tensors, "empty").sizes(), IntArrayRef({0, 3}));
  EXPECT_TRUE(find_tensor(tensors, "big").equal(arange(3, kInt)));
  EXPECT_TRUE(find_tensor(tensors, "u16").equal(tensor({1, -1}).to(kUInt16)));
  EXPECT_TRUE(find_tensor(tensors, "u32").equal(tensor({1, -1}).to(kUInt32)));
  EXPECT_TRUE(find_tensor(tensors, "u64").equal(tensor({1, -1}).to(kUInt64)));
  EXPECT_TRUE(find_tensor(tensors, "bool").equal(tensor({true, false})));
  EXPECT_EQ(find_tensor(tensors, "c64").scalar_type(), kComplexFloat);
  EXPECT_EQ(find_tensor(tensors, "c128").item<complex<double>>(), complex<double>(3, -4));
  EXPECT_TRUE(load_npz(pt_file("compressed.npz"))[0].second.equal(ones({100})));
}

TEST(Npy, RoundTripsFiles) {
  const char* output_folder = std::getenv("HEARTH_KEEP_FILES");
  const TempFolder folder;
  const std::string base = output_folder ? std::string(output_folder) + "/" : folder.path("");
  const NamedTensors tensors = load_npz(pt_file("arrays.npz"));
  save_npz(tensors, base + "again_arrays.npz");
  const NamedTensors again = load_npz(base + "again_arrays.npz");
  ASSERT_EQ(again.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(again[i].first, tensors[i].first);
    EXPECT_TRUE(again[i].second.equal(tensors[i].second)) << tensors[i].first;
  }
  save_npy(load_npy(pt_file("f32.npy")), base + "again_f32.npy");
  EXPECT_TRUE(testing::bytes_of(base + "again_f32.npy") == testing::bytes_of(pt_file("f32.npy")));
}

/// A .npy file of version 1 with this header.
std::string npy(const std::string& header, size_t data_bytes) {
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + std::string(data_bytes, '\1');
}

/// NumPy's names of a dtype.
struct DtypeNames {
  const char* codes;  // with or without a byte order; without one, the file is little-endian
  ScalarType type;
  size_t width;       // bytes of a number
  const char* words;  // names that take no byte order
};
const DtypeNames dtype_names[] = {{"b1 ?", kBool, 1, "bool"},
                                  {"u1 B", kByte, 1, "uint8"},
                                  {"i1 b", kChar, 1, "int8"},
                                  {"u2 H", kUInt16, 2, "uint16"},
                                  {"i2 h", kShort, 2, "int16"},
                                  {"f2 e", kHalf, 2, "float16 half"},
                                  {"u4 I", kUInt32, 4, "uint32"},
                                  {"i4 i", kInt, 4, "int32"},
                                  {"f4 f", kFloat, 4, "float32 single"},
                                  {"u8 L Q P N", kUInt64, 8, "uint64 uintp"},
                                  {"i8 l q p n", kLong, 8, "int64 intp"},
                                  {"f8 d", kDouble, 8, "float64 double"},
                                  {"c8 F", kComplexFloat, 4, "complex64"},
                                  {"c16 D", kComplexDouble, 8, "complex128"}};

TEST(Npy, ReadsEveryByteOrder) {
  const TempFolder folder;
  const std::string path = folder.path("x.npy");
  for (const DtypeNames& c : dtype_names) {
    const Tensor values = tensor({0, 1, 200}).to(c.type);
    const std::string little(static_cast<const char*>(values.data_ptr()), values.nbytes());
    std::string big = little;
    for (size_t i = 0; i < big.size(); ++i)
      big[i] = little[i / c.width * c.width + (c.width - 1 - i % c.width)];
    const auto expect_values = [&](const std::string& descr, const std::string& data) {
      write_bytes(
          path, npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,)}", 0) + data);
      EXPECT_TRUE(load_npy(path).equal(values)) << descr;
    };
    std::istringstream codes(c.codes), words(c.words);
    for (std::string code; codes >> code;)
      for (const std::string order : {"", "<", "=", "|", ">"})
        expect_values(order + code, order == ">" ? big : little);
    for (std::string word; words >> word;) expect_values(word, little);
  }
}

TEST(Npy, RefusesBadFiles) {
  const TempFolder folder;
  const std::string path = folder.path("x.npy");
  const auto error = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return error_of([&] { load_npy(path); });
  };
  const auto npy_with = [](const std::string& descr, const std::string& shape, size_t bytes) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }", bytes);
  };
  EXPECT_EQ(error(npy_with("'<f4'", "(2,)", 8)), "no error");
  EXPECT_EQ(error(npy_with("'=f4'", "()", 4)), "no error");
  EXPECT_EQ(error(npy_with("'<f4'", "(2L, 1L)", 8)), "no error");  // of Python 2
  EXPECT_EQ(error(npy_with("\t'<f4'", "(2,\t)", 8)), "no error");
  const struct {
    std::string bytes;
    const char* text;
  } cases[] = {
      {"", "expected a .npy file"},
      {std::string("\x93NUMPY\4\0\0\0\0\0", 12), "version 4"},
      {std::string("\x93NUMPY\1\0\xff\xff..", 12), "but the file ends"},
      {npy_with("'<f4'", "(2,)", 7), "but there are 7 bytes"},
      {npy_with("'<f4'", "(2,)", 9), "but there are 9 bytes"},
      {npy_with("'<f4'", "(4611686018427387904, 4)", 0), "but there are 0 bytes"},
      {npy_with("'<f4'", "(99999999999999999999,)", 0), "expected a size"},
      {npy_with("'<f4'", "(-1,)", 0), "expected a size"},
      {npy_with("'<f4'", "(L,)", 4), "expected a size"},
      {npy_with("'<f4'", "(1LL,)", 4), "expected ')'"},
      {npy_with("'<f4'", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", 4), "more than 16 dimensions"},
      {npy_with("'|O'", "(1,)", 8), "the array has Python objects"},
      {npy_with("'<f16'", "(1,)", 16), "the dtype '<f16', which Hearth does not have"},
      {npy_with("'<U3'", "(1,)", 12), "the dtype '<U3'"},
      {npy_with("''", "(1,)", 4), "the dtype ''"},
      {npy_with("'<int32'", "(1,)", 4), "the dtype '<int32'"},
      {npy_with("'<'", "(1,)", 4), "the dtype '<'"},
      {npy_with("[('a', '<f4')]", "(1,)", 4), "the array has records"},
      {npy("{'descr': '<f4', 'shape': (1,)}", 4), "expected descr, fortran_order and shape"},
      {npy("{'descr': '<f4', 'fortran_order': No, 'shape': (1,)}", 4), "expected True or False"},
      {npy("{'other': 1}", 4), "unknown key 'other'"},
      {npy("{'descr': '<f4', 'shape': (1,), 'shape': (1,)}", 4), "'shape' occurs twice"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} 7", 4),
       "the end of the header"},
      {npy("nonsense", 4), "expected '{'"},
  };
  for (const auto& c : cases)
    EXPECT_NE(error(c.bytes).find(c.text), std::string::npos) << c.text << ": " << error(c.bytes);
  EXPECT_ERROR(save_npy(ones({1}, kBFloat16), path), "which does not have this dtype");
  EXPECT_ERROR(save_npz(NamedTensors{{"a", ones({1})}, {"a", ones({1})}}, path),
               "under the name 'a'");
  EXPECT_ERROR(save_npz(NamedTensors{{std::string(1 << 16, 'a'), ones({1})}}, path),
               "has 65540 bytes");
  EXPECT_ERROR(load_npz(pt_file("tensor.pt")), "is no .npy file");
}

/// Reads a file in memory and returns the error's text.
std::string npy_error(const std::string& content) {
  const BytesPtr bytes = copy_bytes("x", content.data(), content.size());
  return error_of([&] {
    if (content.starts_with("PK"))
      read_npz(ZipReader(bytes));
    else
      read_npy(*bytes, 0, bytes->size());
  });
}

TEST(Npy, NoticesTruncationAndSurvivesFlippedBits) {
  for (const char* name : {"fortran.npy", "arrays.npz", "compressed.npz"}) {
    const std::string bytes = testing::bytes_of(pt_file(name));
    for (size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_NE(npy_error(bytes.substr(0, i)), "no error") << name << " cut to " << i;
      std::string damaged = bytes;
      damaged[i] ^= static_cast<char>(1 << i % 8);
      npy_error(damaged);
    }
  }
}

TEST(Tensors, RecognisesFormatsAndConverts) {
  const TempFolder folder;
  const NamedTensors tensors{{"a.b", arange(6, kFloat).view({2, 3}).t()}, {"c", ones({2}, kLong)}};
  const std::pair<const char*, FileFormat> formats[] = {{"x.safetensors", FileFormat::kSafetensors},
                                                        {"x.pt", FileFormat::kPt},
                                                        {"x.npz", FileFormat::kNpz}};
  for (const auto& [name, format] : formats) {
    save_tensors(tensors, folder.path(name));
    const FileContent content = load_file(folder.path(name));
    EXPECT_EQ(content.format, format);
    ASSERT_EQ(content.values.size(), 2U) << name;
    EXPECT_EQ(content.values[0].first, "a.b");
    EXPECT_TRUE(content.values[0].second.toTensor().equal(tensors[0].second)) << name;
  }
  EXPECT_EQ(load_file(pt_file("traced.pt")).format, FileFormat::kTorchScript);
  EXPECT_EQ(load_tensors(pt_file("f32.npy")).size(), 1U);
  EXPECT_ERROR(save_tensors(tensors, folder.path("x.npy")), "a .npy file has one");
  EXPECT_ERROR(save_tensors(tensors, folder.path("x.txt")), "its name must end with");
  EXPECT_ERROR(load_file(std::string(300, 'x')), "cannot read 'xxx");
}

}  // namespace
}  // namespace hearth::io
