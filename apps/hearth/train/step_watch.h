#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hearth/profiler.h"

namespace hearth::app {

/// Measures the waits of a run's training steps, and profiles some of the steps with --profile.
class StepWatch {
 public:
  /// `trace`: the file for a profile of a few steps; empty: none.
  StepWatch(std::string trace, int64_t workers);

  /// An epoch's training, without its evaluation.
  class Epoch {
   public:
    explicit Epoch(profiler::StepTimes& sum) : sum_(sum) {}
    ~Epoch() { sum_ += clock_.times(); }
    Epoch(const Epoch&) = delete;
    Epoch& operator=(const Epoch&) = delete;

   private:
    profiler::StepTimes& sum_;
    profiler::StepClock clock_;
  };
  Epoch epoch() { return Epoch(times_); }
  /// To be called after each step.
  void step();
  /// "input-bound: 61 % of the step waits for the data loader; --num-workers 2 would help".
  std::string verdict() const;
  /// "--profile: …" if the run was too short for a profile; else empty.
  std::string missing_profile() const;

 private:
  void begin_profile();

  std::string trace_;
  int64_t workers_;
  profiler::StepTimes times_;
  std::unique_ptr<profiler::profile> profile_;
};

}  // namespace hearth::app
