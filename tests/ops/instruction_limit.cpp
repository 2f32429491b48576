#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.h>

#include <cstdlib>

#include "hearth/operators.h"

namespace hearth {
namespace {

#ifdef __x86_64__
// In a process of its own, because the environment is read once. The products and the convolution
// are large enough for oneDNN.
TEST(InstructionLimit, HoldsForProductsAndConvolutions) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("HEARTH_ISA", "avx2", 1);
  const auto compute = [] {
    const Tensor matrix = rand({200, 200}), images = rand({4, 64, 16, 16});
    matrix.mm(matrix);
    conv2d(images, rand({64, 64, 3, 3}));
    matrix.mm(matrix);
    std::_Exit((dnnl_get_effective_cpu_isa() & ~dnnl_cpu_isa_avx2) == 0 ? 0 : 1);  // no other bit
  };
  EXPECT_EXIT(compute(), ::testing::ExitedWithCode(0), "");
  unsetenv("HEARTH_ISA");
}
#endif

}  // namespace
}  // namespace hearth
