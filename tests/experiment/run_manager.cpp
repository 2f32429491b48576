// Runs from begin to end: sums, table, files for TensorBoard, wrong use.
#include "hearth/experiment/run_manager.h"

#include <gtest/gtest.h>

#include "hearth/experiment/run_builder.h"
#include "hearth/hearth.h"
#include "tests/support/files.h"
#include "tests/support/warnings.h"

namespace hearth::testing {

namespace {

using namespace hearth::experiment;
namespace fs = std::filesystem;

/// Makes a temporary folder the current one, because logs go to runs/.
class InTempFolder {
 public:
  InTempFolder() : former_(fs::current_path()) { fs::current_path(folder_.str()); }
  ~InTempFolder() { fs::current_path(former_); }
  InTempFolder(const InTempFolder&) = delete;
  InTempFolder& operator=(const InTempFolder&) = delete;

 private:
  TempFolder folder_;
  fs::path former_;
};

/// Ten images of these sizes, all with label 1.
struct Images : data::datasets::Dataset<Images> {
  explicit Images(IntArrayRef sizes_) : sizes(sizes_.begin(), sizes_.end()) {}
  data::Example<> get(size_t) override { return {ones(sizes), tensor(1)}; }
  std::optional<size_t> size() const override { return 10; }
  std::vector<int64_t> sizes;
};

auto loader_of(IntArrayRef sizes, size_t batch_size = 4) {
  return data::make_data_loader<data::samplers::SequentialSampler>(
      Images(sizes).map(data::transforms::Stack<>()), data::DataLoaderOptions(batch_size));
}

nn::Sequential network_for(int64_t inputs) {
  return nn::Sequential(nn::Flatten(), nn::Linear(inputs, 2));
}

/// One epoch with a gradient for each parameter.
template <class Loader>
void train_epoch(RunManager& manager, nn::Sequential& network, Loader& loader) {
  const Device device = network->parameters().front().device();
  manager.begin_epoch();
  for (auto& batch : loader) {
    const Tensor images = batch.data.to(device), labels = batch.target.to(device);
    const Tensor preds = network->forward(images), loss = cross_entropy_loss(preds, labels);
    loss.backward();
    manager.track_loss(loss, images);
    manager.track_num_correct(preds, labels);
  }
  manager.end_epoch();
}

/// The bytes of all event files in those folders under runs/ whose paths end in `end_of_folder`.
std::string events(const std::string& end_of_folder) {
  std::string bytes;
  for (const auto& entry : fs::recursive_directory_iterator("runs"))
    if (entry.is_regular_file() && entry.path().parent_path().string().ends_with(end_of_folder))
      bytes += bytes_of(entry.path().string());
  return bytes;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

RunManager quiet() { return RunManager(RunManagerOptions().show(false).tensorboard(false)); }

TEST(RunManager, WeighsLossesByTheSizesOfBatches) {
  nn::Sequential network = network_for(4);
  auto loader = loader_of({1, 2, 2});
  RunManager manager = quiet();
  manager.begin_run(experiment::Run{{"lr", .1}}, network, *loader);
  manager.begin_epoch();
  // Batches of 3 and 1: (3 * 2 + 1 * 6) / 4, and 3 of 4 right.
  manager.track_loss(tensor(2.), zeros({3, 1}));
  manager.track_loss(tensor(6.f), zeros({1, 1}));
  manager.track_num_correct(tensor({{0., 1.}, {1., 0.}, {0., 2.}}), tensor({1, 0, 0}));
  manager.track_num_correct(tensor({{3., 1.}}), tensor({0}));
  manager.end_epoch();
  const EpochResult& row = manager.results().rows().at(0);
  EXPECT_DOUBLE_EQ(row.loss, 3);
  EXPECT_DOUBLE_EQ(row.accuracy.value(), .75);
  EXPECT_EQ(row.params, (experiment::Run{{"lr", .1}}));
  EXPECT_LE(row.epoch_duration, row.run_duration);
}

TEST(RunManager, CountsRunsAndEpochs) {
  const InTempFolder folder;
  nn::Sequential network = network_for(4);
  auto loader = loader_of({1, 2, 2});
  RunManager manager(RunManagerOptions().show(false).tensorboard(false).results("all"));
  for (const experiment::Run& run : RunBuilder::get_runs({{"lr", {.1, .2}}})) {
    manager.begin_run(run, network, *loader);
    for (int epoch = 0; epoch < 2; ++epoch) train_epoch(manager, network, *loader);
  }
  std::vector<std::pair<int64_t, int64_t>> numbers;
  for (const EpochResult& row : manager.results().rows()) numbers.emplace_back(row.run, row.epoch);
  EXPECT_EQ(numbers, (std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
  EXPECT_EQ(bytes_of("all.csv"), manager.results().csv());
}

TEST(RunManager, LogsImagesGraphScalarsAndHistograms) {
  const InTempFolder folder;
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  nn::Sequential network = network_for(3 * 4 * 4);
  network->to(device);
  auto loader = loader_of({3, 4, 4});
  RunManager manager(RunManagerOptions().show(false));
  manager.begin_run(experiment::Run{{"device", device}, {"data", "a/b"}}, network, *loader);
  train_epoch(manager, network, *loader);
  manager.end_run();
  const std::string log = events("-Run(device=" + device.str() + ", data=a_b)");
  for (const char* part : {"images", "PNG", "Sequential/Linear[1]", "Loss", "Accuracy", "1.weight",
                           "1.bias", "1.weight.grad", "1.bias.grad"})
    EXPECT_TRUE(contains(log, part)) << part;
}

TEST(RunManager, LogsNoImageOfDataThatAreNotImages) {
  const InTempFolder folder;
  nn::Sequential network = network_for(7);
  auto loader = loader_of({7});
  RunManager manager(RunManagerOptions().show(false));
  manager.begin_run(experiment::Run{{"lr", .1}}, network, *loader);
  manager.end_run();
  EXPECT_FALSE(contains(events("lr=0.1)"), "PNG"));
  EXPECT_TRUE(contains(events("lr=0.1)"), "Linear"));
}

TEST(RunManager, PrintsTheTableWhileRunsGoOn) {
  nn::Sequential network = network_for(4);
  auto loader = loader_of({1, 2, 2});
  ::testing::internal::CaptureStdout();
  RunManager manager(RunManagerOptions().tensorboard(false));
  manager.begin_run(experiment::Run{{"optimizer", "sgd"}}, network, *loader);
  train_epoch(manager, network, *loader);
  train_epoch(manager, network, *loader);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_TRUE(
      text.starts_with("run  epoch    loss  accuracy  epoch_duration  run_duration  "
                       "optimizer\n  1      1  "))
      << text;
  EXPECT_TRUE(text.ends_with("        sgd\n")) << text;
}

TEST(RunManager, GoesOnIfResultsCannotBeSaved) {
  const TempFolder folder;
  const Warnings warnings;
  nn::Sequential network = network_for(4);
  auto loader = loader_of({1, 2, 2});
  RunManager manager(
      RunManagerOptions().show(false).tensorboard(false).results(folder.path("missing/results")));
  manager.begin_run(experiment::Run(), network, *loader);
  train_epoch(manager, network, *loader);
  EXPECT_EQ(manager.results().rows().size(), 1u);
  EXPECT_TRUE(Warnings::contains("No such file or directory; the runs go on"));
}

TEST(RunManager, ExplainsWrongUse) {
  nn::Sequential network = network_for(4);
  auto loader = loader_of({1, 2, 2});
  RunManager manager = quiet();
  EXPECT_ERROR(manager.begin_epoch(), "begin_epoch() was called before begin_run()");
  EXPECT_ERROR(manager.begin_run(experiment::Run{{"epoch", 1}}, network, *loader),
               "a parameter cannot be called 'epoch'");
  manager.begin_run(experiment::Run(), network, *loader);
  EXPECT_ERROR(manager.track_loss(tensor(1.), ones({1})),
               "track_loss() was called before begin_epoch()");
  manager.begin_epoch();
  EXPECT_ERROR(manager.begin_epoch(), "begin_epoch() was called again before end_epoch()");
  EXPECT_ERROR(manager.end_epoch(), "end_epoch() found no loss of this epoch");
  EXPECT_ERROR(manager.track_loss(ones({2}), ones({2})), "a tensor with one element");
  EXPECT_ERROR(manager.track_loss(tensor(1.), tensor(1.)), "a dimension for the examples");
  EXPECT_ERROR(manager.track_num_correct(ones({2, 3}), ones({2, 1})),
               "scores of sizes [N, classes] and labels of sizes [N], but got [2, 3] and [2, 1]");
}

}  // namespace

}  // namespace hearth::testing
