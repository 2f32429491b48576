// Calls with large tensors: values against a reference, and equal bits with one and three threads.
#include "tests/ops/large.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "hearth/threads.h"
#include "seam/table.h"

namespace hearth::testing {

std::vector<LargeRow>& large_rows() {
  static std::vector<LargeRow> all;
  return all;
}

namespace {

/// Sets the number of threads during its lifetime.
class Threads {
 public:
  explicit Threads(int count) : before_(get_num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.sizes().equals(y.sizes()) && x.scalar_type() == y.scalar_type() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), size_t(x.numel()) * x.element_size()) == 0;
}

class LargeCalls : public ::testing::TestWithParam<LargeRow> {};

TEST_P(LargeCalls, MatchTheReferenceWithAnyNumberOfThreads) {
  const LargeRow& row = GetParam();
  if (devices().size() > 1) GTEST_SKIP() << "tests the CPU only; the run without GPUs covers it";
  for (const ScalarType dtype : dtypes_in(row.dtypes)) {
    const LargeCase large = row.make(dtype);
    Tensors one, three;
    {
      const Threads threads(1);
      one = large.call();
    }
    {
      const Threads threads(3);
      three = large.call();
    }
    ASSERT_EQ(one.size(), three.size());
    const std::string what = row.name + " in " + name_of(dtype);
    for (size_t k = 0; k < one.size(); ++k)
      EXPECT_TRUE(same_bits(one[k], three[k])) << what << ", output " << k;
    ASSERT_LE(large.wanted.size(), one.size()) << what;
    for (size_t k = 0; k < large.wanted.size(); ++k)
      expect_close(one[k], large.wanted[k], row.slack, what + ", output " + std::to_string(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, LargeCalls, ::testing::ValuesIn(large_rows()),
                         [](const auto& test) { return test.param.name; });

TEST(LargeCallsCoverage, EveryKernelHasARow) {
  std::set<std::string> covered;
  for (const LargeRow& row : large_rows()) covered.insert(row.kernels.begin(), row.kernels.end());
#define HEARTH_EXPECT_ROW(Name) EXPECT_TRUE(covered.count(#Name)) << "no large row runs " << #Name;
  HEARTH_KERNELS(HEARTH_EXPECT_ROW)
#undef HEARTH_EXPECT_ROW
}

}  // namespace
}  // namespace hearth::testing
