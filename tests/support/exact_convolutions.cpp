// Turns TensorFloat-32 off for all tests, because they compare convolutions with full float32.
#include <gtest/gtest.h>

#include "hearth/context.h"

namespace hearth::testing {
namespace {

class ExactConvolutions : public ::testing::Environment {
  void SetUp() override {
    EXPECT_TRUE(globalContext().allowTF32CuDNN()) << "it is PyTorch's default";
    globalContext().setAllowTF32CuDNN(false);
  }
};

[[maybe_unused]] const auto* const added =
    ::testing::AddGlobalTestEnvironment(new ExactConvolutions);

}  // namespace
}  // namespace hearth::testing
