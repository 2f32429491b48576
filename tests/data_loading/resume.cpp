// Data loaders that resume or are destroyed during an epoch.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "hearth/data.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "tests/support/files.h"

namespace hearth::data {
namespace {

using namespace std::chrono_literals;

/// Example i is i plus noise.
struct NoisyIndices : datasets::Dataset<NoisyIndices, TensorExample> {
  explicit NoisyIndices(size_t count_) : count(count_) {}
  TensorExample get(size_t index) override { return full({1}, double(index), kDouble) + rand({1}); }
  std::optional<size_t> size() const override { return count; }
  size_t count;
};

auto loader_of(size_t count, size_t batch_size, size_t workers) {
  return make_data_loader(NoisyIndices(count).map(transforms::Stack<TensorExample>()),
                          DataLoaderOptions(batch_size).workers(workers));
}

/// The batches of two epochs without the first `skip` batches.
template <class Loader>
std::vector<Tensor> remaining_batches(Loader& loader, size_t skip) {
  std::vector<Tensor> batches;
  for (int i = 0; i < 2; ++i)
    for (auto& batch : loader) batches.push_back(batch.data);
  batches.erase(batches.begin(), batches.begin() + std::ptrdiff_t(skip));
  return batches;
}

void expect_equal_batches(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << "batch " << i;
}

TEST(Resume, ContinuesDuringAnEpoch) {
  manual_seed(4);
  auto whole = loader_of(30, 4, 0);
  const std::vector<Tensor> expected = remaining_batches(*whole, 3);
  for (const size_t workers : {0, 2}) {
    manual_seed(4);
    auto first = loader_of(30, 4, workers);
    serialize::OutputArchive state;
    Tensor generator;
    size_t count = 0;
    for (auto& batch : *first) {
      (void)batch;
      if (++count < 3) continue;
      state = first->state_dict();
      generator = default_generator().get_state();
      break;
    }
    auto second = loader_of(30, 4, 2 - workers);
    Generator(default_generator()).set_state(generator);
    second->load_state_dict(state);
    expect_equal_batches(remaining_batches(*second, 0), expected);
  }
}

TEST(Resume, ContinuesBetweenEpochsAndBeforeTheFirst) {
  manual_seed(4);
  auto whole = loader_of(10, 4, 0);
  const serialize::OutputArchive before = whole->state_dict();
  const Tensor start = default_generator().get_state();
  const std::vector<Tensor> expected = remaining_batches(*whole, 0);
  auto again = loader_of(10, 4, 1);
  Generator(default_generator()).set_state(start);
  again->load_state_dict(before);
  expect_equal_batches(remaining_batches(*again, 0), expected);

  // A state that was saved after an epoch continues with the next epoch.
  Generator(default_generator()).set_state(start);
  again->load_state_dict(before);
  for (auto& batch : *again) (void)batch;
  auto later = loader_of(10, 4, 0);
  const serialize::OutputArchive between = again->state_dict();
  // The draws of a new loader and of its first epoch.
  manual_seed(4);
  (void)randperm(10), (void)randperm(10), (void)empty({}, kLong).random_();
  later->load_state_dict(between);
  std::vector<Tensor> second;
  for (auto& batch : *later) second.push_back(batch.data);
  expect_equal_batches(second, {expected.begin() + 3, expected.end()});
}

TEST(Resume, ReturnsNoBatchAfterTheLast) {
  auto loader = loader_of(8, 4, 1);
  serialize::OutputArchive state;
  for (auto& batch : *loader) {
    (void)batch;
    state = loader->state_dict();
  }
  auto other = loader_of(8, 4, 0);
  other->load_state_dict(state);
  EXPECT_TRUE(other->begin() == other->end());
}

TEST(Resume, LoadInvalidatesIterators) {
  for (const size_t workers : {0, 2}) {
    auto loader = loader_of(12, 4, workers);
    auto it = loader->begin();
    (void)*it;
    const serialize::OutputArchive state = loader->state_dict();
    const Tensor second = (*++it).data;
    loader->load_state_dict(state);
    EXPECT_ERROR(++it, "the data loader has loaded another position");
    size_t count = 0;
    for (auto& batch : *loader) EXPECT_EQ(batch.data.equal(second), count++ == 0);
    EXPECT_EQ(count, 2U);
  }
}

TEST(Resume, RejectsStatesOfOtherLoaders) {
  auto loader = loader_of(8, 4, 0);
  auto it = loader->begin();
  (void)*it;
  const serialize::OutputArchive state = loader->state_dict();
  EXPECT_ERROR(loader_of(9, 4, 0)->load_state_dict(state),
               "was saved for a dataset of 8 examples; this one has 9");
  EXPECT_ERROR(loader_of(8, 3, 0)->load_state_dict(state),
               "in an epoch with batch size 4; this loader's batch size is 3");
  EXPECT_ERROR(loader_of(8, 4, 0)->load_state_dict(serialize::OutputArchive()),
               "No such serialized bool 'in_epoch'");
  auto unordered =
      make_data_loader(NoisyIndices(8), DataLoaderOptions(1).workers(1).enforce_ordering(false));
  auto first = unordered->begin();
  (void)*first;
  EXPECT_ERROR(unordered->state_dict(), "without enforce_ordering cannot save");
}

size_t count_threads() {
  return size_t(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                              std::filesystem::directory_iterator()));
}

/// Waits until the count is stable, because the kernel still lists joined threads for a moment.
size_t count_threads_when_stable() {
  size_t count = count_threads();
  for (int num_equal = 0; num_equal < 5; ++num_equal) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const size_t now = count_threads();
    if (now != count) num_equal = 0;
    count = now;
  }
  return count;
}

/// Counts the threads inside get(), sleeps briefly, and sometimes throws.
struct Busy : datasets::Dataset<Busy, int> {
  explicit Busy(std::shared_ptr<std::atomic<int>> inside_) : inside(std::move(inside_)) {}
  int get(size_t index) override {
    ++*inside;
    std::this_thread::sleep_for(std::chrono::microseconds(index % 5 * 20));
    --*inside;
    if (index % 31 == 30) throw std::runtime_error("now and then");
    return int(index);
  }
  std::optional<size_t> size() const override { return 60; }
  std::shared_ptr<std::atomic<int>> inside;
};

TEST(DestroyedLoader, LeavesNoThread) {
  const size_t before = count_threads_when_stable();
  const auto inside = std::make_shared<std::atomic<int>>(0);
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    auto loader = make_data_loader(Busy(inside), DataLoaderOptions(1 + random() % 4)
                                                     .workers(random() % 4)
                                                     .enforce_ordering(random() % 2)
                                                     .max_jobs(1 + random() % 9));
    try {
      size_t num_remaining = random() % 20;
      for (auto& batch : *loader) {
        (void)batch;
        if (num_remaining-- == 0) break;
      }
    } catch (const std::runtime_error&) {  // also a WorkerException
    }
    loader.reset();
    ASSERT_EQ(*inside, 0);
  }
  EXPECT_EQ(count_threads_when_stable(), before);
}

}  // namespace
}  // namespace hearth::data
