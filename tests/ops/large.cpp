// Calls with large tensors: values against a reference, and equal bits with one and three threads.
#include "tests/ops/large.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "core/backends.h"
#include "hearth/threads.h"
#include "seam/table.h"

namespace hearth::testing {

std::vector<LargeRow>& large_rows() {
  static std::vector<LargeRow> rows;
  return rows;
}

namespace {

/// Sets the number of threads during its lifetime.
class ThreadsGuard {
 public:
  explicit ThreadsGuard(int count) : former_(get_num_threads()) { set_num_threads(count); }
  ~ThreadsGuard() { set_num_threads(former_); }
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;

 private:
  int former_;
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
    Tensors on_one_thread, on_three;
    {
      const ThreadsGuard threads(1);
      on_one_thread = large.call();
    }
    {
      const ThreadsGuard threads(3);
      on_three = large.call();
    }
    ASSERT_EQ(on_one_thread.size(), on_three.size());
    const std::string description = row.name + " in " + name_of(dtype);
    for (size_t k = 0; k < on_one_thread.size(); ++k)
      EXPECT_TRUE(same_bits(on_one_thread[k], on_three[k])) << description << ", output " << k;
    ASSERT_LE(large.wanted.size(), on_one_thread.size()) << description;
    for (size_t k = 0; k < large.wanted.size(); ++k)
      expect_close(on_one_thread[k], large.wanted[k], row.slack,
                   description + ", output " + std::to_string(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, LargeCalls, ::testing::ValuesIn(large_rows()),
                         [](const auto& test) { return test.param.name; });

TEST(LargeCallsCoverage, EveryKernelHasARow) {
  std::set<std::string> covered;
  for (const LargeRow& row : large_rows()) covered.insert(row.kernels.begin(), row.kernels.end());
#define HEARTH_EXPECT_ROW(Name)                                          \
  EXPECT_TRUE(covered.count(#Name) || !has_kernel(kCPU, KernelId::Name)) \
      << "no large row runs " << #Name;
  HEARTH_KERNELS(HEARTH_EXPECT_ROW)
#undef HEARTH_EXPECT_ROW
}

}  // namespace
}  // namespace hearth::testing
