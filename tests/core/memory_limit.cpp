// Ops under a limit on the address space, as set by `ulimit -v`. oneDNN crashes if it cannot get
// memory to compile code, so Hearth checks the free memory before (onednn_engine.h).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <new>

#include "core/threads.h"
#include "hearth/error.h"
#include "hearth/operators.h"

namespace hearth {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// Limits further growth of the address space to this number of bytes.
void limit_growth(size_t max_growth) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + max_growth;
  const rlimit limit{bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

/// Exits with 0 after the computation, with 1 on an out-of-memory error.
template <class Compute>
void compute_within(size_t max_growth, const Compute& compute) {
  set_num_threads(1);
  const Tensor matrix = rand({700, 700}), image = rand({8, 8, 28, 28});
  const Tensor filter = rand({16, 8, 3, 3}), half = rand({300, 300}).to(kBFloat16);
  limit_growth(max_growth);
  try {
    compute(matrix, image, filter, half);
  } catch (const OutOfMemoryError&) {
    _exit(1);
  } catch (const std::bad_alloc&) {
    _exit(1);
  }
  _exit(0);
}

bool exited_normally(int status) { return WIFEXITED(status) && WEXITSTATUS(status) <= 1; }

template <class Compute>
void expect_no_crash(const Compute& compute) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const size_t kib : {64, 512, 1024, 4096, 16384})
    EXPECT_EXIT(compute_within(kib << 10, compute), exited_normally, "") << kib;
}

TEST(MemoryLimit, MatmulCompletesOrThrows) {
  expect_no_crash([](const Tensor& matrix, const Tensor&, const Tensor&, const Tensor&) {
    (void)matmul(matrix, matrix);
  });
}

TEST(MemoryLimit, BFloat16MatmulCompletesOrThrows) {
  expect_no_crash([](const Tensor&, const Tensor&, const Tensor&, const Tensor& half) {
    (void)matmul(half, half);
  });
}

TEST(MemoryLimit, ConvolutionCompletesOrThrows) {
  expect_no_crash([](const Tensor&, const Tensor& image, const Tensor& filter, const Tensor&) {
    (void)conv2d(image, filter);
  });
}

TEST(MemoryLimit, MatmulThrowsWhenMemoryIsShort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto refused = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 1; };
  EXPECT_EXIT(compute_within(1 << 20, [](const Tensor& matrix, const Tensor&, const Tensor&,
                                         const Tensor&) { (void)matmul(matrix, matrix); }),
              refused, "");
}

#endif

}  // namespace
}  // namespace hearth
