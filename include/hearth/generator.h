#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hearth/device.h"
#include "hearth/export.h"
#include "hearth/fwd.h"

namespace hearth {

struct GeneratorImpl;

/// A source of random numbers: PyTorch's mt19937 stream on the CPU, Philox on devices.
class HEARTH_API Generator {
 public:
  Generator() = default;
  explicit Generator(std::shared_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return impl_ != nullptr; }
  Device device() const;
  void set_current_seed(uint64_t seed);
  uint64_t current_seed() const;
  /// Seeds from the system's entropy and returns the seed.
  uint64_t seed();
  Generator clone() const;
  /// The state as bytes (a Byte tensor), and back.
  Tensor get_state() const;
  void set_state(const Tensor& state);
  GeneratorImpl* impl() const { return impl_.get(); }
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<GeneratorImpl> impl_;
};

/// A new CPU generator, seeded as PyTorch's default one (67280421310721).
HEARTH_API Generator make_generator(Device device = Device(DeviceType::CPU));
/// The generator ops use when none is given.
HEARTH_API const Generator& default_generator(Device device = Device(DeviceType::CPU));
/// Seeds the default generators of the CPU and of all devices.
HEARTH_API void manual_seed(uint64_t seed);

}  // namespace hearth
