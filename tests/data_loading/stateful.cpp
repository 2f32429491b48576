// Loaders of stateful datasets.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "hearth/data.h"

namespace hearth::data {
namespace {

/// Counts up to a limit, with a lock, because workers share the dataset. The first worker is slow.
struct Counter : datasets::StatefulDataset<Counter, std::vector<int>> {
  explicit Counter(int limit_) : limit(limit_) {}
  std::optional<std::vector<int>> get_batch(size_t count) override {
    const auto worker = get_worker_info();
    if (worker && worker->id == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(*mutex);
    if (next >= limit) return std::nullopt;
    std::vector<int> batch;
    for (size_t i = 0; i < count && next < limit; ++i) batch.push_back(next++);
    return batch;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override {
    if (!is_loaded) next = 0;
    is_loaded = false;
  }
  void save(serialize::OutputArchive& archive) const override { archive.write("next", next); }
  void load(serialize::InputArchive& archive) override {
    archive.read("next", next);
    is_loaded = true;
  }
  int limit, next = 0;
  bool is_loaded = false;
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
};

TEST(StatefulLoader, EndsWithItsDatasetAndResumes) {
  for (const size_t workers : {0, 3}) {
    auto loader = make_data_loader(Counter(11), DataLoaderOptions(2).workers(workers));
    for (int i = 0; i < 2; ++i) {
      std::multiset<int> seen;
      for (auto& batch : *loader) seen.insert(batch.begin(), batch.end());
      EXPECT_EQ(seen.size(), 11U);
      EXPECT_EQ(*seen.rbegin(), 10);
    }
  }
  auto loader = make_data_loader(Counter(11), DataLoaderOptions(2));
  auto it = loader->begin();
  ++it;
  auto other = make_data_loader(Counter(11), DataLoaderOptions(2));
  other->load_state_dict(loader->state_dict());
  EXPECT_EQ((*other->begin())[0], 4);
}

template <class Loader>
auto batches_of(Loader loader) {
  std::vector<typename Loader::element_type::BatchType> batches;
  for (auto& batch : *loader) batches.push_back(batch);
  return batches;
}

TEST(StatefulLoader, BatchesDoNotDependOnWorkerCount) {
  const auto plain = [](size_t workers) {
    return batches_of(make_data_loader(Counter(31), DataLoaderOptions(2).workers(workers)));
  };
  const auto mapped = [](size_t workers) {
    const transforms::BatchLambda<std::vector<int>, int> first(
        [](const std::vector<int>& batch) { return batch[0]; });
    const transforms::BatchLambda<int, int> twice([](int number) { return 2 * number; });
    return batches_of(
        make_data_loader(Counter(31).map(first).map(twice), DataLoaderOptions(2).workers(workers)));
  };
  EXPECT_EQ(plain(0).size(), 16U);
  EXPECT_EQ(mapped(0)[15], 60);
  for (const size_t workers : {1, 2, 5}) {
    EXPECT_EQ(plain(workers), plain(0));
    EXPECT_EQ(mapped(workers), mapped(0));
  }
}

TEST(StatefulLoader, TransformsRunConcurrently) {
  std::atomic<int> running = 0;
  // Waits until another transform runs at the same time and returns whether one did.
  const transforms::BatchLambda<std::vector<int>, bool> meets([&](const std::vector<int>&) {
    ++running;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (running < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return running >= 2;
  });
  for (const bool met :
       batches_of(make_data_loader(Counter(2).map(meets), DataLoaderOptions(1).workers(2))))
    EXPECT_TRUE(met);
}

/// Throws in the second batch.
struct Failing : Counter {
  using Counter::Counter;
  std::optional<std::vector<int>> get_batch(size_t count) override {
    auto batch = Counter::get_batch(count);
    if (batch && batch->front() == 3) throw std::runtime_error("badness");
    return batch;
  }
};

TEST(StatefulLoader, ContinuesAfterAnErrorThatNamesTheBatch) {
  for (const size_t workers : {0, 2}) {
    auto loader = make_data_loader(Failing(9), DataLoaderOptions(3).workers(workers));
    auto it = loader->begin();
    (void)*it;
    try {
      ++it;
      FAIL();
    } catch (const std::runtime_error& error) {
      const std::string text = error.what(), from_worker = "Original message: badness (in batch 1)";
      EXPECT_TRUE(workers == 0 ? text == "badness" : text.ends_with(from_worker)) << text;
    }
    ++it;
    EXPECT_EQ(it->front(), 6);
  }
}

}  // namespace
}  // namespace hearth::data
