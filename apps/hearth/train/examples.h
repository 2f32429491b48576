#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hearth/data.h"

namespace hearth::app {

/// The examples of a dataset: inputs, which may be computed for each batch, and targets.
class Examples : public data::BatchDataset<Examples, data::Example<>> {
 public:
  /// Returns the inputs of these examples as one tensor. Several threads may call it.
  using LoadInputs = std::function<Tensor(ArrayRef<size_t> indices)>;

  Examples() = default;
  /// `input_sizes` are those of one example; targets: `[N]` or `[N, ...]`.
  Examples(LoadInputs load_inputs, std::vector<int64_t> input_sizes, Tensor targets);
  /// Examples in memory. Bytes become numbers from 0 to 1 when a batch is loaded.
  Examples(Tensor inputs, Tensor targets);

  data::Example<> get_batch(ArrayRef<size_t> indices) override { return at(indices); }
  /// The examples [start, start + count).
  data::Example<> batch(int64_t start, int64_t count) const;
  std::optional<size_t> size() const override { return static_cast<size_t>(count()); }
  int64_t count() const { return targets_.size(0); }
  const std::vector<int64_t>& input_sizes() const { return input_sizes_; }
  const Tensor& targets() const { return targets_; }
  /// The targets of one example: 1 for a class, as many as characters for a text.
  int64_t targets_per_example() const { return targets_.numel() / count(); }
  /// The part number `rank` of `count` nearly equal parts.
  Examples part(int64_t rank, int64_t count) const;
  /// The first `count` examples.
  Examples first(int64_t count) const;
  /// These examples with `change` applied to each input when it is loaded; `input_sizes` are those
  /// of its results.
  Examples transformed(std::function<Tensor(Tensor)> change,
                       std::vector<int64_t> input_sizes) const;

 private:
  data::Example<> at(ArrayRef<size_t> indices) const;

  LoadInputs load_inputs_;
  std::vector<int64_t> input_sizes_;
  Tensor targets_;
};

}  // namespace hearth::app
