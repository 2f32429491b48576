// The measurement and the choice of rows that several programs share, also when compiled with
// LibTorch.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

struct Times {
  double best, median;  // microseconds
};

/// Times a call after a warm-up, so that the processor's predictors, the memory caches and the
/// threads are as in a long training. A round has as many calls as fit into 2 ms.
inline Times measure(const std::function<void()>& call) {
  constexpr int kRounds = 15;
  constexpr double kWarmUp = 20'000, kRoundTime = 2'000, kMaxCalls = 10'000;  // times in us
  const auto time_of = [&call](int calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::micro>(end - start).count() / calls;
  };
  call();  // the first call may load libraries and compile kernels
  double last = 0;
  for (double spent = 0; spent < kWarmUp; spent += last) last = time_of(1);
  const int calls = static_cast<int>(std::clamp(kRoundTime / last, 1.0, kMaxCalls));
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(time_of(calls));
  std::sort(rounds.begin(), rounds.end());
  return {rounds.front(), rounds[kRounds / 2]};
}

/// The rows named on the command line. Only these are measured; if none is named, all rows are.
inline std::vector<std::string> selected_rows;

inline void select_rows(int argc, char** argv) { selected_rows.assign(argv + 1, argv + argc); }

inline bool is_selected(const std::string& row) {
  return selected_rows.empty() ||
         std::find(selected_rows.begin(), selected_rows.end(), row) != selected_rows.end();
}
