#pragma once

#include <optional>

#include "hearth/device.h"
#include "hearth/dtype.h"
#include "hearth/export.h"

// Autocast: while it is on for a device type, ops on tensors there choose their own floating dtype.
// Products run in the autocast dtype, what needs range or precision in float32, the rest in what
// comes in; the policies are PyTorch's and differ between CPU and CUDA. Only calls that return a
// new tensor take part (not in-place and out= forms), float64 never does. All state is the
// thread's.

namespace hearth {

/// Switches autocast on (or, with enabled = false, off) for one device type while it lives.
///
///     {
///       AutocastMode autocast(kCUDA);  // or autocast(kCPU, kBFloat16)
///       loss = criterion(model->forward(x), target);
///     }
///     loss.backward();
class HEARTH_API AutocastMode {
 public:
  /// dtype: what products run in, by default the current one (float16 on CUDA, bfloat16 on the
  /// CPU). cache_enabled: whether casts of weights are kept until the outermost region ends.
  explicit AutocastMode(DeviceType device_type, std::optional<ScalarType> dtype = {},
                        bool enabled = true, std::optional<bool> cache_enabled = {});
  ~AutocastMode();
  AutocastMode(const AutocastMode&) = delete;
  AutocastMode& operator=(const AutocastMode&) = delete;

 private:
  DeviceType device_type_;
  ScalarType previous_dtype_;
  bool previous_enabled_, previous_cache_;
};

/// LibTorch's functions over the same state.
namespace autocast {

/// Whether autocast is on for CPU or CUDA tensors.
HEARTH_API bool is_autocast_enabled(DeviceType device_type);
HEARTH_API void set_autocast_enabled(DeviceType device_type, bool enabled);
/// What products run in.
HEARTH_API ScalarType get_autocast_dtype(DeviceType device_type);
HEARTH_API void set_autocast_dtype(DeviceType device_type, ScalarType dtype);

/// Whether the casts of float32 leaves that require grad are kept and used again. They are kept
/// inside regions only: between increment_nesting() and decrement_nesting(), which AutocastMode
/// calls. A weight that was written to is cast again.
HEARTH_API bool is_autocast_cache_enabled();
HEARTH_API void set_autocast_cache_enabled(bool enabled);
HEARTH_API void clear_cache();
/// Both return the new depth; who leaves the outermost region (depth 0) calls clear_cache().
HEARTH_API int increment_nesting();
HEARTH_API int decrement_nesting();

}  // namespace autocast
}  // namespace hearth
