// Exact integers and checksums in checkpoints.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <limits>

#include "hearth/io/checkpoint.h"
#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"
#include "hearth/operators.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth::io {
namespace {

using testing::bytes_of;
using testing::TempFolder;
using testing::write_bytes;

TEST(CheckpointNumbers, RoundTripUnsigned64BitIntegers) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  for (const uint64_t saved : {uint64_t{0x9E3779B97F4A7C15}, std::numeric_limits<uint64_t>::max(),
                               uint64_t{INT64_MAX}, uint64_t{INT64_MAX} + 1, uint64_t{0}}) {
    uint64_t seed = saved;
    const auto checkpoint = Checkpoint().add("seed", seed);
    checkpoint.save(path);
    seed = 1;
    checkpoint.load(path);
    EXPECT_EQ(seed, saved);
  }
}

TEST(CheckpointNumbers, RejectValuesOutOfRange) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  uint64_t large = uint64_t{1} << 63, read = 5;
  int64_t narrow = 6, negative = -1;
  std::string text = "12x";
  Checkpoint().add("n", large).save(path);
  EXPECT_ERROR(Checkpoint().add("n", narrow).load(path), "No such serialized int 'n'");
  Checkpoint().add("n", negative).save(path);
  EXPECT_ERROR(Checkpoint().add("n", read).load(path), "'n' is -1, which does not fit");
  Checkpoint().add("n", text).save(path);
  EXPECT_ERROR(Checkpoint().add("n", read).load(path), "'n'; found the string '12x'");
  EXPECT_TRUE(read == 5 && narrow == 6);
}

/// Parts of several types, including tensors whose size in bytes is odd.
struct Parts {
  Tensor weight = arange(1000).to(kFloat), mask = ones({3}, kBool), bytes = ones({5}, kByte);
  int64_t step = 12;
  std::string name = "run";

  Checkpoint checkpoint() {
    return Checkpoint()
        .add("weight", weight)
        .add("step", step)
        .add("name", name)
        .add("bytes", bytes)
        .add("mask", mask);
  }
};

TEST(CheckpointChecksum, IsACrc32InTheLastTensor) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  Parts().checkpoint().save(path);
  const std::string content = bytes_of(path);
  const SafetensorsFile file(path);
  EXPECT_EQ(file.info("checksum").dtype, "U8");
  uint32_t saved = 0;
  std::memcpy(&saved, content.data() + content.size() - 4, 4);
  const auto* first = reinterpret_cast<const Bytef*>(content.data());
  EXPECT_EQ(saved, ::crc32(0, first, static_cast<uInt>(content.size() - 4)));
  const Tensor tensor = file.get_tensor("checksum");
  EXPECT_EQ(std::memcmp(tensor.data_ptr(), &saved, 4), 0);
  EXPECT_EQ(io::crc32("23456789", 8, io::crc32("1", 1)), 0xCBF43926U);  // CRC-32's check value
  EXPECT_EQ(io::crc32(nullptr, 0, 7), 7U);
}

TEST(CheckpointChecksum, RejectsDamagedFilesWithoutChanges) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  Parts parts;
  parts.checkpoint().save(path);
  const std::string whole = bytes_of(path);
  parts.weight.zero_();
  parts.step = 1;
  for (size_t index = whole.size() - 1; index > whole.size() - 4100; index -= 97) {
    std::string damaged = whole;
    damaged[index] = static_cast<char>(damaged[index] ^ 0x40);
    write_bytes(path, damaged);
    EXPECT_ERROR(parts.checkpoint().load(path), "the file is damaged");
    EXPECT_ERROR(Checkpoint::check_file(path), "the file is damaged");
  }
  EXPECT_TRUE(parts.weight.equal(zeros({1000})) && parts.step == 1);
  // The parser alone cannot notice a changed digit in the metadata.
  std::string damaged = whole;
  const size_t digit = damaged.find("12", damaged.find("step"));
  ASSERT_LT(digit, damaged.size());
  damaged[digit] = '7';
  write_bytes(path, damaged);
  EXPECT_ERROR(parts.checkpoint().load(path), "the file is damaged");
  write_bytes(path, whole);
  parts.checkpoint().load(path);
  EXPECT_EQ(parts.step, 12);
}

TEST(CheckpointChecksum, NameIsReserved) {
  int64_t step = 1;
  EXPECT_ERROR(Checkpoint().add("checksum", step), "'checksum' cannot name a part");
}

}  // namespace
}  // namespace hearth::io
