#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "hearth/distributed/future.h"

namespace hearth::distributed {

/// Gradients that DistributedDataParallel communicates together.
class HEARTH_API GradBucket {
 public:
  GradBucket(size_t index, size_t bucket_count, Tensor buffer, std::vector<Tensor> gradients,
             std::vector<Tensor> parameters)
      : index_(index),
        bucket_count_(bucket_count),
        buffer_(std::move(buffer)),
        gradients_(std::move(gradients)),
        parameters_(std::move(parameters)) {}

  size_t index() const { return index_; }  ///< buckets are communicated in the order of the indices
  bool is_last() const { return index_ + 1 == bucket_count_; }
  const Tensor& buffer() const { return buffer_; }  ///< the gradients one after another, flat
  /// Replaces the buffer; gradients() remain views of the former one.
  void set_buffer(Tensor buffer) { buffer_ = std::move(buffer); }
  const std::vector<Tensor>& gradients() const { return gradients_; }    ///< views of the buffer
  const std::vector<Tensor>& parameters() const { return parameters_; }  ///< in the same order

 private:
  size_t index_, bucket_count_;
  Tensor buffer_;
  std::vector<Tensor> gradients_, parameters_;
};

/// Replaces DistributedDataParallel's all_reduce of a bucket: returns the future mean of all ranks'
/// buffers. It is called on all ranks with the same buckets in the same order.
using CommHook = std::function<Future(GradBucket& bucket)>;

}  // namespace hearth::distributed
