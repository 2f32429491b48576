#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/data/datasets.h"
#include "hearth/data/workers.h"
#include "hearth/tensor.h"

namespace hearth::data::detail {

/// Moves all CPU tensors of a batch to pinned memory, also inside examples, lists, dicts (only
/// their values), tuples and optionals; replaces values of other types that have pin_memory() by
/// its result.
template <class T>
void pin_tensors(T& value) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (value.defined() && value.is_cpu()) value = value.pin_memory();
  } else if constexpr (requires { value = value.pin_memory(); }) {
    value = value.pin_memory();
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (auto&& item : value) pin_tensors(item.second);
  } else if constexpr (requires { value.key_description(); }) {
    for (auto& item : value) pin_tensors(item.value());
  } else if constexpr (requires { pin_tensors(*value.begin()); }) {
    using Item = std::decay_t<decltype(*value.begin())>;
    if constexpr (!std::is_same_v<Item, std::remove_const_t<T>>)  // a path consists of paths
      for (auto& item : value) pin_tensors(item);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([](auto&... part) { (pin_tensors(part), ...); }, value);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) pin_tensors(*value);
  } else if constexpr (requires { pin_tensors(value.data); }) {
    pin_tensors(value.data);
    if constexpr (requires { value.target; }) pin_tensors(value.target);
  }
}

/// A job that gets one batch from a worker's dataset.
template <class Dataset, class Batch, class BatchRequest>
class BatchJob final : public Job {
 public:
  BatchJob(std::shared_ptr<const Epoch> epoch, size_t number,
           const std::vector<std::unique_ptr<Dataset>>& datasets, BatchRequest&& request,
           bool pin_memory)
      : Job(std::move(epoch), number),
        datasets_(datasets),
        request_(std::move(request)),
        pin_memory_(pin_memory) {}

  std::optional<Batch> batch;

 private:
  /// An integer converts to a list of indices, too, but means a number of examples.
  static constexpr bool kHasIndices =
      std::is_convertible_v<const BatchRequest&, ArrayRef<size_t>> &&
      !std::is_integral_v<BatchRequest>;

  void make(size_t worker) override {
    Dataset& dataset = *datasets_[worker < datasets_.size() ? worker : 0];
    if constexpr (kHasIndices) {
      batch = dataset.get_batch(request_);
    } else if constexpr (datasets::detail::is_map<Dataset>::value) {
      begin_turn();
      auto source = dataset.get_source_batch(std::move(request_));
      end_turn();
      batch = dataset.transformed(std::move(source));
    } else {
      begin_turn();
      batch = dataset.get_batch(std::move(request_));
      end_turn();
    }
    if (pin_memory_ && batch) pin_tensors(*batch);
  }

  ArrayRef<size_t> indices() const override {
    if constexpr (kHasIndices)
      return request_;
    else
      return {};
  }

  const std::vector<std::unique_ptr<Dataset>>& datasets_;
  BatchRequest request_;
  bool pin_memory_;
};

}  // namespace hearth::data::detail
