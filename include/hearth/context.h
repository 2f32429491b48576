#pragma once

#include <string_view>

#include "hearth/export.h"

namespace hearth {

/// Process-wide choices, above all between algorithms.
class HEARTH_API Context {
 public:
  /// Whether every operator must give the same bits in every run (off). Those that cannot throw, or
  /// warn if warn_only.
  bool deterministicAlgorithms() const;
  bool deterministicAlgorithmsWarnOnly() const;
  void setDeterministicAlgorithms(bool value, bool warn_only);
  /// Whether memory without values is filled then: with NaN, or an integer's largest value (on).
  bool deterministicFillUninitializedMemory() const;
  void setDeterministicFillUninitializedMemory(bool value);
  /// Whether warnings that come once in a process come every time (off).
  bool warnAlways() const;
  void setWarnAlways(bool value);
  /// For operators without a deterministic algorithm: throws, warns or does nothing, as was set.
  static void alertNotDeterministic(std::string_view caller);
  /// Whether cuDNN may only use algorithms that give the same result every time (off); it also
  /// keeps to them when all operators must.
  bool deterministicCuDNN() const;
  void setDeterministicCuDNN(bool value);
  /// Whether cuDNN times its algorithms to find the fastest (off).
  bool benchmarkCuDNN() const;
  void setBenchmarkCuDNN(bool value);
  /// Whether cuDNN may round float32 factors to TensorFloat-32 (on).
  bool allowTF32CuDNN() const;
  void setAllowTF32CuDNN(bool value);
};

HEARTH_API Context& globalContext();

/// globalContext().setDeterministicAlgorithms and its getters.
HEARTH_API void set_deterministic_algorithms(bool mode, bool warn_only = false);
HEARTH_API bool are_deterministic_algorithms_enabled();
HEARTH_API bool is_deterministic_algorithms_warn_only_enabled();

}  // namespace hearth
