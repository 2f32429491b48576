// hearth train in several processes, under hearth launch and with variables set by hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hearth/hearth.h"
#include "tests/cli/train_processes.h"

namespace hearth::testing {
namespace {

namespace fs = std::filesystem;

class TrainProcesses : public ProcessesTest {};

TEST_F(TrainProcesses, SplitBatchesGiveTheResultsOfOneProcess) {
  const Arguments more{"--epochs", "2"}, split{"--epochs", "2", "--split-batches"};
  ASSERT_EQ(run(small_run(path("one"), more), kOneThread).status, 0);
  const RunResult two = run(launched(small_run(path("two"), split)), kOneThread);
  ASSERT_EQ(two.status, 0) << two.err;
  expect_near(losses_of(path("two")), losses_of(path("one")));
  EXPECT_NEAR(number(rows_of(path("two")).at(1), "test_accuracy"),
              number(rows_of(path("one")).at(1), "test_accuracy"), 0.02);
  // Results appear once.
  EXPECT_EQ(count_of(two.out, "test accuracy"), 1U) << two.out;
  EXPECT_EQ(count_of(two.err, "epoch 1/2  loss"), 1U) << two.err;
  EXPECT_EQ(count_of(two.err, "2 processes"), 1U) << two.err;
  const auto json = nlohmann::json::parse(bytes_of(path("two") + "/results.json"));
  EXPECT_EQ(json.at("processes"), 2);
  size_t records = 0;
  for (const auto& entry : fs::directory_iterator(path("two") + "/run-1"))
    records += entry.path().filename().string().starts_with("events.");
  EXPECT_EQ(records, 2U);  // the second one has the hyperparameters
}

TEST_F(TrainProcesses, BatchSizeIsPerProcess) {
  // 100 images in batches of 2 * 16 images; the last batch has 4.
  ASSERT_EQ(
      run(launched(small_run(path("two"), {"--epochs", "1", "--batch-size", "16"})), kOneThread)
          .status,
      0);
  ASSERT_EQ(run(small_run(path("one"), {"--epochs", "1"}), kOneThread).status, 0);
  expect_near(losses_of(path("two")), losses_of(path("one")));
}

TEST_F(TrainProcesses, AccumulatedBatchesAreAveragedOnce) {
  const auto with = [](const std::string& size, const std::string& accumulate) {
    return Arguments{"--epochs", "1", "--batch-size", size, "--accumulate", accumulate};
  };
  ASSERT_EQ(run(launched(small_run(path("two"), with("8", "2"))), kOneThread).status, 0);
  ASSERT_EQ(run(small_run(path("one"), with("32", "1")), kOneThread).status, 0);
  expect_near(losses_of(path("two")), losses_of(path("one")));
}

// Batch normalization has buffers, and dropout draws random numbers.
TEST_F(TrainProcesses, StoppedRunsContinueBitForBit) {
  const auto arguments = [](const std::string& out) {
    return launched(small_run(out, {"--model", "mobilenet_v2", "--limit", "8", "--batch-size", "2",
                                    "--epochs", "4", "--ema", "0.9", "--sync-batch-norm"}));
  };
  ASSERT_EQ(run(arguments(path("whole")), kOneThread).status, 0);
  Program program(arguments(path("stopped")), kOneThread);
  wait_for_epochs(path("stopped"), 1);
  program.kill(SIGINT);
  const RunResult stopped = program.wait();
  ASSERT_NE(stopped.status, 0) << stopped.err;
  ASSERT_LT(rows_of(path("stopped")).size(), 4U) << "the program was stopped too late";
  const RunResult resumed = run(launched({"train", "--resume", path("stopped")}), kOneThread);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(results_of(path("stopped")), results_of(path("whole")));
  expect_same_files(path("stopped"), path("whole"));
}

TEST_F(TrainProcesses, AnotherNumberOfProcessesContinuesInTheMiddleOfAnEpoch) {
  const Arguments more{"--epochs", "10",   "--limit",        "200", "--batch-size", "4",
                       "--lr",     ".001", "--split-batches"};
  ASSERT_EQ(run(small_run(path("one"), more), kOneThread).status, 0);
  Program program(launched(small_run(path("two"), more)), kOneThread);
  wait_for_epochs(path("two"), 1);
  program.kill(SIGINT);
  ASSERT_EQ(program.wait().status, 130);
  ASSERT_LT(rows_of(path("two")).size(), 10U) << "the program was stopped too late";
  EXPECT_GT(losses_of(path("two")).size(), 50U);
  fs::copy(path("two"), path("three"), fs::copy_options::recursive);
  for (const Arguments& command : {Arguments{"train", "--resume", path("two")},
                                   launched({"train", "--resume", path("three")}, "4")}) {
    const RunResult resumed = run(command, kOneThread);
    ASSERT_EQ(resumed.status, 0) << resumed.err;
  }
  expect_near(losses_of(path("two")), losses_of(path("one")));
  expect_near(losses_of(path("three")), losses_of(path("one")));
}

TEST_F(TrainProcesses, CanBeStartedByHandAndByMpirun) {
  ASSERT_EQ(run(launched(small_run(path("launched"), {"--epochs", "1"})), kOneThread).status, 0);
  const auto under_mpi = [](int rank) {
    return std::vector<std::string>{"OMPI_COMM_WORLD_RANK=" + std::to_string(rank),
                                    "OMPI_COMM_WORLD_SIZE=2",
                                    "OMPI_COMM_WORLD_LOCAL_SIZE=2",
                                    "OMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(rank),
                                    "MASTER_PORT=" + own_port(),
                                    "RANK",
                                    "WORLD_SIZE"};
  };
  const Arguments hand = small_run(path("hand"), {"--epochs", "1"}),
                  mpi = small_run(path("mpi"), {"--epochs", "1"});
  for (const RunResult& ran :
       run_without_launcher({hand, hand}, {rank_of_two(0, own_port()), rank_of_two(1, own_port())}))
    EXPECT_EQ(ran.status, 0) << ran.err;
  for (const RunResult& ran : run_without_launcher({mpi, mpi}, {under_mpi(0), under_mpi(1)}))
    EXPECT_EQ(ran.status, 0) << ran.err;
  expect_same_files(path("hand"), path("launched"));
  expect_same_files(path("mpi"), path("launched"));
}

TEST_F(TrainProcesses, EachUsesItsOwnGpu) {
  const std::vector<std::string> two_gpus{"HEARTH_SIM_GPUS=2", "OMP_NUM_THREADS=1"};
  const RunResult on_gpus =
      run(launched(small_run(path("gpu"), {"--epochs", "1", "--device", "cuda"})), two_gpus);
  ASSERT_EQ(on_gpus.status, 0) << on_gpus.err;
  ASSERT_EQ(
      run(launched(small_run(path("cpu"), {"--epochs", "1", "--device", "cpu"})), two_gpus).status,
      0);
  expect_near(losses_of(path("gpu")), losses_of(path("cpu")));
  const RunResult fixed = run(launched(small_run(path("bad"), {"--device", "cuda:1"})), two_gpus);
  expect_failure(fixed, 2, "--device cuda:1 is one GPU for all 2 processes: write --device cuda");
  const RunResult many = run(launched(small_run(path("bad"), {"--device", "cuda"}), "3"), two_gpus);
  EXPECT_NE(many.err.find("process 2 needs GPU 2, its LOCAL_RANK, but the number of GPUs is 2"),
            std::string::npos)
      << many.err;
}

TEST_F(TrainProcesses, DivergeTogether) {
  const RunResult ran =
      run(launched(small_run(path("out"), {"--lr", "1e30", "--epochs", "3"})), kOneThread);
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(count_of(ran.err, "\nhearth: the loss became "), 1U) << ran.err;
  EXPECT_TRUE(rows_of(path("out")).back().at("status").starts_with("diverged at step "));
}

TEST_F(TrainProcesses, AKilledProcessEndsTheOther) {
  Program first(long_run(path("out")), rank_of_two(0, own_port())),
      second(long_run(path("other")), rank_of_two(1, own_port()));
  wait_for_epochs(path("out"), 1);
  second.kill(SIGKILL);
  EXPECT_EQ(second.wait().status, -SIGKILL);
  const RunResult ran = first.wait();
  expect_failure(ran, 1, "rank 1");
  EXPECT_NE(ran.err.find("To resume from the last checkpoint: "), std::string::npos) << ran.err;
  EXPECT_FALSE(fs::exists(path("other")));
}

TEST_F(TrainProcesses, MistakesAreNamed) {
  const auto fails = [&](const Arguments& more, const std::string& error) {
    const RunResult ran = run(launched(small_run(path("bad"), more)), kOneThread);
    expect_failure(ran, 2, error);
    EXPECT_EQ(count_of("\n" + ran.err, "\nhearth: " + error), 1U) << ran.err;
  };
  fails({"--batch-size", "31", "--split-batches"},
        "--split-batches: a batch of 31 cannot be divided equally among 2 processes");
  fails({"--batch-size", "auto"}, "--batch-size auto measures one process");
  expect_failure(run(small_run(path("bad")), {"RANK=1", "WORLD_SIZE", "OMP_NUM_THREADS=1"}), 1,
                 "the environment variable RANK is set, but WORLD_SIZE is not");
  expect_failure(run(small_run(path("bad")), {"RANK=1", "WORLD_SIZE=1", "OMP_NUM_THREADS=1"}), 1,
                 "the rank (RANK) is 1, but the world size (WORLD_SIZE) is 1");
  const std::vector<RunResult> ran =
      run_without_launcher({small_run(path("bad")), small_run(path("bad"), {"--seed", "1"})},
                           {rank_of_two(0, own_port()), rank_of_two(1, own_port())});
  expect_failure(ran[0], 1, "process 1 has 'seed = 1', but process 0 has 'seed = 0'");
  EXPECT_EQ(ran[1].status, 1);
  EXPECT_EQ(ran[1].err.find("hearth: "), std::string::npos) << ran[1].err;
  EXPECT_FALSE(fs::exists(path("bad")));
  // All end with the exit code of the one that failed.
  const Arguments odd = small_run(path("bad"), {"--batch-size", "31", "--split-batches"});
  const std::vector<RunResult> usage = run_without_launcher(
      {small_run(path("bad")), odd}, {rank_of_two(0, own_port()), rank_of_two(1, own_port())});
  expect_failure(usage[0], 2, "--split-batches: a batch of 31 cannot be divided equally");
  EXPECT_EQ(usage[1].status, 2);
  // One process reports the error; the other does not repeat it.
  write_bytes(path("file"), "");
  const RunResult once = run(launched(small_run(path("file"))), kOneThread);
  EXPECT_EQ(count_of("\n" + once.err, "\nhearth: cannot create the folder"), 1U) << once.err;
}

TEST_F(TrainProcesses, RestartedProcessesContinueInTheirFolder) {
  Arguments line{"launch", "--max-restarts", "1", "--no-prefix", "--nproc-per-node", "2", "--"};
  const Arguments program{HEARTH_PROGRAM, "train", "--data", "synthetic"};
  Arguments nameless = line;
  nameless.insert(nameless.end(), program.begin(), program.end());
  expect_failure(run(nameless, kOneThread), 1, "need --out FOLDER");
  // The second process kills itself once, after the first epoch.
  const std::string out = path("out"), script =
                                           "if [ $RANK = 1 ] && [ $HEARTH_RESTART_COUNT = 0 ]; then"
                                           " \"$@\" & until grep -q ,1, " +
                                           out +
                                           "/results.csv 2> /dev/null; do sleep 0.01; done;"
                                           " kill -KILL $!; exit 3; fi; exec \"$@\"";
  const Arguments arguments =
      small_run(out, {"--epochs", "6", "--limit", "400", "--batch-size", "4"});
  line.insert(line.end(), {"sh", "-c", script, "sh", HEARTH_PROGRAM});
  line.insert(line.end(), arguments.begin(), arguments.end());
  const RunResult ran = run(line, kOneThread);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(count_of(ran.err, "epoch 1/6  loss"), 1U) << ran.err;
  ASSERT_EQ(run(launched(small_run(path("whole"),
                                   {"--epochs", "6", "--limit", "400", "--batch-size", "4"})),
                kOneThread)
                .status,
            0);
  expect_same_files(out, path("whole"));
}

}  // namespace
}  // namespace hearth::testing
