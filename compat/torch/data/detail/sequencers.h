#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "c10/util/Exception.h"

namespace hearth::data::detail::sequencers {

/// Chooses the order in which workers' results are returned.
template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

/// Returns results in the order of their arrival.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

/// Returns results in the order of their member sequence_number; at most max_jobs may be ahead.
template <class Result>
struct OrderedSequencer : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}

  std::optional<Result> next(ResultProducer next_result) override {
    while (!buffer(next_sequence_number_)) {
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      std::optional<Result>& place = buffer(result->sequence_number);
      TORCH_INTERNAL_ASSERT(!place, "two results have one place in the sequence");
      place = std::move(result);
    }
    return std::exchange(buffer(next_sequence_number_++), std::nullopt);
  }
  std::optional<Result>& buffer(size_t index) { return buffer_.at(index % buffer_.size()); }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;  ///< results that arrived too early
};

}  // namespace hearth::data::detail::sequencers
