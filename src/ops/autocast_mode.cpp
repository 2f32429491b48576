// The thread's autocast state and its cache of casts.
#include "hearth/autocast.h"

#include <unordered_map>

#include "hearth/cuda.h"
#include "ops/autocast.h"

namespace hearth {

namespace autocast {

namespace {

/// The cast of a weight, and the state of the weight at the time.
struct CachedCast {
  Tensor weight;  // keeps its address from being used by another tensor
  Tensor cast;
  StoragePtr storage;  // of the weight; set_data() replaces it
  uint32_t version;
  StreamHandle stream;
};

thread_local int nesting = 0;
thread_local std::unordered_map<const TensorImpl*, CachedCast> cached_casts;

uint32_t flag_of(DeviceType device_type) {
  HEARTH_CHECK(device_type == DeviceType::CPU || device_type == DeviceType::CUDA,
               "User specified an unsupported autocast device_type '", to_string(device_type), "'");
  return device_type == DeviceType::CPU ? kAutocastCpu : kAutocastCuda;
}
int8_t& dtype_of(DeviceType device_type) {
  return modes.autocast_dtype[flag_of(device_type) == kAutocastCuda];
}

StreamHandle stream_of(const TensorImpl& impl) {
  return impl.device.is_cuda() ? modes.streams[impl.device.index()] : nullptr;
}

/// Whether the tensor is a float32 leaf that requires grad, probably a weight: its cast will be
/// used again.
bool is_weight(const TensorImpl& impl) {
  return impl.dtype == kFloat && impl.has(kRequiresGrad) && !impl.has(kIsView | kInference);
}

/// Whether the cast has the weight's current value on this stream and, if gradients are recorded, a
/// history.
bool is_current(const CachedCast& entry, const TensorImpl& weight, ScalarType dtype) {
  return entry.cast.scalar_type() == dtype && entry.version == weight.version() &&
         entry.storage.get() == weight.storage.get() && entry.stream == stream_of(weight) &&
         (!modes.records() || entry.cast.requires_grad());
}

}  // namespace

bool is_autocast_enabled(DeviceType device_type) {
  return (modes.flags & flag_of(device_type)) != 0;
}
void set_autocast_enabled(DeviceType device_type, bool enabled) {
  const uint32_t flag = flag_of(device_type);
  modes.flags = enabled ? modes.flags | flag : modes.flags & ~flag;
}

ScalarType get_autocast_dtype(DeviceType device_type) { return ScalarType(dtype_of(device_type)); }
void set_autocast_dtype(DeviceType device_type, ScalarType dtype) {
  HEARTH_CHECK(is_floating_point(dtype), "autocast: expected a floating point dtype, got ",
               name_of(dtype));
  dtype_of(device_type) = int8_t(dtype);
}

bool is_autocast_cache_enabled() { return modes.autocast_cache; }
void set_autocast_cache_enabled(bool enabled) { modes.autocast_cache = enabled; }

void clear_cache() { cached_casts.clear(); }
int increment_nesting() { return ++nesting; }
int decrement_nesting() { return --nesting; }

Tensor cached_cast(const Tensor& tensor, ScalarType dtype) {
  const TensorImpl& impl = impl_of(tensor);
  // Only the end of a region clears the cache, and the autograd engine's threads have no region.
  if (nesting == 0 || !modes.autocast_cache || !is_weight(impl) ||
      dtype != get_autocast_dtype(autocast_device(tensor)))
    return tensor.to(dtype);
  if (const auto found = cached_casts.find(&impl); found != cached_casts.end()) {
    if (is_current(found->second, impl, dtype)) return found->second.cast;
    cached_casts.erase(found);
  }
  const uint32_t version = impl.version();
  Tensor cast = tensor.to(dtype);
  cached_casts.emplace(&impl, CachedCast{tensor, cast, impl.storage, version, stream_of(impl)});
  return cast;
}

}  // namespace autocast

namespace {

/// Whether autocast can be enabled, by PyTorch's rules; warns if not.
bool can_enable(DeviceType device_type, ScalarType dtype) {
  if (device_type == DeviceType::CUDA) {
    if (!cuda::is_available()) warn("CUDA is not available. Disabling autocast.");
    return cuda::is_available();
  }
  if (is_reduced_float(dtype)) return true;
  warn(
      "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
      "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.");
  return false;
}

}  // namespace

AutocastMode::AutocastMode(DeviceType device_type, std::optional<ScalarType> dtype, bool enabled,
                           std::optional<bool> cache_enabled)
    : device_type_(device_type),
      previous_dtype_(autocast::get_autocast_dtype(device_type)),
      previous_enabled_(autocast::is_autocast_enabled(device_type)),
      previous_cache_enabled_(modes.autocast_cache) {
  const ScalarType new_dtype = dtype.value_or(previous_dtype_);
  const bool enable = enabled && can_enable(device_type, new_dtype);
  autocast::set_autocast_dtype(device_type, new_dtype);
  autocast::set_autocast_enabled(device_type, enable);
  modes.autocast_cache = cache_enabled.value_or(previous_cache_enabled_);
  autocast::increment_nesting();
}

AutocastMode::~AutocastMode() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  autocast::set_autocast_enabled(device_type_, previous_enabled_);
  autocast::set_autocast_dtype(device_type_, previous_dtype_);
  modes.autocast_cache = previous_cache_enabled_;
}

}  // namespace hearth
