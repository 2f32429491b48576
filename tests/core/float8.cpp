// The 8-bit floating-point types against PyTorch's conversions (tests/oracle/dtype_cases.py): all
// numbers, and all float16 numbers and numbers halfway between them.
#include "hearth/float8.h"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hearth/scalar.h"
#include "tests/support/fixtures.h"

namespace hearth {
namespace {

/// The words of the fixture's line that begins with these two.
std::vector<std::string> words_of(const std::string& kind, ScalarType type) {
  const std::string start = kind + " " + python_name_of(type) + " ";
  std::ifstream file(testing::fixture_path("dtype_cases.txt"));
  std::string line;
  while (std::getline(file, line) && !line.starts_with(start)) {
  }
  std::istringstream rest(line.substr(std::min(start.size(), line.size())));
  std::vector<std::string> words;
  for (std::string word; rest >> word;) words.push_back(word);
  return words;
}

template <class T>
class Float8 : public ::testing::Test {};
using Types =
    ::testing::Types<Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, Float8_e8m0fnu>;
TYPED_TEST_SUITE(Float8, Types);

TYPED_TEST(Float8, ConvertsToFloat) {
  const auto words = words_of("to_float", dtype_of<TypeParam>);
  ASSERT_EQ(words.size(), 256U);
  for (int code = 0; code < 256; ++code) {
    const TypeParam number(static_cast<uint8_t>(code), TypeParam::from_bits());
    const float value = number;
    EXPECT_EQ(std::bit_cast<uint32_t>(value), std::stoul(words[size_t(code)], nullptr, 16)) << code;
    EXPECT_EQ(number.isnan(), value != value) << code;
    if (value == value) {
      EXPECT_EQ(TypeParam(value).x, code);
    }
  }
}

TYPED_TEST(Float8, RoundsFloats) {
  uint32_t next = 0;  // twice the float16 number's bits, and 1 for the number halfway to the next
  for (const std::string& run : words_of("from_float", dtype_of<TypeParam>)) {
    const size_t star = run.find('*');
    const int code = std::stoi(run.substr(0, star));
    for (int count = std::stoi(run.substr(star + 1)); count > 0; --count, ++next) {
      const float half = Half::from_bits(static_cast<uint16_t>(next / 2));
      const float value = std::bit_cast<float>(std::bit_cast<uint32_t>(half) + next % 2 * 0x1000);
      ASSERT_EQ(TypeParam(value).x, code) << value;
    }
  }
  EXPECT_EQ(next, 2U * 65536);
}

TYPED_TEST(Float8, IsAScalar) {
  EXPECT_EQ(Scalar(TypeParam(2.F)).toDouble(), 2);
  EXPECT_EQ(static_cast<float>(Scalar(2).to<TypeParam>()), 2);
  EXPECT_EQ(TypeParam(2.F) * TypeParam(4.F), 8);
}

}  // namespace
}  // namespace hearth
