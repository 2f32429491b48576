#include <gtest/gtest.h>

#include "hearth/about.h"
#include "program.h"

namespace hearth::testing {

namespace {

struct Mistake {
  std::vector<std::string> arguments;
  std::string answer;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreExplainedOnStderrWithExitCode2) {
  const Ran ran = run(GetParam().arguments);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.find("hearth: " + GetParam().answer), 0) << ran.err;
  EXPECT_NE(ran.err.find(" --help' says more.\n"), std::string::npos) << ran.err;
}

INSTANTIATE_TEST_SUITE_P(
    Usage, Mistakes,
    ::testing::Values(
        Mistake{{}, "a command is missing: info, bench, "},
        Mistake{{"inf"}, "unknown command 'inf'; did you mean 'info'? (known: info, "},
        Mistake{{"fly"}, "unknown command 'fly' (known: info, "},
        Mistake{{"--versoin"}, "unknown flag '--versoin'; did you mean '--version'?"},
        Mistake{{"bench", "--siz", "3"}, "unknown flag '--siz'; did you mean '--size'?"},
        Mistake{{"bench", "--stepps=3"}, "unknown flag '--stepps'; did you mean '--steps'?"},
        Mistake{{"bench", "fast"}, "hearth bench does not take the argument 'fast'"},
        Mistake{{"bench", "--size", "10,x"}, "--size: 'x' is not a whole number of at least 1"},
        Mistake{{"bench", "--steps=0"}, "--steps: '0' is not a whole number of at least 1"},
        Mistake{{"bench", "--size"}, "--size: "}, Mistake{{"completion"}, "shell is required"},
        Mistake{{"completion", "bas"}, "shell: unknown shell 'bas'; did you mean 'bash'?"}));

TEST(Usage, EveryCommandHasHelpWithAnExample) {
  for (const char* command : {"", "info", "bench", "completion", "train"}) {
    std::vector<std::string> arguments{"--help"};
    if (*command) arguments.insert(arguments.begin(), command);
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("Usage: hearth"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("Example"), std::string::npos) << ran.out;
  }
}

TEST(Usage, HelpHasValuesAndDefaults) {
  const std::string help = run({"bench", "--help"}).out;
  EXPECT_NE(help.find("--size INT,...  "), std::string::npos) << help;
  EXPECT_NE(help.find("(default 1000,10000)\n"), std::string::npos) << help;
  EXPECT_NE(help.find("--json            "), std::string::npos) << help;
  const std::string choices = run({"completion", "--help"}).out;
  EXPECT_NE(choices.find(": bash, zsh, fish\n"), std::string::npos) << choices;
}

TEST(Usage, Version) {
  const Ran ran = run({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "hearth " + about().version + "\n");
}

}  // namespace

}  // namespace hearth::testing
