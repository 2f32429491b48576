#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace hearth::optim {

/// Returns the rates on half a cosine wave, which falls from `rates` to `lowest` while `progress`
/// rises from 0 to 1.
inline std::vector<double> cosine(std::vector<double> rates, double lowest, double progress) {
  const double height = (1 + std::cos(std::numbers::pi * progress)) / 2;
  for (double& rate : rates) rate = lowest + (rate - lowest) * height;
  return rates;
}

}  // namespace hearth::optim
