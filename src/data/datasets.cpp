#include "hearth/data/datasets.h"

#include <algorithm>

#include "hearth/data/chunk.h"

namespace hearth::data::datasets {

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}
TensorDataset::TensorDataset(Tensor tensor_) : tensor(std::move(tensor_)) {}
TensorExample TensorDataset::get(size_t index) { return tensor[static_cast<int64_t>(index)]; }
std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0)); }

BatchedTensors::BatchedTensors(Tensor data, Tensor targets)
    : data_(std::move(data)), targets_(std::move(targets)) {
  HEARTH_CHECK(data_.dim() > 0 && targets_.dim() > 0 && data_.size(0) == targets_.size(0),
               "BatchedTensors: Size mismatch between tensors: data of sizes ", data_.sizes(),
               " and targets of sizes ", targets_.sizes());
}
Example<> BatchedTensors::get_batch(ArrayRef<size_t> indices) {
  const Tensor index = empty({static_cast<int64_t>(indices.size())}, kLong);
  std::copy(indices.begin(), indices.end(), index.data_ptr<int64_t>());
  return {data_.index_select(0, index.to(data_.device())),
          targets_.index_select(0, index.to(targets_.device()))};
}
std::optional<size_t> BatchedTensors::size() const { return static_cast<size_t>(data_.size(0)); }

ChunkDatasetOptions::ChunkDatasetOptions(size_t preloader_count, size_t batch_size,
                                         size_t cache_size, size_t cross_chunk_shuffle_count)
    : preloader_count_(preloader_count),
      batch_size_(batch_size),
      cache_size_(cache_size),
      cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
  HEARTH_CHECK(preloader_count > 0,
               "Preloader count is 0. At least one preloader needs to be specified.");
  HEARTH_CHECK(batch_size > 0, "Batch size is 0. A positive batch size needs to be specified.");
  HEARTH_CHECK(cache_size > 0, "Cache size is 0. A positive cache size needs to be specified.");
  HEARTH_CHECK(
      cache_size >= batch_size,
      "Cache size is less than batch size. Cache needs to be large enough to hold at least "
      "one batch.");
  HEARTH_CHECK(cross_chunk_shuffle_count > 0,
               "cross_chunk_shuffle_count needs to be greater than 0.");
}

}  // namespace hearth::data::datasets
