// Runs of `hearth train` in several processes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "hearth/distributed.h"
#include "tests/cli/launch_support.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {

using Arguments = std::vector<std::string>;

/// The arguments of a small run: 100 images, the last batch has 4. `changes` adds or replaces
/// flags, each followed by its value; the last one may have none.
inline Arguments small_run(const std::string& out, const Arguments& changes = {}) {
  std::map<std::string, std::string> flags{
      {"--data", "synthetic"}, {"--out", out},
      {"--model", "mlp"},      {"--limit", "100"},
      {"--lr", ".1"},          {"--batch-size", "32"},
      {"--epochs", "1"},       {"--optimizer", "sgd:momentum=0.9"}};
  Arguments arguments{"train", "--log-losses"};
  for (size_t i = 0; i < changes.size(); i += 2)
    if (i + 1 == changes.size())
      arguments.push_back(changes[i]);  // a flag without a value
    else
      flags[changes[i]] = changes[i + 1];
  for (const auto& [flag, value] : flags) arguments.insert(arguments.end(), {flag, value});
  return arguments;
}

/// The arguments that run `hearth train` with these arguments in several processes.
inline Arguments launched(const Arguments& arguments, const std::string& processes = "2") {
  Arguments line{"launch", "--no-prefix", "--nproc-per-node", processes, "--", HEARTH_PROGRAM};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

inline size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline std::vector<double> losses_of(const std::string& out) {
  std::vector<double> losses;
  for (const Row& row : rows_of_csv(out + "/run-1/losses.csv"))
    losses.push_back(number(row, "loss"));
  return losses;
}

inline void expect_near(const std::vector<double>& losses, const std::vector<double>& expected) {
  ASSERT_EQ(losses.size(), expected.size());
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 1e-4) << i;
}

inline void expect_same_files(const std::string& out, const std::string& expected) {
  for (const char* file : {"weights.safetensors", "losses.csv"})
    EXPECT_TRUE(bytes_of(out + "/run-1/" + file) == bytes_of(expected + "/run-1/" + file)) << file;
}

/// Runs the processes of a job, one for each command, at the same time and without `hearth launch`.
inline std::vector<RunResult> run_without_launcher(
    const std::vector<Arguments>& commands,
    const std::vector<std::vector<std::string>>& environments) {
  std::vector<std::unique_ptr<Program>> programs;
  for (size_t i = 0; i < commands.size(); ++i) {
    std::vector<std::string> environment = environments[i];
    environment.insert(environment.end(), {"OMP_NUM_THREADS=1", "HEARTH_RDZV_TOKEN"});
    programs.push_back(std::make_unique<Program>(commands[i], environment));
  }
  std::vector<RunResult> results;
  for (const auto& program : programs) results.push_back(program->wait());
  return results;
}

inline std::vector<std::string> rank_of_two(int rank, const std::string& port) {
  return {"RANK=" + std::to_string(rank), "WORLD_SIZE=2", "LOCAL_RANK=" + std::to_string(rank),
          "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port};
}

class ProcessesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!distributed::is_gloo_available()) GTEST_SKIP() << distributed::why_no_gloo();
  }
  std::string path(const std::string& name) const { return folder_.path(name); }

  const TempFolder folder_;
};

}  // namespace hearth::testing
