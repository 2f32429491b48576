#pragma once

#include <optional>

#include "hearth/device.h"
#include "hearth/dtype.h"
#include "hearth/export.h"

// Autocast: while it is enabled for a device type, ops on tensors of that type choose their
// floating-point dtype. Matrix products and convolutions run in the autocast dtype, ops that need
// range or precision in float32, ops whose inputs must have one dtype in the widest of theirs, all
// others in the dtype of their inputs. The policies are PyTorch's and differ between CPU and CUDA.
// In-place and out= forms and float64 are never cast. Each thread has its own state.

namespace hearth {

/// Enables (or, with enabled = false, disables) autocast for one device type during its lifetime.
///
///     {
///       AutocastMode autocast(kCUDA);  // or autocast(kCPU, kBFloat16)
///       loss = criterion(model->forward(x), target);
///     }
///     loss.backward();
class HEARTH_API AutocastMode {
 public:
  /// dtype: of matrix products and convolutions, by default get_autocast_dtype() (initially float16
  /// on CUDA, bfloat16 on the CPU). cache_enabled: whether casts of weights are kept until the
  /// outermost region ends.
  explicit AutocastMode(DeviceType device_type, std::optional<ScalarType> dtype = {},
                        bool enabled = true, std::optional<bool> cache_enabled = {});
  ~AutocastMode();
  AutocastMode(const AutocastMode&) = delete;
  AutocastMode& operator=(const AutocastMode&) = delete;

 private:
  DeviceType device_type_;
  ScalarType previous_dtype_;
  bool previous_enabled_, previous_cache_enabled_;
};

/// LibTorch's functions for the state that AutocastMode sets.
namespace autocast {

HEARTH_API bool is_autocast_enabled(DeviceType device_type);  ///< whether it is enabled
HEARTH_API void set_autocast_enabled(DeviceType device_type, bool enabled);  ///< sets the state
/// The dtype of matrix products and convolutions under autocast.
HEARTH_API ScalarType get_autocast_dtype(DeviceType device_type);
HEARTH_API void set_autocast_dtype(DeviceType device_type, ScalarType dtype);  ///< sets the dtype

/// Whether casts of float32 leaves that require grad are cached, between increment_nesting() and
/// decrement_nesting(), which AutocastMode calls. A modified weight is cast again.
HEARTH_API bool is_autocast_cache_enabled();
HEARTH_API void set_autocast_cache_enabled(bool enabled);  ///< enables or disables caching
HEARTH_API void clear_cache();                             ///< drops this thread's cached casts
/// Enters an autocast region and returns the new depth.
HEARTH_API int increment_nesting();
/// Leaves a region and returns the new depth; at depth 0, call clear_cache().
HEARTH_API int decrement_nesting();

}  // namespace autocast
}  // namespace hearth
