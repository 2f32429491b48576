#include "apps/hearth/names.h"

#include <gtest/gtest.h>

namespace hearth::app {

namespace {

const std::vector<std::string> kModels{"tutorial-cnn", "mlp", "lenet"};

TEST(Names, NearestHasTheSmallestEditDistance) {
  EXPECT_EQ(nearest("totorial-cn", kModels), "tutorial-cnn");
  EXPECT_EQ(nearest("lnet", kModels), "lenet");
  EXPECT_EQ(nearest("mpl", kModels), "mlp");
  EXPECT_EQ(nearest("mlp", kModels), "mlp");
}

TEST(Names, PrefixesAreNearest) {
  EXPECT_EQ(nearest("--ep", {"--help", "--epochs"}), "--epochs");
  EXPECT_EQ(nearest("t", kModels), "tutorial-cnn");
}

TEST(Names, UnlikeNamesHaveNoSuggestion) {
  EXPECT_EQ(nearest("transformer", kModels), "");
  EXPECT_EQ(nearest("mlp", {}), "");
  EXPECT_EQ(nearest("", {"four"}), "");
}

TEST(Names, ErrorsListTheKnownNames) {
  EXPECT_EQ(unknown_name("model", "lenets", kModels),
            "unknown model 'lenets'; did you mean 'lenet'? (known: tutorial-cnn, mlp, lenet)");
  EXPECT_EQ(unknown_name("model", "transformer", kModels),
            "unknown model 'transformer' (known: tutorial-cnn, mlp, lenet)");
}

TEST(Names, ControlCharactersAreEscaped) {
  EXPECT_EQ(unknown_name("model", "\x1b[31m\n", {"mlp"}),
            "unknown model '\\x1b[31m\\x0a' (known: mlp)");
  EXPECT_EQ(printable("na\xc3\xafve"), "na\xc3\xafve");
}

TEST(Names, RecognisesUtf8) {
  for (const char* text : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x94\xa5",
                           "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\xe9", "caf\xe9x", "\xc0\xaf", "\x80", "\xe0\x80\xaf", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xff"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace

}  // namespace hearth::app
