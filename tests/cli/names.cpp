#include "apps/hearth/names.h"

#include <gtest/gtest.h>

namespace hearth::app {

namespace {

const std::vector<std::string> kModels{"seed-cnn", "mlp", "lenet"};

TEST(Names, NearestTakesTheFewestEdits) {
  EXPECT_EQ(nearest("seed-cn", kModels), "seed-cnn");
  EXPECT_EQ(nearest("lnet", kModels), "lenet");
  EXPECT_EQ(nearest("mpl", kModels), "mlp");
  EXPECT_EQ(nearest("mlp", kModels), "mlp");
}

TEST(Names, NothingIsNearWhatHasLittleInCommon) {
  EXPECT_EQ(nearest("transformer", kModels), "");
  EXPECT_EQ(nearest("mlp", {}), "");
  EXPECT_EQ(nearest("", {"four"}), "");
}

TEST(Names, UnknownOnesAreToldWithWhatIsKnown) {
  EXPECT_EQ(unknown_name("model", "lenets", kModels),
            "unknown model 'lenets'; did you mean 'lenet'? (known: seed-cnn, mlp, lenet)");
  EXPECT_EQ(unknown_name("model", "transformer", kModels),
            "unknown model 'transformer' (known: seed-cnn, mlp, lenet)");
}

}  // namespace

}  // namespace hearth::app
