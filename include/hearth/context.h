#pragma once

#include <string_view>

#include "hearth/export.h"

namespace hearth {

/// How exactly GPUs multiply matrices of float32. HIGH and MEDIUM allow TensorFloat-32.
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };

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
  /// Whether cuBLAS may round float32 inputs to TensorFloat-32: whether the precision is not
  /// HIGHEST.
  bool allowTF32CuBLAS() const;
  void setAllowTF32CuBLAS(bool value);  ///< sets the precision to HIGH or HIGHEST
  /// Default: HIGHEST, with TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 in the environment HIGH.
  Float32MatmulPrecision float32MatmulPrecision() const;
  /// "highest", "high" or "medium"; other texts only cause a warning.
  void setFloat32MatmulPrecision(std::string_view precision);
};

HEARTH_API Context& globalContext();  ///< the process's settings

/// globalContext().setDeterministicAlgorithms(mode, warn_only).
HEARTH_API void set_deterministic_algorithms(bool mode, bool warn_only = false);
HEARTH_API bool are_deterministic_algorithms_enabled();           ///< whether they are enabled
HEARTH_API bool is_deterministic_algorithms_warn_only_enabled();  ///< see Context
/// globalContext().setFloat32MatmulPrecision(precision).
HEARTH_API void set_float32_matmul_precision(std::string_view precision);
HEARTH_API std::string_view get_float32_matmul_precision();  ///< such as "highest"

/// While it exists, this thread's matrix products of float32 do not use TensorFloat-32.
class HEARTH_API NoTF32Guard {
 public:
  NoTF32Guard();
  ~NoTF32Guard();
  NoTF32Guard(const NoTF32Guard&) = delete;
  NoTF32Guard& operator=(const NoTF32Guard&) = delete;
  static bool should_disable_tf32();  ///< whether a guard exists on this thread

 private:
  bool former_;
};

}  // namespace hearth
