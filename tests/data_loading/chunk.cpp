#include "hearth/data/chunk.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "hearth/data.h"
#include "tests/support/files.h"

namespace hearth::data::datasets {
namespace {

constexpr size_t kNoBadChunk = 99;

/// Chunks of 5, 0, 3 and 4 numbers, together 0 to 11; chunk `bad_chunk` throws.
struct Reader : ChunkDataReader<int> {
  explicit Reader(size_t bad_chunk_ = kNoBadChunk) : bad_chunk(bad_chunk_) {}
  ChunkType read_chunk(size_t index) override {
    if (index == bad_chunk) throw std::runtime_error("bad chunk");
    static const int begins[] = {0, 5, 5, 8, 12};
    ChunkType chunk(static_cast<size_t>(begins[index + 1] - begins[index]));
    std::iota(chunk.begin(), chunk.end(), begins[index]);
    return chunk;
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
  size_t bad_chunk;
};

using samplers::RandomSampler;
using samplers::SequentialSampler;
template <class Sampler>
using Chunks = ChunkDataset<Reader, Sampler, Sampler>;

template <class Sampler>
auto chunks(ChunkDatasetOptions options, size_t bad_chunk = kNoBadChunk) {
  return make_shared_dataset<Chunks<Sampler>>(Reader(bad_chunk), Sampler(4), Sampler(0), options);
}

template <class Loader>
std::vector<std::vector<int>> batches_of_epoch(Loader& loader) {
  std::vector<std::vector<int>> batches;
  for (auto& batch : loader) batches.push_back(batch);
  return batches;
}

TEST(ChunkDataset, BatchesCrossChunks) {
  const std::vector<std::vector<int>> expected = {{0, 1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11}};
  auto loader = make_data_loader(chunks<SequentialSampler>({1, 7, 8}), 7);
  EXPECT_EQ(batches_of_epoch(*loader), expected);
  EXPECT_EQ(batches_of_epoch(*loader), expected);
}

TEST(ChunkDataset, ShufflesChunksAndExamples) {
  manual_seed(3);
  auto loader = make_data_loader(chunks<RandomSampler>({1, 4, 100, 4}), 4);
  const auto first = batches_of_epoch(*loader), second = batches_of_epoch(*loader);
  EXPECT_NE(first, second);
  manual_seed(3);
  auto again = make_data_loader(chunks<RandomSampler>({1, 4, 100, 4}), 4);
  EXPECT_EQ(batches_of_epoch(*again), first);
}

TEST(ChunkDataset, WithoutDrawsLeavesTheDefaultGeneratorUnchanged) {
  manual_seed(3);
  const Tensor expected = default_generator().get_state();
  auto loader = make_data_loader(chunks<SequentialSampler>({1, 7, 8}), 7);
  for (int epoch = 0; epoch < 2; ++epoch) batches_of_epoch(*loader);
  EXPECT_TRUE(default_generator().get_state().equal(expected));
}

TEST(ChunkDataset, ReadsAllChunksWithAnyThreadCount) {
  for (const size_t workers : {0, 2}) {
    for (const size_t preloaders : {1, 3}) {
      auto dataset = chunks<RandomSampler>({preloaders, 2, 2});
      auto loader = make_data_loader(dataset, DataLoaderOptions(2).workers(workers));
      for (int i = 0; i < 3; ++i) {
        std::multiset<int> seen;
        for (auto& batch : *loader) seen.insert(batch.begin(), batch.end());
        EXPECT_EQ(seen.size(), 12U);
        EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 12U);
      }
    }
  }
}

TEST(ChunkDataset, PropagatesExceptions) {
  auto loader = make_data_loader(chunks<SequentialSampler>({1, 12}, 2), 12);
  auto it = loader->begin();
  EXPECT_ERROR((void)*it, "Original message: bad chunk (in a preloader of chunks)");
  EXPECT_EQ(it->size(), 9U);  // the other chunks
}

TEST(ChunkDataset, WrapsExceptionsOnce) {
  auto loader =
      make_data_loader(chunks<SequentialSampler>({1, 12}, 2), DataLoaderOptions(12).workers(1));
  auto it = loader->begin();
  try {
    (void)*it;
    FAIL();
  } catch (const WorkerException& error) {
    EXPECT_EQ(error.message,
              "Caught exception in DataLoader worker thread. Original message: bad chunk (in a "
              "preloader of chunks)");
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::runtime_error);
  }
}

TEST(ChunkDataset, CanBeDestroyedDuringAnEpoch) {
  for (int i = 0; i < 50; ++i) {
    auto loader = make_data_loader(chunks<RandomSampler>({2, 1, 1}), DataLoaderOptions(1));
    auto it = loader->begin();
    for (int step = 0; step < i % 12; ++step) ++it;
  }
}

TEST(ChunkDataset, ChecksOptionsAndCalls) {
  EXPECT_ERROR(ChunkDatasetOptions(0, 1), "Preloader count is 0. At least one preloader needs");
  EXPECT_ERROR(ChunkDatasetOptions(1, 0), "Batch size is 0. A positive batch size needs");
  EXPECT_ERROR(ChunkDatasetOptions(1, 1, 0), "Cache size is 0. A positive cache size needs");
  EXPECT_ERROR(ChunkDatasetOptions(1, 9, 8),
               "Cache size is less than batch size. Cache needs to be "
               "large enough to hold at least one batch.");
  EXPECT_ERROR(ChunkDatasetOptions(1, 1, 1, 0),
               "cross_chunk_shuffle_count needs to be greater than 0.");
  auto dataset = chunks<SequentialSampler>({1, 4});
  EXPECT_ERROR(dataset.get_batch(4), "Dataset needs to call reset() before calling get_batch().");
  dataset.reset();
  EXPECT_ERROR(
      dataset.get_batch(3),
      "The requested batch size does not match with the initialized batch size.\n The "
      "requested batch size is 3, while the dataset is created with batch size equal to 4");
}

TEST(ChunkDataset, ResumesWithTheRemainingChunks) {
  auto dataset = chunks<SequentialSampler>({1, 5, 5});
  dataset->chunk_sampler().next(2);
  serialize::OutputArchive saved;
  saved << *dataset;
  // The dataset sets the sampler's size from the reader.
  auto other = make_shared_dataset<Chunks<SequentialSampler>>(
      Reader(), SequentialSampler(0), SequentialSampler(0), ChunkDatasetOptions{1, 5, 5});
  serialize::InputArchive read(saved);
  read >> *other;
  other.reset();
  EXPECT_EQ(*other.get_batch(5), (std::vector<int>{5, 6, 7, 8, 9}));
}

}  // namespace
}  // namespace hearth::data::datasets
