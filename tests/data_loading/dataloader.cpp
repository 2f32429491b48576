#include "hearth/data/dataloader.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/data.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/ordered_dict.h"
#include "hearth/threads.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"
#include "tests/support/throws.h"

namespace hearth::data {
namespace {

using namespace std::chrono_literals;

/// Example i is the number i, with noise if `has_noise` is set. Some examples take longer to load.
struct NumberExamples : datasets::Dataset<NumberExamples, TensorExample> {
  NumberExamples(size_t count_, bool has_noise_) : count(count_), has_noise(has_noise_) {}
  TensorExample get(size_t index) override {
    if (index % 7 == 0) std::this_thread::sleep_for(200us);
    const Tensor value = full({1}, double(index), kDouble);
    return has_noise ? value + rand({1}, kDouble) : value;
  }
  std::optional<size_t> size() const override { return count; }
  size_t count;
  bool has_noise;
};

template <class Loader>
std::vector<Tensor> data_of_epoch(Loader& loader) {
  std::vector<Tensor> batches;
  for (auto& batch : loader) batches.push_back(batch.data);
  return batches;
}

void expect_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << "batch " << i;
}

auto noisy_batches(size_t count) {
  return NumberExamples(count, true).map(transforms::Stack<TensorExample>());
}

TEST(DataLoader, BatchesDoNotDependOnWorkerCount) {
  std::vector<std::vector<Tensor>> expected;
  for (const size_t workers : {0, 1, 2, 7}) {
    manual_seed(11);
    auto loader = make_data_loader(noisy_batches(103), DataLoaderOptions(8).workers(workers));
    for (size_t i = 0; i < 3; ++i) {
      const std::vector<Tensor> batches = data_of_epoch(*loader);
      if (workers == 0)
        expected.push_back(batches);
      else
        expect_equal(batches, expected[i]);
    }
  }
  EXPECT_EQ(expected[0].size(), 13U);
  EXPECT_EQ(expected[0].back().size(0), 7);
  EXPECT_FALSE(expected[0][0].equal(expected[1][0]));
}

TEST(DataLoader, DropsTheLastBatch) {
  for (const size_t workers : {0, 2}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        noisy_batches(10), DataLoaderOptions(4).workers(workers).drop_last(true));
    EXPECT_EQ(data_of_epoch(*loader).size(), 2U);
  }
}

TEST(DataLoader, ReturnsAllBatchesWithoutOrdering) {
  auto loader = make_data_loader<samplers::SequentialSampler>(
      NumberExamples(50, false),
      DataLoaderOptions(1).workers(3).enforce_ordering(false).max_jobs(9));
  std::multiset<double> seen;
  for (auto& batch : *loader) seen.insert(batch[0].data.item<double>());
  EXPECT_EQ(seen.size(), 50U);
  EXPECT_EQ(std::set<double>(seen.begin(), seen.end()).size(), 50U);
}

struct Throwing : datasets::Dataset<Throwing, int> {
  int get(size_t index) override {
    if (index == 5) throw std::invalid_argument("badness");
    if (index == 7) fail_with_index_error();
    return int(index);
  }
  [[noreturn]] static void fail_with_index_error() {
    hearth::detail::fail<IndexError>("no such index");
  }
  std::optional<size_t> size() const override { return 20; }
};

TEST(DataLoader, ExceptionsNameBatchAndExample) {
  auto loader =
      make_data_loader<samplers::SequentialSampler>(Throwing(), DataLoaderOptions(2).workers(2));
  auto batch = loader->begin();
  EXPECT_EQ((*batch)[1], 1);
  ++batch;
  try {
    ++batch;
    FAIL();
  } catch (const WorkerException& error) {
    EXPECT_EQ(
        error.message,
        "Caught exception in DataLoader worker thread. Original message: badness (in batch 2, "
        "example 5)");
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::invalid_argument);
  }
  EXPECT_ERROR(++batch, "no such index (in batch 3, example 7)");
  ++batch;
  EXPECT_EQ((*batch)[0], 8);
}

/// A dataset whose copies are numbered.
struct Counted : datasets::Dataset<Counted, int> {
  Counted() = default;
  Counted(const Counted& other) : Dataset(other), id(++copies) {}
  Counted(Counted&& other) noexcept : id(other.id) {}
  int get(size_t) override { return id; }
  std::optional<size_t> size() const override { return 64; }

  static inline int copies = 0;
  int id = 0;
};

// LibTorch makes as many copies.
TEST(DataLoader, CopiesTheDatasetOncePerWorker) {
  for (const int workers : {0, 1, 3}) {
    Counted::copies = 0;
    auto loader = make_data_loader<samplers::SequentialSampler>(
        Counted(), DataLoaderOptions(1).workers(static_cast<size_t>(workers)));
    EXPECT_EQ(Counted::copies, workers);
    for (const auto& batch : *loader) {
      EXPECT_GE(batch[0], workers > 0 ? 1 : 0);
      EXPECT_LE(batch[0], workers);
    }
    EXPECT_EQ(Counted::copies, workers);
  }
}

TEST(DataLoader, KeepsExceptionTypesWithoutWorkers) {
  auto loader = make_data_loader<samplers::SequentialSampler>(Throwing(), DataLoaderOptions(2));
  auto batch = loader->begin();
  ++batch;
  EXPECT_THROW(
      try { ++batch; } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "badness");
        throw;
      },
      std::invalid_argument);
  EXPECT_THROW(
      try { ++batch; } catch (const IndexError& error) {
        EXPECT_STREQ(error.what(), "no such index\nwhile loading data (in batch 3, example 7)");
        throw;
      },
      IndexError);
}

TEST(DataLoader, TransformErrorsNameTheExample) {
  auto dataset = NumberExamples(20, false).map(transforms::TensorLambda<void>(
      [](const Tensor& t) { return t.item<double>() == 6 ? t.view({2}) : t; }));
  auto loader =
      make_data_loader<samplers::SequentialSampler>(dataset, DataLoaderOptions(4).workers(1));
  EXPECT_ERROR(for (auto& batch : *loader)(void) batch, "(in batch 1, example 6)");
  const auto throwing_loader = [](size_t workers) {
    return make_data_loader<samplers::SequentialSampler>(
        NumberExamples(20, false).map(transforms::Collate<TensorExample>(
            [](const std::vector<TensorExample>&) -> TensorExample { throw 5; })),
        DataLoaderOptions(3).workers(workers));
  };
  EXPECT_ERROR((void)*throwing_loader(1)->begin(),
               "worker thread. (in batch 0 of examples 0, 1, 2)");
  EXPECT_THROW((void)*throwing_loader(0)->begin(), int);
}

TEST(DataLoader, IteratorsRejectUsePastTheEnd) {
  for (const size_t workers : {0, 2}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        NumberExamples(3, false), DataLoaderOptions(1).workers(workers));
    auto it = loader->begin(), end = loader->end();
    EXPECT_TRUE(it == it && end == end && it != end && end != it);
    EXPECT_EQ(it->size(), 1U);
    ++it, ++it, ++it;
    EXPECT_TRUE(it == end && end == it);
    EXPECT_ERROR(++it, "Attempted to increment iterator past the end");
    EXPECT_ERROR(*it, "Attempted to dereference iterator that was past the end");
    EXPECT_ERROR(++end, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    EXPECT_ERROR(*end, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
  }
}

TEST(DataLoader, AllowsOneIteratorAtATime) {
  auto loader = make_data_loader(NumberExamples(30, false), DataLoaderOptions(1).workers(2));
  {
    auto it = loader->begin();
    EXPECT_ERROR(loader->begin(),
                 "Attempted to get a new DataLoader iterator while another iterator is not yet "
                 "exhausted");
  }
  size_t count = 0;  // a destroyed iterator does not prevent another
  for (auto& batch : *loader) count += batch.size();
  EXPECT_EQ(count, 30U);
  loader->join();
  EXPECT_ERROR(loader->begin(), "its workers have ended");
}

TEST(DataLoader, IteratorThrowsAfterJoin) {
  auto loader = make_data_loader(NumberExamples(30, false), DataLoaderOptions(1).workers(2));
  auto it = loader->begin();
  (void)*it;
  loader->join();
  EXPECT_ERROR(++it, "its workers have ended");
}

struct Unsized : datasets::Dataset<Unsized, int> {
  int get(size_t index) override { return int(index); }
  std::optional<size_t> size() const override { return std::nullopt; }
};

TEST(DataLoader, ChecksItsOptions) {
  EXPECT_ERROR(make_data_loader(Unsized(), 1),
               "Expected the dataset to be sized in order to construct the Sampler");
  const auto empty_batches = make_data_loader(NumberExamples(3, false), DataLoaderOptions(0));
  auto batch = empty_batches->begin();
  EXPECT_ERROR(*batch, "the sampler returned an empty batch for batch_size=0");
  EXPECT_ERROR(
      make_data_loader(NumberExamples(3, false), DataLoaderOptions(1).workers(2).max_jobs(0)),
      "max_jobs should be positive");
  // The check comes before any copies of the dataset.
  EXPECT_ERROR(
      make_data_loader(NumberExamples(3, false), DataLoaderOptions(1).workers(1'000'000'000'000)),
      "a data loader has at most 4096 workers, but workers=1000000000000");
  const FullDataLoaderOptions full(DataLoaderOptions(5).workers(3));
  EXPECT_TRUE(full.batch_size == 5 && full.max_jobs == 6 && full.enforce_ordering &&
              !full.drop_last && !full.timeout);
}

struct Slow : datasets::Dataset<Slow, int> {
  int get(size_t index) override {
    if (index == 0) std::this_thread::sleep_for(400ms);
    return int(index);
  }
  std::optional<size_t> size() const override { return 5; }
};

TEST(DataLoader, TimesOut) {
  auto loader = make_data_loader<samplers::SequentialSampler>(
      Slow(), DataLoaderOptions(1).workers(1).timeout(20ms));
  auto it = loader->begin();
  EXPECT_ERROR((void)*it,
               "Timeout in DataLoader queue while waiting for next batch (timeout was 20 ms)");
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ((*it)[0], 0);  // the late batch is not lost
}

constexpr uint64_t kNoWorker = 77;

/// Each example is {thread count, grad mode, worker's id, worker count, seed} of its worker thread.
struct WorkerProperties : datasets::Dataset<WorkerProperties, std::vector<uint64_t>> {
  std::vector<uint64_t> get(size_t) override {
    std::this_thread::sleep_for(1ms);
    const auto info = get_worker_info();
    return {uint64_t(get_num_threads()), uint64_t(GradMode::is_enabled()),
            info ? info->id : kNoWorker, info ? info->num_workers : kNoWorker,
            info ? info->seed : kNoWorker};
  }
  std::optional<size_t> size() const override { return 40; }
};

TEST(DataLoader, WorkersUseOneThreadAndTheCallersGradMode) {
  auto loader = make_data_loader(WorkerProperties(), DataLoaderOptions(1).workers(3));
  std::set<uint64_t> ids, seeds;
  {
    const NoGradGuard no_grad;
    for (auto& batch : *loader) {
      const std::vector<uint64_t>& properties = batch[0];
      EXPECT_TRUE(properties[0] == 1 && properties[1] == 0 && properties[2] < 3 &&
                  properties[3] == 3);
      ids.insert(properties[2]);
      seeds.insert(properties[4]);
    }
  }
  EXPECT_EQ(ids.size(), seeds.size());
  for (auto& batch : *loader) EXPECT_EQ(batch[0][1], 1U);
  EXPECT_FALSE(get_worker_info());
  auto without_workers = make_data_loader(WorkerProperties(), DataLoaderOptions(1));
  EXPECT_EQ((*without_workers->begin())[0][2], kNoWorker);
  EXPECT_EQ((*without_workers->begin())[0][0], uint64_t(get_num_threads()));
}

TEST(DataLoader, PinsBatches) {
  const bool has_gpu = cuda::is_available();
  auto stacked =
      make_data_loader(noisy_batches(6), DataLoaderOptions(3).workers(1).pin_memory(true));
  EXPECT_EQ(stacked->options().pin_memory, has_gpu);
  for (auto& batch : *stacked) EXPECT_EQ(batch.data.is_pinned(), has_gpu);
  auto unstacked =
      make_data_loader(NumberExamples(6, false), DataLoaderOptions(3).pin_memory(true));
  for (auto& batch : *unstacked)
    for (auto& example : batch) EXPECT_EQ(example.data.is_pinned(), has_gpu);
}

using TensorsInContainers =
    std::tuple<Tensor, std::vector<std::pair<Tensor, Tensor>>, std::map<std::string, Tensor>,
               OrderedDict<std::string, Tensor>, std::array<std::optional<Tensor>, 2>,
               std::filesystem::path>;

/// Batches with tensors in containers.
struct ContainersOfTensors : datasets::BatchDataset<ContainersOfTensors, TensorsInContainers> {
  TensorsInContainers get_batch(ArrayRef<size_t>) override {
    const auto number = [] { return ones({1}); };
    OrderedDict<std::string, Tensor> dict;
    dict.insert("a", number());
    return {number(), {{number(), number()}}, {{"a", number()}}, dict, {number()}, "folder/file"};
  }
  std::optional<size_t> size() const override { return 1; }
};

TEST(DataLoader, PinsTensorsInContainers) {
  auto loader =
      make_data_loader(ContainersOfTensors(), DataLoaderOptions().workers(1).pin_memory(true));
  for (auto& [single, pairs, map, dict, array, path] : *loader)
    for (const Tensor& tensor :
         {single, pairs[0].first, pairs[0].second, map["a"], dict["a"], array[0].value()})
      EXPECT_EQ(tensor.is_pinned(), cuda::is_available());
}

/// The exit status of a forked process that runs the function, which returns whether all is well.
template <class F>
int status_of_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

TEST(DataLoader, ForkedProcessesNeedTheirOwn) {
  const auto make = [] {
    return make_data_loader(noisy_batches(40), DataLoaderOptions(2).workers(2));
  };
  auto loader = make();
  auto it = loader->begin();
  EXPECT_EQ(it->data.numel(), 2);
  EXPECT_EQ(status_of_child([&] {
              EXPECT_ERROR(++it, "create a data loader after the fork");
              EXPECT_ERROR(loader->begin(), "create a data loader after the fork");
              loader.reset();
              // The thread sanitizer does not follow threads that a forked process starts.
              if (testing::kThreadSanitizer) return !::testing::Test::HasFailure();
              auto own = make();
              return data_of_epoch(*own).size() == 20 && !::testing::Test::HasFailure();
            }),
            0);
  while (++it != loader->end()) EXPECT_EQ(it->data.numel(), 2);
}

/// A stream of consecutive numbers.
struct Stream : datasets::StreamDataset<Stream, std::vector<int>> {
  std::vector<int> get_batch(size_t count) override {
    std::vector<int> batch;
    for (size_t i = 0; i < count; ++i) batch.push_back(next++);
    return batch;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  int next = 0;
};

TEST(DataLoader, SupportsStreamDatasets) {
  auto loader = make_data_loader(Stream(), samplers::StreamSampler(10), DataLoaderOptions(4));
  std::vector<std::vector<int>> batches;
  for (auto& batch : *loader) batches.push_back(batch);
  EXPECT_EQ(batches, (std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
}

}  // namespace
}  // namespace hearth::data
