#include <gtest/gtest.h>

#include <filesystem>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "tests/distributed/ranks.h"
#include "tests/support/listener.h"
#include "tests/support/throws.h"

// Where init_process_group finds ranks and addresses.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using Variables = std::map<std::string, std::string>;

const RankFunction prints_error("prints_error", [] {
  const char* const method = std::getenv("TEST_INIT_METHOD");
  const auto options = dist::InitOptions()
                           .init_method(method ? method : "")
                           .timeout(std::chrono::milliseconds(3000));
  std::printf("%s", error_of([&] {
                      dist::init_process_group("gloo", options);
                      std::printf("rank %d of %d, local %d; ", dist::get_rank(),
                                  dist::get_world_size(), dist::get_node_local_rank());
                      dist::destroy_process_group();
                    }).c_str());
});

/// The result or error of init_process_group in a process with these variables.
std::string outcome(const Variables& variables) {
  RankOptions options;
  options.sets_environment = false;
  options.environment = variables;
  return run_ranks(prints_error, 1, options)[0].output;
}

#define EXPECT_SAYS(text, ...)                                         \
  do {                                                                 \
    const std::string said = outcome(__VA_ARGS__);                     \
    EXPECT_NE(said.find(text), std::string::npos) << "said: " << said; \
  } while (false)

/// The variables of a job with one process, which can start.
Variables valid_variables() {
  return {{"RANK", "0"},
          {"WORLD_SIZE", "1"},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(free_port())}};
}

Variables valid_variables_but(const std::string& name, const std::string& value) {
  Variables variables = valid_variables();
  variables[name] = value;
  return variables;
}

TEST(InitProcessGroup, NamesEachWrongVariable) {
  EXPECT_SAYS("rank 0 of 1, local 0; no error", valid_variables());
  EXPECT_SAYS("RANK is expected, but not set; start the program with hearth launch", {});
  EXPECT_SAYS("WORLD_SIZE is set, but RANK is not", valid_variables_but("RANK", ""));
  EXPECT_SAYS("RANK is set, but WORLD_SIZE is not", valid_variables_but("WORLD_SIZE", ""));
  EXPECT_SAYS("MASTER_ADDR is expected, but not set", valid_variables_but("MASTER_ADDR", ""));
  EXPECT_SAYS("MASTER_PORT is expected, but not set", valid_variables_but("MASTER_PORT", ""));
  EXPECT_SAYS("RANK is 'two', but must be a number from 0", valid_variables_but("RANK", "two"));
  EXPECT_SAYS("RANK is '-1'", valid_variables_but("RANK", "-1"));
  EXPECT_SAYS("WORLD_SIZE is '0'", valid_variables_but("WORLD_SIZE", "0"));
  EXPECT_SAYS("WORLD_SIZE is '2 '", valid_variables_but("WORLD_SIZE", "2 "));
  EXPECT_SAYS("MASTER_PORT is '70000', but must be a number from 1 to 65535",
              valid_variables_but("MASTER_PORT", "70000"));
  EXPECT_SAYS("the rank (RANK) is 4, but the world size (WORLD_SIZE) is 1; ranks go from 0 to 0",
              valid_variables_but("RANK", "4"));
  EXPECT_SAYS("the host 'no-such-host.invalid' is unknown",
              valid_variables_but("MASTER_ADDR", "no-such-host.invalid"));
  EXPECT_SAYS("no address of this machine", valid_variables_but("MASTER_ADDR", "192.0.2.7"));
  EXPECT_SAYS("HEARTH_DISTRIBUTED_DEBUG is 'loud', but must be off, info or detail",
              valid_variables_but("HEARTH_DISTRIBUTED_DEBUG", "loud"));
  for (const char* round : {"two", "-1", "1 "})
    EXPECT_SAYS(std::string("HEARTH_RDZV_ROUND is '") + round + "', but must be a number from 0",
                valid_variables_but("HEARTH_RDZV_ROUND", round));
  EXPECT_SAYS("rank 0 of 1", valid_variables_but("HEARTH_RDZV_ROUND", "7"));
  EXPECT_SAYS("has no such network interface",
              valid_variables_but("GLOO_SOCKET_IFNAME", "nonexistent0"));
  EXPECT_SAYS("Gloo plugin /nonexistent.so",
              valid_variables_but("HEARTH_GLOO_PLUGIN", "/nonexistent.so"));
}

TEST(InitProcessGroup, ReadsUrls) {
  const std::string port = std::to_string(free_port());
  EXPECT_SAYS("rank 0 of 1",
              {{"TEST_INIT_METHOD", "tcp://127.0.0.1:" + port + "?rank=0&world_size=1"}});
  const std::string path = std::filesystem::temp_directory_path() / ("hearth_init_" + port);
  EXPECT_SAYS("rank 0 of 1", {{"TEST_INIT_METHOD", "file://" + path + "?rank=0&world_size=1"}});
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_SAYS(
      "rank 0 of 1",
      {{"TEST_INIT_METHOD", "tcp://127.0.0.1:" + port}, {"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_SAYS("needs ?rank=0&world_size=2", {{"TEST_INIT_METHOD", "tcp://127.0.0.1:" + port}});
  EXPECT_SAYS("the port is '1x', but must be a number",
              {{"TEST_INIT_METHOD", "tcp://127.0.0.1:1x?rank=0&world_size=1"}});
  EXPECT_SAYS("must have the form tcp://host:port",
              {{"TEST_INIT_METHOD", "tcp://host?rank=0&world_size=1"}});
  for (const std::string host : {"::1", "[::1]", "[::1]2:3", "[]:3", ":1"})
    EXPECT_SAYS("must have the form tcp://host:port",
                {{"TEST_INIT_METHOD", "tcp://" + host + "?rank=0&world_size=1"}});
  EXPECT_SAYS("'size' is unknown; rank and world_size are allowed",
              {{"TEST_INIT_METHOD", "tcp://h:1?rank=0&size=1"}});
  EXPECT_SAYS("use env://, tcp://host:port or file:///path", {{"TEST_INIT_METHOD", "http://h:1"}});
  EXPECT_SAYS("lacks the path of a file", {{"TEST_INIT_METHOD", "file://?rank=0&world_size=1"}});
}

TEST(InitProcessGroup, UnderstandsOtherLaunchers) {
  const std::string port = std::to_string(free_port());
  EXPECT_SAYS("rank 0 of 1, local 0", {{"OMPI_COMM_WORLD_RANK", "0"},
                                       {"OMPI_COMM_WORLD_SIZE", "1"},
                                       {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                                       {"MASTER_PORT", port}});
  EXPECT_SAYS("MASTER_ADDR is expected", {{"OMPI_COMM_WORLD_RANK", "0"},
                                          {"OMPI_COMM_WORLD_SIZE", "4"},
                                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_SAYS("rank 0 of 1, local 3", {{"PMI_RANK", "0"},
                                       {"PMI_SIZE", "1"},
                                       {"MPI_LOCALRANKID", "3"},
                                       {"MASTER_ADDR", "127.0.0.1"},
                                       {"MASTER_PORT", port}});
  EXPECT_SAYS("rank 0 of 1, local 2", {{"SLURM_PROCID", "0"},
                                       {"SLURM_STEP_NUM_TASKS", "1"},
                                       {"SLURM_LOCALID", "2"},
                                       {"SLURM_JOB_NODELIST", "localhost"},
                                       {"SLURM_JOB_ID", "42949" + port}});  // above 2^31
  EXPECT_SAYS("the host 'no-such-host03.invalid' is unknown",
              {{"SLURM_PROCID", "0"},
               {"SLURM_STEP_NUM_TASKS", "1"},
               {"SLURM_JOB_ID", "77"},
               {"SLURM_JOB_NODELIST", "no-such-host[03-10,12].invalid,other"}});
  EXPECT_SAYS(
      "which lacks a ]",
      {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_JOB_NODELIST", "n[1-"}});
}

const RankFunction prints_launched_size("prints_launched_size", [] {
  const std::string error =
      error_of([] { std::printf("size %d;", dist::get_launched_world_size()); });
  std::printf("%s", error.c_str());
});

/// Whether get_launched_world_size() returns this size, or its error contains this text.
bool launched_with(const Variables& variables, const std::string& size_or_error) {
  RankOptions options;
  options.sets_environment = false;
  options.environment = variables;
  const std::string output = run_ranks(prints_launched_size, 1, options)[0].output;
  return output.find(size_or_error) != std::string::npos;
}

TEST(InitProcessGroup, LaunchedWorldSizeIsKnownBeforehand) {
  EXPECT_TRUE(launched_with({}, "size 1;"));
  EXPECT_TRUE(launched_with({{"RANK", "1"}, {"WORLD_SIZE", "3"}}, "size 3;"));
  EXPECT_TRUE(launched_with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}}, "size 4;"));
  // In a batch script or an interactive allocation, srun has not started the four processes yet.
  EXPECT_TRUE(launched_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}, "size 1;"));
  EXPECT_TRUE(launched_with({{"SLURM_NTASKS", "4"}}, "size 1;"));
  EXPECT_TRUE(launched_with({{"WORLD_SIZE", "2"}},
                            "the environment variable WORLD_SIZE is set, but RANK is not"));
  EXPECT_TRUE(launched_with({{"RANK", "2"}, {"WORLD_SIZE", "2"}},
                            "the rank (RANK) is 2, but the world size (WORLD_SIZE) is 2"));
}

const RankFunction initializes_twice("initializes_twice", [] {
  dist::init_process_group();
  Tensor x = ones({1});
  dist::all_reduce(x);
  REQUIRE(x.item<int>() == dist::get_world_size());
  // The default group can be created again.
  dist::destroy_process_group();
  dist::init_process_group();
  dist::all_reduce(x);
  REQUIRE(x.item<int>() == 9);
  dist::destroy_process_group();
});

TEST(InitProcessGroup, CanBeRepeated) { run_ranks_well(initializes_twice, 3); }

TEST(InitProcessGroup, RefusesASecondProcessWithTheSameRank) {
  RankOptions options;
  options.environment = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};
  dist::TCPStoreOptions server;
  server.isServer = true;
  server.port = free_port();
  dist::TCPStore store("127.0.0.1", server);
  options.environment["MASTER_PORT"] = std::to_string(server.port);
  int refused = 0;
  for (const RankResult& result : run_ranks(prints_error, 2, options))
    refused += result.output.find("two processes have rank 1") != std::string::npos;
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace hearth::testing
