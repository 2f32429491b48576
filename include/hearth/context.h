#pragma once

#include <string_view>

#include "hearth/export.h"

namespace hearth {

/// Process-wide settings, mainly the choice of algorithms.
class HEARTH_API Context {
 public:
  /// Whether every operator must give the same bits in every run (default: no). Operators without a
  /// deterministic algorithm throw, or warn if warn_only.
  bool deterministicAlgorithms() const;
  bool deterministicAlgorithmsWarnOnly() const;  ///< whether such operators only warn
  void setDeterministicAlgorithms(bool value, bool warn_only);  ///< sets both settings
  /// Whether uninitialized memory is filled with NaN or the largest integer under
  /// deterministicAlgorithms() (default: yes).
  bool deterministicFillUninitializedMemory() const;
  void setDeterministicFillUninitializedMemory(bool value);  ///< enables or disables the filling
  /// Whether warnings that are given once per process are repeated (default: no).
  bool warnAlways() const;
  void setWarnAlways(bool value);  ///< sets warnAlways()
  /// Called by operators without a deterministic algorithm: throws, warns or does nothing.
  static void alertNotDeterministic(std::string_view caller);
  /// Whether cuDNN may be used for operators that have kernels of their own, too (default: yes).
  bool userEnabledCuDNN() const;
  void setUserEnabledCuDNN(bool value);  ///< sets userEnabledCuDNN()
  /// Whether cuDNN must use deterministic algorithms. deterministicAlgorithms() implies it.
  bool deterministicCuDNN() const;
  void setDeterministicCuDNN(bool value);  ///< sets deterministicCuDNN()
  /// Whether cuDNN times its algorithms to find the fastest (default: no).
  bool benchmarkCuDNN() const;
  void setBenchmarkCuDNN(bool value);  ///< sets benchmarkCuDNN()
  /// Whether cuDNN may round float32 inputs to TensorFloat-32 (default: yes).
  bool allowTF32CuDNN() const;
  void setAllowTF32CuDNN(bool value);  ///< sets allowTF32CuDNN()
};

HEARTH_API Context& globalContext();  ///< the process's settings

/// globalContext().setDeterministicAlgorithms(mode, warn_only).
HEARTH_API void set_deterministic_algorithms(bool mode, bool warn_only = false);
HEARTH_API bool are_deterministic_algorithms_enabled();           ///< whether they are enabled
HEARTH_API bool is_deterministic_algorithms_warn_only_enabled();  ///< see Context

}  // namespace hearth
