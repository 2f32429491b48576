// hearth train when the number of processes changes, when processes are restarted, and when one of
// them runs out of memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/hearth/train/batches.h"
#include "apps/hearth/train/step_random.h"
#include "hearth/hearth.h"
#include "tests/cli/train_processes.h"

namespace hearth::testing {
namespace {

class TrainWorld : public ProcessesTest {};

/// Continues an epoch after its first `seen` examples: draws up to `steps` batches in each process,
/// adds them to `examples`, updates `seen`, and returns the state that process 0 would save.
Tensor continue_epoch(const Tensor& epoch, int64_t processes, int64_t steps, int64_t& seen,
                      std::vector<size_t>& examples) {
  constexpr int64_t kExamples = 400, kBatchSize = 8;
  serialize::OutputArchive saved;
  for (int64_t rank = 0; rank < processes; ++rank) {
    app::PartSampler sampler(kExamples, rank, processes);
    serialize::InputArchive archive;
    if (epoch.defined()) {
      archive.load_from(static_cast<const char*>(epoch.data_ptr()), epoch.nbytes());
      sampler.continue_after(seen, archive);
    }
    manual_seed(1);
    sampler.reset({});
    if (rank == 0) sampler.save(saved);
    for (int64_t step = 0; step < steps; ++step)
      if (const auto part = sampler.next(static_cast<size_t>(kBatchSize / processes)))
        examples.insert(examples.end(), part->begin(), part->end());
  }
  seen = std::ssize(examples);
  std::stringstream stream;
  saved.save_to(stream);
  const std::string bytes = stream.str();
  const Tensor state = empty({std::ssize(bytes)}, kByte);
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(state.data_ptr()));
  return state;
}

TEST(PartSampler, AnEpochHasEachExampleOnceAlsoIfTheNumberOfProcessesChanges) {
  std::vector<size_t> examples;
  int64_t seen = 0;
  Tensor epoch = continue_epoch({}, 1, 10, seen, examples);
  epoch = continue_epoch(epoch, 2, 7, seen, examples);
  epoch = continue_epoch(epoch, 1, 5, seen, examples);
  continue_epoch(epoch, 4, 1000, seen, examples);
  std::ranges::sort(examples);
  ASSERT_EQ(examples.size(), 400U);
  for (size_t i = 0; i < examples.size(); ++i) EXPECT_EQ(examples[i], i);
}

TEST_F(TrainWorld, ARestartContinuesOnlyTheRunOfItsJob) {
  const std::string out = path("out"), checkpoint = out + "/run-1/last.ckpt";
  ASSERT_EQ(run(small_run(out), kOneThread).status, 0);
  const std::string config = bytes_of(out + "/config.toml"), saved = bytes_of(checkpoint);
  Arguments line{"launch", "--max-restarts", "1", "--no-prefix", "--nproc-per-node", "2",
                 "--",     HEARTH_PROGRAM};
  for (const Arguments& changes : {Arguments{"--lr", ".5", "--epochs", "3"}, Arguments{}}) {
    Arguments other = line;
    const Arguments arguments = small_run(out, changes);
    other.insert(other.end(), arguments.begin(), arguments.end());
    expect_failure(run(other, kOneThread), 1, "already holds a run");
    EXPECT_EQ(bytes_of(out + "/config.toml"), config);
    EXPECT_TRUE(bytes_of(checkpoint) == saved);
  }
}

/// The variables that torchrun sets in a process of a job after `count` restarts.
std::vector<std::string> restarted(const std::string& job, const std::string& count) {
  return {"OMP_NUM_THREADS=1", "TORCHELASTIC_RUN_ID=" + job, "TORCHELASTIC_MAX_RESTARTS=1",
          "TORCHELASTIC_RESTART_COUNT=" + count};
}

TEST_F(TrainWorld, RestartsByTorchrunAndSlurmAreRecognised) {
  const std::string out = path("out");
  ASSERT_EQ(run(small_run(out), restarted("a", "0")).status, 0);
  const RunResult again = run(small_run(out), restarted("a", "1"));
  EXPECT_EQ(again.status, 0) << again.err;
  expect_failure(run(small_run(out), restarted("b", "1")), 1, "already holds a run");
  expect_failure(run(small_run(out, {"--lr", ".2"}), restarted("a", "1")), 1,
                 "has 'lr = [0.1]', but the command 'lr = [0.2]'");
  expect_failure(run(small_run(out), restarted("a", "many")), 1,
                 "TORCHELASTIC_RESTART_COUNT is 'many'");
  const auto requeued = [](const std::string& count) {
    return std::vector<std::string>{"OMP_NUM_THREADS=1", "SLURM_JOB_ID=5",
                                    "SLURM_RESTART_COUNT=" + count};
  };
  ASSERT_EQ(run(small_run(path("slurm")), requeued("0")).status, 0);
  EXPECT_EQ(run(small_run(path("slurm")), requeued("1")).status, 0);
}

TEST(StepRandom, ChangesOfExamplesDifferBetweenProcesses) {
  const auto noise = [](const Tensor& example) { return example + rand({}); };
  const auto changed_by = [&](int64_t rank) {
    manual_seed(1);
    const auto change = app::differing(noise, rank);
    return std::vector<double>{change(zeros({})).item<double>(), change(zeros({})).item<double>()};
  };
  EXPECT_EQ(changed_by(1), changed_by(1));
  for (const size_t example : {0, 1}) EXPECT_NE(changed_by(0)[example], changed_by(1)[example]);
  EXPECT_NE(changed_by(1)[0], changed_by(1)[1]);
}

TEST_F(TrainWorld, APlannedScheduleKeepsItsNumberOfSteps) {
  const Arguments changes{"--scheduler", "onecycle", "--epochs",     "4",
                          "--limit",     "400",      "--batch-size", "4"};
  for (const bool is_launched : {false, true}) {
    const std::string out = path(is_launched ? "two" : "one");
    const Arguments arguments = small_run(out, changes);
    Program program(is_launched ? launched(arguments) : arguments, kOneThread);
    wait_for_epochs(out, 1);
    program.kill(SIGINT);
    ASSERT_EQ(program.wait().status, 130);
    const Arguments resume{"train", "--resume", out};
    const std::string saved = bytes_of(out + "/run-1/last.ckpt");
    expect_failure(run(is_launched ? resume : launched(resume), kOneThread), 1,
                   is_launched
                       ? "the schedule of this run was made for 200 steps, but would have 400"
                       : "the schedule of this run was made for 400 steps, but would have 200");
    EXPECT_TRUE(bytes_of(out + "/run-1/last.ckpt") == saved);
    EXPECT_EQ(run(is_launched ? launched(resume) : resume, kOneThread).status, 0);
  }
}

TEST_F(TrainWorld, ARunOutOfMemoryIsTriedAfterTheOthers) {
  const std::vector<std::string> little{"HEARTH_SIM_GPUS=2", "HEARTH_SIM_GPU_MEMORY=6MiB",
                                        "OMP_NUM_THREADS=1"};
  const std::string out = path("out");
  const RunResult ran = run(
      launched(small_run(out, {"--batch-size", "1000,20", "--limit", "2000", "--device", "cuda"})),
      little);
  ASSERT_EQ(ran.status, 1) << ran.err;
  const std::string status = rows_of(out).at(0).at("status");
  EXPECT_TRUE(status == "out of memory" || status == "failed") << status;
  EXPECT_EQ(run(launched({"train", "--resume", out}), little).status, 1);
  EXPECT_EQ(rows_of(out).back().at("status"), "finished");
}

}  // namespace
}  // namespace hearth::testing
