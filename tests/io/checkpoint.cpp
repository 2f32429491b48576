#include "hearth/io/checkpoint.h"

#include <gtest/gtest.h>

#include "hearth/cuda.h"
#include "hearth/data.h"
#include "tests/io/run.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"

namespace hearth::io {
namespace {

using testing::TempFolder;

struct Model {
  Tensor weight = zeros({3});
  void save(serialize::OutputArchive& archive) const { archive.write("weight", weight); }
  void load(serialize::InputArchive& archive) { archive.read("weight", weight); }
};

TEST(Checkpoint, RestoresAllParts) {
  const TempFolder folder;
  const std::string path = folder.path("last.safetensors");
  auto model = std::make_shared<Model>();
  Tensor average = ones({2});
  int64_t step = 12;
  float loss = 0.25F;
  bool done = false;
  std::string name = "run";
  auto loader = data::make_data_loader(data::datasets::TensorDataset(arange(10)), 3);
  Checkpoint checkpoint;
  checkpoint.add("model", model).add("average", average).add("step", step).add("loss", loss);
  checkpoint.add("done", done).add("name", name).add("loader", loader);
  manual_seed(3);
  auto batch = loader->begin();
  (void)*batch;
  model->weight.fill_(2);
  checkpoint.save(path);
  const Tensor drawn = rand({4});
  const Tensor expected = (*++batch)[0].data;

  model->weight.zero_();
  average.zero_();
  step = 0, loss = 0, done = true, name = "";
  manual_seed(99);
  checkpoint.load(path);
  EXPECT_TRUE(model->weight.equal(full({3}, 2.F)) && average.equal(ones({2})));
  EXPECT_TRUE(step == 12 && loss == 0.25F && !done && name == "run");
  EXPECT_TRUE(rand({4}).equal(drawn));
  EXPECT_TRUE((*loader->begin())[0].data.equal(expected));
}

TEST(Checkpoint, RestoresDeviceGenerators) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const TempFolder folder;
  const std::string path = folder.path("x");
  manual_seed(1);
  const Checkpoint checkpoint;
  checkpoint.save(path);
  const Tensor drawn = rand({4}, kCUDA).cpu();
  EXPECT_FALSE(rand({4}, kCUDA).cpu().equal(drawn));
  checkpoint.load(path);
  EXPECT_TRUE(rand({4}, kCUDA).cpu().equal(drawn));
}

/// Writes an archive in Checkpoint's layout, with a given state of the CPU generator.
void write_checkpoint(const std::string& path, const Tensor& generator, const Tensor& weight) {
  serialize::OutputArchive model, generators, root;
  model.write("weight", weight);
  generators.write("cpu", generator);
  root.write("model", model);
  root.write("average", full({2}, 7.F));
  root.write("step", 7);
  root.write("generators", generators);
  root.save_to(path);
}

TEST(Checkpoint, FailedLoadChangesNothing) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  Model model;
  Tensor average = zeros({2});
  int64_t step = 1;
  std::string text = "old";
  Checkpoint checkpoint;
  checkpoint.add("step", step).add("average", average).add("model", model);
  const Tensor generator_state = default_generator().get_state();
  const auto expect_unchanged = [&] {
    EXPECT_TRUE(step == 1 && average.equal(zeros({2})) && model.weight.equal(zeros({3})));
    EXPECT_TRUE(default_generator().get_state().equal(generator_state));
  };
  write_checkpoint(path, zeros({5}, kByte), ones({3}));
  EXPECT_ERROR(checkpoint.load(path), "while reading the generator 'cpu' from '" + path);
  expect_unchanged();
  write_checkpoint(path, generator_state, ones({4}));
  EXPECT_ERROR(checkpoint.load(path), "size mismatch for model.weight");
  expect_unchanged();
  write_checkpoint(path, generator_state, ones({3}));
  Tensor wrong = zeros({9});
  EXPECT_ERROR(Checkpoint().add("model", model).add("average", wrong).load(path),
               "size mismatch for average");
  EXPECT_ERROR(Checkpoint().add("model", model).add("step", text).load(path),
               "No such serialized string 'step'");
  expect_unchanged();
  checkpoint.load(path);
  EXPECT_TRUE(step == 7 && average.equal(full({2}, 7.F)) && model.weight.equal(ones({3})));
}

const std::string kStoredRun = testing::fixture_path("run.safetensors");

testing::Run run_of_two_epochs() {
  manual_seed(1);
  testing::Run run;
  for (int i = 0; i < 2; ++i) run.train_epoch();
  return run;
}

TEST(Checkpoint, RestoresNestedSchedulers) {
  const TempFolder folder;
  const std::string path = folder.path("schedule");
  optim::SGD optimizer({ones({1}).requires_grad_()}, optim::SGDOptions(0.5));
  optim::SequentialLR scheduler(
      optimizer,
      {std::make_shared<optim::ExponentialLR>(optimizer, 0.5),
       std::make_shared<optim::CosineAnnealingWarmRestarts>(optimizer, 4)},
      {3});
  Checkpoint checkpoint;
  checkpoint.add("optimizer", optimizer).add("scheduler", scheduler);
  const auto rates = [&](int steps) {
    std::vector<double> result;
    for (int i = 0; i < steps; ++i, scheduler.step()) result.push_back(scheduler.get_last_lr()[0]);
    return result;
  };
  rates(5);
  checkpoint.save(path);
  const std::vector<double> expected = rates(9);
  checkpoint.load(path);
  EXPECT_EQ(scheduler.last_epoch(), 5);
  EXPECT_EQ(rates(9), expected);
}

TEST(Checkpoint, DISABLED_WritesTheStoredRun) {
  testing::Run run = run_of_two_epochs();
  run.checkpoint().save(kStoredRun);
}

TEST(Checkpoint, ResumesTheStoredRun) {
  testing::Run expected = run_of_two_epochs();
  expected.train_epoch();
  const Tensor drawn = rand({3});
  manual_seed(2);
  testing::Run run;
  run.checkpoint().load(kStoredRun);
  EXPECT_EQ(run.epoch, 2);
  run.train_epoch();
  EXPECT_TRUE(rand({3}).equal(drawn));
  EXPECT_TRUE(allclose(run.model->weight, expected.model->weight));
  EXPECT_TRUE(allclose(run.model->bias, expected.model->bias));
  EXPECT_EQ(run.step_lr.get_last_lr(), expected.step_lr.get_last_lr());
  EXPECT_EQ(run.one_cycle.get_last_lr(), expected.one_cycle.get_last_lr());
  EXPECT_EQ(run.sampler.index(), expected.sampler.index());
}

TEST(Checkpoint, SamplerStatesStayOnTheCpu) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const TempFolder folder;
  const std::string path = folder.path("x");
  auto loader = data::make_data_loader(data::datasets::TensorDataset(arange(10)), 3);
  (void)*loader->begin();
  Checkpoint().add("loader", loader).save(path);
  Checkpoint().add("loader", loader).load(path, kCUDA);
  EXPECT_EQ((*loader->begin()).size(), 3U);
}

TEST(Checkpoint, ReportsMissingPartsBeforeLoading) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  int64_t step = 5, epoch = 6;
  Checkpoint().add("step", step).save(path);
  step = 1;
  EXPECT_ERROR(Checkpoint().add("step", step).add("epoch", epoch).load(path),
               "/x' has no 'epoch'; it has generators, step");
  EXPECT_EQ(step, 1);
  save(ones({1}), path);
  EXPECT_ERROR(Checkpoint().load(path), "is not a checkpoint: it has no 'generators'; it has 0");
  EXPECT_ERROR(Checkpoint().add("a.b", step), "'a.b' cannot name a part");
  EXPECT_ERROR(Checkpoint().add("", step), "'' cannot name a part");
  EXPECT_ERROR(Checkpoint().add("generators", step), "cannot name a part");
  EXPECT_ERROR(Checkpoint().add("a", step).add("a", epoch), "has a part 'a' already");
}

}  // namespace
}  // namespace hearth::io
