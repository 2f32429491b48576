#include <gtest/gtest.h>

#include "hearth/about.h"
#include "program.h"
#include "tests/support/files.h"

namespace hearth::testing {

namespace {

struct Mistake {
  std::vector<std::string> arguments;
  std::string error;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreExplainedOnStderrWithExitCode2) {
  const RunResult ran = run(GetParam().arguments);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.find("hearth: " + GetParam().error), 0) << ran.err;
  EXPECT_NE(ran.err.find(" --help' for help.\n"), std::string::npos) << ran.err;
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
        Mistake{{"bench", "\x1b[31m"}, "hearth bench does not take the argument '\\x1b[31m'"},
        Mistake{{"train", "--log-losses=\x1b[31m"}, "Could not convert: --log-losses = \\x1b[31m"},
        Mistake{{"train", "--lr", "\x1b[31m"}, "--lr: expected a number above 0, not '\\x1b[31m'"},
        Mistake{{"train", "--lr", ",", "--out", "x"}, "--lr: an item of the list ',' is empty"},
        Mistake{{"train", "--lr", ".01,,.1"}, "--lr: an item of the list '.01,,.1' is empty"},
        Mistake{{"train", "--lr=.01,"}, "--lr: an item of the list '.01,' is empty"},
        Mistake{{"train", "--lr", ".1", ","}, "--lr: an item of the list ',' is empty"},
        Mistake{{"launch", "--local-ranks-filter", "0", "-t", "1,", "true"}, "--tee: '1,' must be"},
        Mistake{{"train", "--lr="}, "--lr: an item of the list '' is empty"},
        Mistake{{"bench", "--size", ",10"}, "--size: an item of the list ',10' is empty"},
        Mistake{{"train", "--lr", "1e400"}, "--lr: '1e400' is too large for a float64"},
        Mistake{{"train", "--lr", "1e-400"}, "--lr: '1e-400' is too small for a float64"},
        Mistake{{"train", "--lr", "inf"}, "--lr: expected a number above 0, not 'inf'"},
        Mistake{{"train", "--resume", ""}, "--resume: the path is empty"},
        Mistake{{"train", "--out", ""}, "--out: the path is empty"},
        Mistake{{"train", "--config", ""}, "--config: the path is empty"},
        Mistake{{"eval", ""}, "run: the path is empty"},
        Mistake{{"predict", "run", ""}, "images: the path is empty"},
        Mistake{{"compare", ""}, "folders: the path is empty"},
        Mistake{{"compare", "run", ""}, "folders: the path is empty"},
        Mistake{{"compare", "run", "--picture", ""}, "--picture: the path is empty"},
        Mistake{{"export", "run", ""}, "to: the path is empty"},
        Mistake{{"inspect", ""}, "file: the path is empty"},
        Mistake{{"convert", "", "x.pt"}, "from: the path is empty"},
        Mistake{{"plot-memory", ""}, "from: the path is empty"},
        Mistake{{"top", ""}, "job: the path is empty"},
        Mistake{{"launch", "--local-ranks-filter", "0,5", "true"},
                "--local-ranks-filter: there is no local rank 5; local ranks are from 0 to 0"},
        Mistake{{"train", "--optimizer", "adam:betas="},
                "--optimizer: value 1 of 'betas' must be a number, not ''"},
        Mistake{{"train", "--batch-size", "auto,auto"},
                "--batch-size: 'auto' and 'auto' are the same"},
        Mistake{{"train", "--trials", "3"}, "--trials draws from a range"},
        Mistake{{"train", "--data", "synthetic", "--device", "cpu,cpu"},
                "--device: 'cpu' and 'cpu' are the same, and so would be their runs"},
        Mistake{{"train", "--data", "synthetic", "--device", "cuda:0,cpu,cuda"},
                "--device: 'cuda' and 'cuda:0' are the same"},
        Mistake{{"train", "--data", "synthetic", "--lr", ".1,.01,1e-1"},
                "--lr: '0.1' and '0.1' are the same"},
        Mistake{{"bench", "--size", "10,x"}, "--size: 'x' is not a whole number from 1 to "},
        Mistake{{"bench", "--steps=0"}, "--steps: '0' is not a whole number from 1 to "},
        Mistake{{"bench", "--size"}, "--size: "}, Mistake{{"completion"}, "shell is required"},
        Mistake{{"completion", "bas"}, "shell: unknown shell 'bas'; did you mean 'bash'?"}));

TEST(Usage, EveryCommandHasHelpWithAnExample) {
  for (const char* command :
       {"", "info", "bench", "completion", "train", "eval", "predict", "compare", "export", "top",
        "inspect", "convert", "plot-memory", "launch"}) {
    std::vector<std::string> arguments{"--help"};
    if (*command) arguments.insert(arguments.begin(), command);
    const RunResult ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("Usage: hearth"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("Example"), std::string::npos) << ran.out;
  }
}

TEST(Usage, HelpShowsValuesAndDefaults) {
  const std::string help = run({"bench", "--help"}).out;
  EXPECT_NE(help.find("--size INT,...  "), std::string::npos) << help;
  EXPECT_NE(help.find("(default 1000,10000)\n"), std::string::npos) << help;
  EXPECT_NE(help.find("--json            "), std::string::npos) << help;
  const std::string choices = run({"completion", "--help"}).out;
  EXPECT_NE(choices.find(": bash, zsh, fish\n"), std::string::npos) << choices;
}

TEST(Usage, UnwritableOutputFailsWithTheReason) {
  const int full = open("/dev/full", O_WRONLY);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"},
        {"--version"},
        {"info"},
        {"completion", "bash"},
        {"train", "--data", "synthetic", "--limit", "100", "--epochs", "1", "--out", "OUT"}}) {
    const TempFolder folder;
    std::vector<std::string> line = arguments;
    if (line.back() == "OUT") line.back() = folder.path("out");
    Program program(line, {}, full);
    const RunResult ran = program.wait();
    EXPECT_EQ(ran.status, 1) << arguments.front();
    EXPECT_NE(ran.err.find("hearth: the output could not be written: No space left on device\n"),
              std::string::npos)
        << ran.err;
  }
  close(full);
}

TEST(Usage, PrintsTheVersion) {
  const RunResult ran = run({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "hearth " + about().version + "\n");
}

}  // namespace

}  // namespace hearth::testing
