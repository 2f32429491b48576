// Comparisons of two calls that are timed in turns, so that other programs slow down both.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Microseconds of a call.
inline double time_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::micro>(end - start).count();
}

/// Medians of two calls in microseconds, and of the second's time divided by the first's.
struct Comparison {
  double first, second, ratio;
};

/// Times two calls in turns, after one untimed call of each.
inline Comparison compare(const std::function<void()>& a, const std::function<void()>& b) {
  constexpr int kTurns = 15;
  a();
  b();
  std::vector<double> first, second, ratios;
  for (int i = 0; i < kTurns; ++i) {
    first.push_back(time_of(a));
    second.push_back(time_of(b));
    ratios.push_back(second.back() / first.back());
  }
  return {median(first), median(second), median(ratios)};
}
