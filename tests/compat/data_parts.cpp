// The parts of data loaders with which programs write their own.
#include <gtest/gtest.h>
#include <torch/data/dataloader/base.h>
#include <torch/torch.h>

#include <thread>

#include "tests/support/throws.h"

namespace {

using torch::data::detail::DataShuttle;
using torch::data::detail::Queue;
namespace sequencers = torch::data::detail::sequencers;

struct ArrivingResult {
  size_t sequence_number;
};

/// The squares of indices.
struct IndexSquares : torch::data::datasets::BatchDataset<IndexSquares, std::vector<int>> {
  std::vector<int> get_batch(torch::ArrayRef<size_t> indices) override {
    std::vector<int> batch;
    for (const size_t index : indices) batch.push_back(static_cast<int>(index * index));
    return batch;
  }
  torch::optional<size_t> size() const override { return 6; }
};

/// A program's loader, which takes every second index.
class EverySecond
    : public torch::data::DataLoaderBase<IndexSquares, std::vector<int>, std::vector<size_t>> {
 public:
  using Base = torch::data::DataLoaderBase<IndexSquares, std::vector<int>, std::vector<size_t>>;
  explicit EverySecond(size_t workers)
      : Base(torch::data::DataLoaderOptions(2).workers(workers), std::make_unique<IndexSquares>()) {
  }

 private:
  std::optional<std::vector<size_t>> get_batch_request() override {
    if (next_ >= 6) return std::nullopt;
    next_ += 2;
    return std::vector<size_t>{next_ - 2};
  }
  void reset() override {
    next_ = 0;
    Base::reset();
  }
  size_t next_ = 0;
};

}  // namespace

TEST(DataParts, LoadersOfPrograms) {
  for (const size_t workers : {0, 2}) {
    EverySecond loader(workers);
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<int> values;
      for (const std::vector<int>& batch : loader) values.push_back(batch.at(0));
      EXPECT_EQ(values, (std::vector<int>{0, 4, 16}));
    }
    EXPECT_ERROR(loader.state_dict(), "does not define save_source()");
  }
}

TEST(DataParts, QueuesPassValuesBetweenThreads) {
  Queue<int> queue;
  std::thread producer([&] {
    for (int i = 0; i < 100; ++i) queue.push(i);
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.pop(), i);
  producer.join();
  EXPECT_ERROR(queue.pop(std::chrono::milliseconds(3)),
               "Timeout in DataLoader queue while waiting for next batch (timeout was 3 ms)");
  queue.push(1);
  EXPECT_EQ(queue.clear(), 1U);
}

TEST(DataParts, ShuttlesCountJobs) {
  DataShuttle<int, int> shuttle;
  EXPECT_FALSE(shuttle.pop_result());
  shuttle.push_job(1);
  shuttle.push_job(2);
  shuttle.push_result(shuttle.pop_job() * 10);
  EXPECT_EQ(shuttle.in_flight_jobs(), 2U);
  EXPECT_EQ(shuttle.pop_result(), 10);
  shuttle.drain();
  EXPECT_EQ(shuttle.in_flight_jobs(), 0U);
}

TEST(DataParts, SequencersOrderResults) {
  const auto run = [](auto&& sequencer) {
    std::vector<size_t> arriving{2, 0, 1}, returned;
    const auto produce = [&]() -> std::optional<ArrivingResult> {
      if (arriving.empty()) return std::nullopt;
      const ArrivingResult first{arriving.front()};
      arriving.erase(arriving.begin());
      return first;
    };
    while (const auto result = sequencer.next(produce)) returned.push_back(result->sequence_number);
    return returned;
  };
  EXPECT_EQ(run(sequencers::OrderedSequencer<ArrivingResult>(3)), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(run(sequencers::NoSequencer<ArrivingResult>()), (std::vector<size_t>{2, 0, 1}));
}
