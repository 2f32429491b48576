#pragma once

#include "hearth/export.h"

namespace hearth {

/// Process-wide choices between the algorithms of a device's libraries.
class HEARTH_API Context {
 public:
  /// Whether cuDNN may only use algorithms that give the same result every time (off).
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

}  // namespace hearth
