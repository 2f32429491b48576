#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "hearth/device.h"
#include "hearth/export.h"
#include "hearth/fwd.h"

namespace hearth {

class CPUGeneratorImpl;
struct GeneratorImpl;

/// A random number generator: PyTorch's mt19937 on the CPU, Philox on GPUs. Copies share one state.
class HEARTH_API Generator {
 public:
  Generator() = default;
  explicit Generator(std::shared_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return impl_ != nullptr; }
  Device device() const;                 ///< the device whose ops can use it
  void set_current_seed(uint64_t seed);  ///< restarts the generator from the seed
  uint64_t current_seed() const;         ///< the seed that was set last
  uint64_t seed();                       ///< seeds from the system's entropy and returns the seed
  Generator clone() const;               ///< a generator with a copy of the state
  Tensor get_state() const;              ///< the state as a tensor of bytes
  void set_state(const Tensor& state);   ///< restores a state from get_state()
  GeneratorImpl* impl() const { return impl_.get(); }
  /// The lock that ops hold while they draw. While a program holds it, it may call the functions of
  /// get<CPUGeneratorImpl>() and set_current_seed() without interruption, but no op that draws.
  std::mutex& mutex() const;
  template <class T>
  T* get() const {  ///< T is CPUGeneratorImpl (hearth/cpu_generator.h)
    return numbers();
  }
  CPUGeneratorImpl* unsafeGetGeneratorImpl() const { return numbers(); }
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_ == b.impl_; }

 private:
  CPUGeneratorImpl* numbers() const;
  std::shared_ptr<GeneratorImpl> impl_;
};

/// A new generator of the device, with PyTorch's default seed 67280421310721.
HEARTH_API Generator make_generator(Device device = Device(DeviceType::CPU));
/// The generator of the device that ops use by default.
HEARTH_API const Generator& default_generator(Device device = Device(DeviceType::CPU));
/// Seeds the default generators of the CPU and of all GPUs.
HEARTH_API void manual_seed(uint64_t seed);

}  // namespace hearth
