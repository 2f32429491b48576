// The measurement that ops.cpp and networks.cpp share, also when compiled with LibTorch.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

struct Times {
  double best, median;  // microseconds
};

/// Times a call, after one that does not count.
inline Times measure(const std::function<void()>& call) {
  constexpr int kRounds = 15;
  call();
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const auto end = std::chrono::steady_clock::now();
    rounds.push_back(std::chrono::duration<double, std::micro>(end - start).count());
  }
  std::sort(rounds.begin(), rounds.end());
  return {rounds.front(), rounds[kRounds / 2]};
}
