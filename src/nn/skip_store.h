#pragma once

#include <map>
#include <string>
#include <vector>

#include "hearth/tensor.h"
#include "nn/stage_copy.h"

namespace hearth::nn::skip {

/// The stashed tensors of one micro-batch, forward of a Sequential, or backward pass.
struct Store {
  struct Entry {
    Tensor tensor;
    size_t stage;
    StreamMark computed;  // after the tensor's computation
  };
  /// A tensor that was stashed in stage `from` and popped in stage `to` as a new leaf.
  struct Link {
    Tensor source, leaf;
    size_t from, to;
    Tensor gradient;  // the leaf's, after the backward of stage `to`
  };

  std::map<std::string, Entry> entries;
  std::vector<Link> links;  // if cuts_graph
  size_t stage = 0;         // the stage that runs now
  Device device{DeviceType::CPU};
  bool is_pipeline = false;
  bool cuts_graph = false;  // each stage has a graph of its own
};

/// Until the end of the scope, this thread uses the store of a pipeline.
class StoreScope {
 public:
  explicit StoreScope(Store& store);
  ~StoreScope();
  StoreScope(const StoreScope&) = delete;
  StoreScope& operator=(const StoreScope&) = delete;

 private:
  Store* outer_;
};

/// Throws if a tensor was stashed and not popped.
void check_all_popped(const Store& store);

}  // namespace hearth::nn::skip
