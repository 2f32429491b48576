#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "torch/data/detail/queue.h"

namespace hearth::data::detail {

/// Passes jobs from one thread to workers, and their results back.
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  void push_result(Result result) { results_.push(std::move(result)); }  ///< called by a worker
  Job pop_job() { return jobs_.pop(); }                                  ///< called by a worker
  /// Waits for a result; nullopt if no job is unfinished.
  std::optional<Result> pop_result(
      std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_ == 0) return std::nullopt;
    std::optional<Result> result(results_.pop(timeout));
    --in_flight_;
    return result;
  }
  /// Drops the jobs that no worker has begun, and waits for the others.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) pop_result();
  }
  size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  Queue<Job> jobs_;
  size_t in_flight_ = 0;
  Queue<Result> results_;
};

}  // namespace hearth::data::detail
