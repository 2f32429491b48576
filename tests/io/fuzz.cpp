// Each test runs a fuzz target on at least 3000 mutations of one input, from a fixed seed. If
// HEARTH_FUZZ_SECONDS is set, the tests together go on for half of that time; the fuzzer of ops
// uses all of it. tools/fuzz.sh runs the targets with clang's libFuzzer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "hearth/io/archive.h"
#include "hearth/io/file.h"
#include "hearth/ivalue_containers.h"
#include "hearth/operators.h"
#include "hearth/vision/image.h"
#include "tests/io/fuzz_targets.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"

namespace hearth {
namespace {

constexpr int kNumTests = 17;  // that call run_mutations()

std::string archive_bytes() {
  serialize::OutputArchive nested, root;
  nested.write("w", ones({2, 3}).requires_grad_());
  nested.write("list", std::vector<Tensor>{ones({1}, kBool), zeros({0})});
  root.write("net", nested);
  root.write("step", 3);
  root.write("values", std::vector<double>{0.5, -1e300});
  root.write("text", "abc");
  GenericDict dict;
  dict.insert("k", ones({2}));
  dict.insert(7, Device("cpu"));
  root.write("pair",
             std::make_tuple(dict, std::vector<IValue>{1.5, std::vector<Tensor>{Tensor()}}));
  std::ostringstream out;
  root.save_to(out);
  return out.str();
}

/// Corrects the checksum of a zlib stream of one block that is not compressed.
void correct_zlib(uint8_t* bytes, size_t size) {
  constexpr size_t kBegin = 7, kSum = 4;
  if (size < kBegin + kSum || size - kBegin - kSum != size_t(bytes[3] | bytes[4] << 8)) return;
  uint32_t low = 1, high = 0;  // of Adler-32
  for (size_t i = kBegin; i < size - kSum; ++i) {
    low = (low + bytes[i]) % 65521;
    high = (high + low) % 65521;
  }
  for (size_t i = 0; i < kSum; ++i)
    bytes[size - kSum + i] = uint8_t((high << 16 | low) >> (24 - 8 * i));
}

/// Corrects the checksums in a PNG file.
void correct_png(std::string& bytes) {
  for (size_t chunk = 8; chunk + 12 <= bytes.size();) {
    auto* data = reinterpret_cast<uint8_t*>(bytes.data()) + chunk;
    const size_t length = size_t(data[0]) << 24 | data[1] << 16 | data[2] << 8 | data[3];
    if (length > bytes.size() - chunk - 12) return;
    if (std::memcmp(data + 4, "IDAT", 4) == 0) correct_zlib(data + 8, length);
    const uint32_t sum = io::crc32(data + 4, length + 4);
    for (int i = 0; i < 4; ++i) bytes[chunk + 8 + length + i] = char(sum >> (24 - 8 * i));
    chunk += 12 + length;
  }
}

/// Applies one to four random changes: bytes changed, deleted, inserted, replaced or cut off. In
/// safetensors files it usually corrects the header's length, and in PNG files the checksums, so
/// that the changes reach the code that parses the rest.
class Mutator {
 public:
  Mutator(uint32_t seed, bool fixes_length) : random_(seed), fixes_length_(fixes_length) {}

  std::string operator()(std::string bytes) {
    const size_t changes = 1 + below(4);
    for (size_t i = 0; i < changes && !bytes.empty(); ++i) change(bytes);
    if (bytes.starts_with("\x89PNG") && below(4) != 0) correct_png(bytes);
    return bytes;
  }

 private:
  size_t below(size_t end) { return random_() % end; }

  void change(std::string& bytes) {
    static const std::vector<std::string> tokens = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    "\"",
                                                    "0",
                                                    "18446744073709551615",
                                                    "-1",
                                                    "null",
                                                    "1e999",
                                                    "F4",
                                                    "\"__metadata__\":",
                                                    "\xff\xff\xff\xff",
                                                    std::string(8, '\0')};
    const size_t position = below(bytes.size()),
                 count = 1 + below(std::min<size_t>(bytes.size() - position, 40));
    switch (below(6)) {
      case 0: bytes[position] = static_cast<char>(random_()); break;
      case 1: bytes[position] ^= static_cast<char>(1 << below(8)); break;
      case 2: bytes.erase(position, count); break;
      case 3: bytes.insert(position, bytes.substr(below(bytes.size()), count)); break;
      case 4: bytes.replace(position, count, tokens[below(tokens.size())]); break;
      default: bytes.resize(position);
    }
    fix_length(bytes);
  }

  void fix_length(std::string& bytes) {
    const size_t end = bytes.rfind('}');
    if (!fixes_length_ || below(4) == 0 || end == std::string::npos || end < 8) return;
    const uint64_t length = end + 1 - 8;
    std::memcpy(bytes.data(), &length, sizeof length);
  }

  std::mt19937 random_;
  bool fixes_length_;
};

bool is_safetensors(const std::string& bytes) { return bytes.size() > 8 && bytes[8] == '{'; }

void run_mutations(int (*target)(const uint8_t*, size_t), const std::string& seed_bytes) {
  const char* text = std::getenv("HEARTH_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(text ? 1000 * std::atoi(text) / 2 / kNumTests : 0);
  Mutator mutate(1, is_safetensors(seed_bytes));
  int rounds = 0;
  do {
    const std::string bytes = mutate(seed_bytes);
    ASSERT_EQ(target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), 0);
  } while (++rounds < 3000 || std::chrono::steady_clock::now() < end);
}

/// In a text of 400 bytes, few changes reach the first ones.
TEST(FuzzIo, OnlySafetensorsGetAnotherLength) {
  const std::string text(400, '}'), file = std::string(8, '\0') + "{" + text;
  int same_begin[2] = {};
  for (const bool is_file : {false, true}) {
    const std::string& seed_bytes = is_file ? file : text;
    Mutator mutate(1, is_safetensors(seed_bytes));
    for (int i = 0; i < 1000; ++i)
      same_begin[is_file] += mutate(seed_bytes).starts_with(seed_bytes.substr(0, 8));
  }
  EXPECT_GT(same_begin[false], 800);
  EXPECT_LT(same_begin[true], 200);
}

TEST(FuzzIo, Safetensors) {
  run_mutations(fuzz_safetensors, testing::bytes_of(testing::fixture_path("python.safetensors")));
}
TEST(FuzzIo, Archive) { run_mutations(fuzz_archive, archive_bytes()); }
TEST(FuzzIo, Checkpoint) {
  run_mutations(fuzz_checkpoint, testing::bytes_of(testing::fixture_path("run.safetensors")));
}
TEST(FuzzIo, Idx) {
  const std::string small = {0, 0, 12, 2, 0, 0, 0, 2, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8};
  run_mutations(fuzz_idx, small);
}
TEST(FuzzIo, GzippedIdx) {
  run_mutations(fuzz_idx, testing::bytes_of(testing::fixture_path("small-idx.gz")));
}

TEST(FuzzIo, Pt) {
  run_mutations(fuzz_pt, testing::bytes_of(testing::fixture_path("pt/shared.pt")));
}
TEST(FuzzIo, DeflatedPt) {
  run_mutations(fuzz_pt, testing::bytes_of(testing::fixture_path("pt/deflated.pt")));
}
TEST(FuzzIo, LibtorchArchive) {
  run_mutations(fuzz_pt, testing::bytes_of(testing::fixture_path("pt/libtorch_adam.pt")));
}
/// The pickle in an archive, found by its first instructions: protocol 2, an empty dictionary.
std::string pickle_of(const std::string& name) {
  const std::string bytes = testing::bytes_of(testing::fixture_path("pt/" + name));
  const size_t begin = bytes.find("\x80\2}");
  return bytes.substr(begin, bytes.find("PK\7\10", begin) - begin);
}
TEST(FuzzIo, Pickle) { run_mutations(fuzz_pickle, pickle_of("values.pt")); }
TEST(FuzzIo, Npz) {
  run_mutations(fuzz_npy, testing::bytes_of(testing::fixture_path("pt/arrays.npz")));
}
/// In this input and the next one, the first byte chooses the reader's options.
TEST(FuzzIo, Csv) {
  run_mutations(fuzz_csv,
                "\x07"
                "x,y,\"a \"\"b\"\"\"\n1.5,-2e3,7\r\n\"3\",NA,.5\n");
}
TEST(FuzzIo, CsvWithCategories) {
  run_mutations(fuzz_csv,
                "\x26"
                "17,1.5,red,\"a\nb\"\r\n-3,nan,\"blue, \"\"light\"\"\",\n4,1e-400, green , x\n");
}
TEST(FuzzIo, Index) {
  run_mutations(fuzz_index,
                "{\"metadata\":{\"total_size\":3},\"weight_map\":{\"a\":\"model-1.safetensors\"}}");
}

std::string string_of(const Tensor& bytes) {
  return {static_cast<const char*>(bytes.data_ptr()), size_t(bytes.numel())};
}
Tensor small_image(int64_t channels) {
  return (arange(channels * 12 * 17) % 251).to(kByte).reshape({channels, 12, 17});
}
TEST(FuzzIo, Png) {
  const int64_t before = accepted_images;
  // Without compression, most changes leave valid pixels.
  run_mutations(fuzz_image, string_of(vision::encode_png(small_image(4), 0)));
  EXPECT_GT(accepted_images - before, 500);
}
TEST(FuzzIo, Jpeg) { run_mutations(fuzz_image, string_of(vision::encode_jpeg(small_image(3)))); }
TEST(FuzzIo, CmykJpeg) {
  run_mutations(fuzz_image, testing::bytes_of(testing::fixture_path("cmyk.jpg")));
}
TEST(FuzzIo, Text) {
  run_mutations(fuzz_text, "The cat, \"sat\";\r\nd\xc3\xa9j\xc3\xa0 vu<br />\n\n\xe2\x82\xac 5\t!");
}

}  // namespace
}  // namespace hearth
