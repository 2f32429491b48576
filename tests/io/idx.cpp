#include "hearth/io/idx.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "hearth/tensor_literal.h"
#include "tests/support/files.h"

namespace hearth::io {
namespace {

using testing::TempFolder;
using testing::write_bytes;

std::string gzipped(const std::string& text) {
  const testing::TempFolder folder;
  const std::string path = folder.path("x.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return testing::bytes_of(path);
}

/// An IDX file with a type code, such as 8 for uint8.
std::string idx(char type, const std::vector<uint8_t>& sizes, const std::string& data) {
  std::string bytes = {0, 0, type, static_cast<char>(sizes.size())};
  for (const uint8_t size : sizes) bytes += {0, 0, 0, static_cast<char>(size)};
  return bytes + data;
}

class Idx : public ::testing::Test {
 protected:
  Tensor read(const std::string& bytes) const {
    write_bytes(path(), bytes);
    return load_idx(path());
  }
  std::string path() const { return folder_.path("x-ubyte"); }
  TempFolder folder_;
};

TEST_F(Idx, ReadsAllTypes) {
  for (const bool zipped : {false, true}) {
    const auto file = [&](char type, const std::vector<uint8_t>& sizes, const std::string& data) {
      const std::string bytes = idx(type, sizes, data);
      return read(zipped ? gzipped(bytes) : bytes);
    };
    EXPECT_TRUE(file(8, {2, 2}, "\1\2\3\xff").equal(tensor({{1, 2}, {3, 255}}, kByte)));
    EXPECT_TRUE(file(9, {1}, "\xff").equal(tensor({-1}, kChar)));
    EXPECT_TRUE(file(11, {2}, std::string("\1\0\xff\xfe", 4)).equal(tensor({256, -2}, kShort)));
    EXPECT_TRUE(file(12, {1}, std::string("\0\0\1\2", 4)).equal(tensor({258}, kInt)));
    EXPECT_TRUE(file(13, {1}, std::string("\x3f\xc0\0\0", 4)).equal(tensor({1.5F})));
    EXPECT_TRUE(
        file(14, {1}, std::string("\xbf\xf0\0\0\0\0\0\0", 8)).equal(tensor({-1.0}, kDouble)));
    EXPECT_EQ(file(8, {0, 3}, "").sizes(), IntArrayRef({0, 3}));
    EXPECT_EQ(file(8, {}, "\7").item<int64_t>(), 7);
  }
}

TEST_F(Idx, ReadsSeveralGzipMembers) {
  const std::string bytes = idx(8, {4}, "\1\2\3\4");
  EXPECT_TRUE(
      read(gzipped(bytes.substr(0, 6)) + gzipped(bytes.substr(6))).equal(arange(1, 5, kByte)));
}

TEST_F(Idx, ErrorsStateOffsetAndExpectation) {
  EXPECT_ERROR(read(""), "x-ubyte': at byte 0: expected 4 bytes more");
  EXPECT_ERROR(read("\1\2\3\4"), "at byte 0: expected an IDX header");
  EXPECT_ERROR(read(idx(7, {1}, "")), "got 0, 0, 7, 1");
  EXPECT_ERROR(read(idx(8, {2, 3}, "").substr(0, 10)), "at byte 10: expected 2 bytes more");
  EXPECT_ERROR(read(idx(8, {200}, "abc")), "elements of sizes [200], but the file is too short");
  EXPECT_ERROR(read(idx(8, {3}, "abcd")), "at byte 11: expected the end, but there is more");
  EXPECT_ERROR(read(idx(12, {3}, "abcdefghijk")), "at byte 19: expected 1 bytes more");
  const std::string large = {0,      0,      8,      3,      '\xff', '\xff', '\xff', '\xff',
                             '\xff', '\xff', '\xff', '\xff', '\xff', '\xff', '\xff', '\xff'};
  EXPECT_ERROR(read(large), "but the file is too short for them");
  EXPECT_ERROR(read(gzipped(large)), "but the file is too short for them");
  EXPECT_ERROR(load_idx(folder_.path("none")), "No such file or directory");
}

TEST_F(Idx, ReportsDamagedGzip) {
  const std::string bytes = gzipped(idx(8, {100}, std::string(100, 'x')));
  EXPECT_EQ(read(bytes).numel(), 100);
  EXPECT_ERROR(read(bytes.substr(0, 5)), "at byte 5: expected gzipped data, but the file ends");
  EXPECT_ERROR(read(bytes.substr(0, bytes.size() - 3)), "but the file ends");
  std::string damaged = bytes;
  damaged[bytes.size() - 6] ^= 1;
  EXPECT_ERROR(read(damaged), "incorrect data check");
  damaged = bytes;
  damaged[2] = 3;
  EXPECT_ERROR(read(damaged), "unknown compression method");
  EXPECT_ERROR(read(bytes + "rest"), "expected gzipped data");
}

}  // namespace
}  // namespace hearth::io
