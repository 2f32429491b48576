// The program as a process: closed streams, environment variables, impossible numbers of threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// Runs the program in a shell, which can redirect and close its streams, and returns the exit
/// code.
int run_in_shell(const std::string& arguments) {
  const int status = std::system(("OMP_NUM_THREADS=1 " HEARTH_PROGRAM " " + arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Process, OutputOfClosedStreamsGoesIntoNoFile) {
  const TempFolder folder;
  const std::string flags = " --data synthetic --limit 100 --epochs 1 --model mlp --out ";
  const auto train_with = [&](const std::string& name, const std::string& streams) {
    return run_in_shell("train" + flags + folder.path(name) + " " + streams);
  };
  EXPECT_EQ(train_with("whole", "> /dev/null 2>&1"), 0);
  const std::string weights = bytes_of(folder.path("whole/run-1/weights.safetensors"));
  EXPECT_EQ(train_with("both", ">&- 2>&-"), 1);
  EXPECT_EQ(train_with("out", ">&- 2>/dev/null"), 1);
  EXPECT_EQ(train_with("err", ">/dev/null 2>&-"), 0);
  EXPECT_EQ(train_with("all", "<&- >&- 2>&-"), 1);
  EXPECT_EQ(train_with("in", "<&- > /dev/null 2>&1"), 0);
  for (const char* name : {"both", "out", "err", "all", "in"}) {
    EXPECT_EQ(bytes_of(folder.path(std::string(name) + "/.lock")), "") << name;
    EXPECT_EQ(bytes_of(folder.path(std::string(name) + "/run-1/weights.safetensors")), weights)
        << name;
  }
}

TEST(Process, UnwritableOutputIsAnError) {
  const TempFolder folder;
  const std::string err = folder.path("err");
  EXPECT_EQ(run_in_shell("info >&- 2> " + err), 1);
  EXPECT_EQ(bytes_of(err), "hearth: the output could not be written: Bad file descriptor\n");
}

#ifdef __x86_64__
TEST(Process, EnvironmentLimitsTheInstructions) {
  const auto info = [](const char* isa) {
    return run({"info"}, {std::string("HEARTH_ISA=") + isa});
  };
  const RunResult limited = info("avx2");
  EXPECT_EQ(limited.status, 0) << limited.err;
  EXPECT_NE(limited.out.find("kernels for AVX2"), std::string::npos) << limited.out;
  const RunResult best = run({"info"});
  EXPECT_EQ(info("").out, best.out);
  if (best.out.find("kernels for AVX2") != std::string::npos)
    expect_failure(info("avx512"), 1, "this processor or this build has no AVX-512");
  expect_failure(info("sse"), 1, "HEARTH_ISA must be avx2 or avx512, not 'sse'");
}
#endif

TEST(Process, EnvironmentChoosesTheGpu) {
  const auto info = [](const std::string& cuda, const std::string& simulated) {
    return run({"info"}, {"HEARTH_CUDA=" + cuda, "HEARTH_SIM_GPUS=" + simulated});
  };
  for (const char* off : {"0", "off", "OFF", "no", "false"}) {
    const RunResult ran = info(off, "1");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find(std::string("off: HEARTH_CUDA=") + off + " switches CUDA off."),
              std::string::npos)
        << ran.out;
  }
  for (const char* on : {"", "1", "on", "yes", "true"})
    EXPECT_NE(info(on, "1").out.find("Simulated GPU 0"), std::string::npos) << on;
  expect_failure(info("maybe", "1"), 1, "HEARTH_CUDA must be 1 or 0, on or off, not 'maybe'");
  const RunResult without_gpus = info("", "0");
  EXPECT_EQ(without_gpus.status, 0) << without_gpus.err;
  EXPECT_EQ(without_gpus.out.find("Simulated"), std::string::npos) << without_gpus.out;
}

TEST(Process, ImpossibleThreadCountsAreRefusedOrLimited) {
  const auto info = [](const char* threads) {
    return run({"info"}, {std::string("OMP_NUM_THREADS=") + threads});
  };
  for (const char* threads : {"1000", "100000", "99999999999999999999"}) {
    const RunResult ran = info(threads);
    EXPECT_GE(ran.status, 0) << "ended by signal " << -ran.status;
    // A warning or error names the variable.
    EXPECT_NE((ran.out + ran.err).find("OMP_NUM_THREADS"), std::string::npos) << ran.out << ran.err;
  }
  const TempFolder folder;
  const RunResult ran = run({"train", "--data", "synthetic", "--limit", "100", "--epochs", "1",
                             "--out", folder.path("out")},
                            {"OMP_NUM_THREADS=100000"});
  EXPECT_GE(ran.status, 0) << "ended by signal " << -ran.status;
}

}  // namespace
}  // namespace hearth::testing
