// Truncated and malformed safetensors files.
#include <gtest/gtest.h>

#include <cstring>

#include "hearth/io/safetensors.h"
#include "tests/support/files.h"

namespace hearth::io {
namespace {

/// The content of a file with the given header and number of data bytes.
std::string file(const std::string& header, size_t data_bytes = 0) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

std::string safetensors_error(const std::string& bytes) {
  return testing::error_of([&] { SafetensorsFile(bytes.data(), bytes.size(), "x.safetensors"); });
}

#define EXPECT_BAD(bytes, text)                                                         \
  do {                                                                                  \
    const std::string message = safetensors_error(bytes);                               \
    EXPECT_NE(message.find("cannot read 'x.safetensors': at byte "), std::string::npos) \
        << message;                                                                     \
    EXPECT_NE(message.find(text), std::string::npos) << "got: " << message;             \
  } while (false)

std::string tensor_json(const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST(BadSafetensors, RejectsInvalidHeaderLengths) {
  EXPECT_EQ(safetensors_error(file("{}")), "no error");
  EXPECT_EQ(safetensors_error(file("{}   ")), "no error");
  EXPECT_BAD("", "at byte 0: expected the 8 bytes of the header's length");
  EXPECT_BAD(std::string(7, '\0'), "at byte 7");
  EXPECT_BAD(std::string(8, '\0'), "expected the header, which begins with '{'");
  EXPECT_BAD(std::string(8, '\xff'), "at most 0 bytes here, but got 18446744073709551615");
  EXPECT_BAD(file("{}").substr(0, 9), "at byte 0: expected the header's length, at most 1 bytes");
  EXPECT_BAD(file("[]"), "begins with '{'");
  EXPECT_BAD("PK\3\4abcdefgh", "this is a zip archive");
}

TEST(BadSafetensors, SaveRejectsTooLongHeaders) {
  const testing::TempFolder folder;
  const std::string path = folder.path("x");
  const NamedTensors tensors{{"a", ones({2})}};
  save_safetensors(tensors, path);
  const std::string before = testing::bytes_of(path);
  EXPECT_ERROR(save_safetensors(tensors, path, {{"long", std::string(100'000'000, 'x')}}),
               "bytes, but readers accept at most 100000000");
  EXPECT_EQ(testing::bytes_of(path), before);
}

TEST(BadSafetensors, RejectsInvalidJson) {
  EXPECT_BAD(file("{ "), "not valid JSON");
  EXPECT_BAD(file("{\"a\":}"), "at byte 14: the header is not valid JSON");
  EXPECT_BAD(file("{}x"), "not valid JSON");
  EXPECT_BAD(file("{\"a\":\"\xff\"}"), "not valid JSON");
  EXPECT_BAD(file("{\"a\":1}"), "expected an object for each name, but there is a number");
  EXPECT_BAD(file("{\"a\":[]}"), "there is an array");
  EXPECT_BAD(file("{\"a\":{\"b\":{}}}"), "tensor 'a' has 'b' where dtype, shape or data_offsets");
  EXPECT_BAD(file("{\"a\":{\"shape\":[[1]]}}"), "expected sizes, but there is an array");
  EXPECT_BAD(file("{\"a\":{\"dtype\":{}}}"), "there is an object");
  EXPECT_BAD(file("{\"a\":{\"dtype\":[]}}"), "there is an array");
  EXPECT_BAD(file("{\"a\":{\"shape\":[-1]}}"), "there is a negative number");
  EXPECT_BAD(file("{\"a\":{\"shape\":[1.5]}}"), "there is a fraction");
  EXPECT_BAD(file("{\"a\":{\"shape\":null}}"), "there is null");
  EXPECT_BAD(file("{\"a\":null}"), "there is null");
  EXPECT_BAD(file("{\"__metadata__\":{\"a\":null}}"), "there is null");
  EXPECT_BAD(file("{\"__metadata__\":null,\"__metadata__\":{}}"), "'__metadata__' occurs twice");
  EXPECT_EQ(safetensors_error(file("{\"__metadata__\":null}")), "no error");
  EXPECT_BAD(file("{\"__metadata__\":{\"a\":1}}"), "a string for each key of __metadata__");
  EXPECT_BAD(file("{\"__metadata__\":{\"a\":{}}}"), "a string for each key of __metadata__");
  EXPECT_BAD(file("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"), "'a' occurs twice");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[0]", "[0,0]") + ",\"a\":{}}"),
             "'a' occurs twice");
  EXPECT_BAD(file("{\"a\":" + std::string(1 << 20, '[')), "there is an array");
}

TEST(BadSafetensors, RejectsInvalidTensorEntries) {
  EXPECT_EQ(safetensors_error(file("{\"a\":" + tensor_json("F32", "[2]", "[0,8]") + "}", 8)),
            "no error");
  EXPECT_BAD(file("{\"a\":{\"dtype\":\"F32\",\"shape\":[0]}}"), "does not have all of dtype");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F33", "[0]", "[0,0]") + "}"), "unknown dtype 'F33'");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[0]", "[0]") + "}"), "needs two data_offsets");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[0]", "[0,0,0]") + "}"), "there is a number");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[2]", "[0,4]") + "}", 4),
             "expected 8 bytes for tensor");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[2]", "[8,0]") + "}", 8),
             "expected tensor 'a' to begin");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[2]", "[0,8]") + "}", 4),
             "expected 8 bytes of tensors");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F32", "[2]", "[0,8]") + "}", 9), "the file has 9");
  EXPECT_BAD(file("{\"a\":" + tensor_json("F4", "[3]", "[0,2]") + "}", 2), "expected 2 bytes");
  EXPECT_BAD(file("{\"a\":" + tensor_json("U8", "[18446744073709551615]", "[0,1]") + "}", 1),
             "too large ones");
  EXPECT_BAD(file("{\"a\":" + tensor_json("U8", "[4294967296,4294967296]", "[0,0]") + "}"),
             "are too large");
  EXPECT_BAD(file("{\"a\":" + tensor_json("U8", "[0,4294967296,4294967296]", "[0,0]") + "}"),
             "are too large");
  EXPECT_BAD(
      file("{\"a\":" + tensor_json("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]") + "}", 1),
      "more than 16 dimensions");
}

TEST(BadSafetensors, RejectsGapsAndOverlaps) {
  const auto two_tensors = [](const std::string& first, const std::string& second, size_t bytes) {
    return file("{\"a\":" + tensor_json("U8", "[4]", first) +
                    ",\"b\":" + tensor_json("U8", "[4]", second) + "}",
                bytes);
  };
  EXPECT_EQ(safetensors_error(two_tensors("[4,8]", "[0,4]", 8)), "no error");
  EXPECT_BAD(two_tensors("[0,4]", "[0,4]", 8), "its offset is 0, not 4");
  EXPECT_BAD(two_tensors("[0,4]", "[2,6]", 8), "its offset is 2, not 4");
  EXPECT_BAD(two_tensors("[0,4]", "[5,9]", 9), "its offset is 5, not 4");
  EXPECT_BAD(two_tensors("[1,5]", "[5,9]", 9), "its offset is 1, not 0");
}

TEST(BadSafetensors, NormalizesBools) {
  const std::string bytes = file("{\"a\":" + tensor_json("BOOL", "[3]", "[0,3]") + "}") + "\x7f" +
                            std::string(1, '\0') + "\xff";
  const Tensor loaded = SafetensorsFile(bytes.data(), bytes.size()).get_tensor("a");
  EXPECT_EQ(std::string(static_cast<const char*>(loaded.data_ptr()), 3), std::string("\1\0\1", 3));
}

TEST(BadSafetensors, ReportsFilesThatCannotBeRead) {
  const testing::TempFolder folder;
  EXPECT_ERROR(SafetensorsFile(folder.path("x")), "/x': No such file or directory");
  EXPECT_ERROR(SafetensorsFile(folder.str()), "Is a directory");
  testing::write_bytes(folder.path("empty"), "");
  EXPECT_ERROR(SafetensorsFile(folder.path("empty")), "but the file ends");
}

}  // namespace
}  // namespace hearth::io
