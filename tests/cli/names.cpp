#include "apps/hearth/names.h"

#include <gtest/gtest.h>

#include "program.h"

namespace hearth::app {

namespace {

TEST(Names, NearestTakesTheFewestEdits) {
  const std::vector<std::string> models{"seed-cnn", "mlp", "lenet"};
  EXPECT_EQ(nearest("seed-cn", models), "seed-cnn");
  EXPECT_EQ(nearest("lnet", models), "lenet");
  EXPECT_EQ(nearest("mpl", models), "mlp");
  EXPECT_EQ(nearest("mlp", models), "mlp");
}

TEST(Names, NothingIsNearWhatHasNothingInCommon) {
  EXPECT_EQ(nearest("transformer", {"seed-cnn", "mlp", "lenet"}), "");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace

}  // namespace hearth::app
