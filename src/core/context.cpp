#include "hearth/context.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>

#include "core/modes.h"
#include "core/numerics.h"
#include "hearth/error.h"
#include "seam/ctx.h"

namespace hearth {

namespace {

std::atomic<uint32_t> numerics{kAllowTF32CuDNN | kUseCuDNN};

/// The bits of `settings`. cuDNN's settings are bits of `numerics`.
enum Setting : uint32_t {
  kDeterministic = 1u << 0,
  kWarnOnly = 1u << 1,
  kFillUninitialized = 1u << 2,
  kWarnAlways = 1u << 3,
};
std::atomic<uint32_t> settings{kFillUninitialized};

constexpr std::string_view kPrecisions[] = {"highest", "high", "medium"};

Float32MatmulPrecision precision_from_environment() {
  const char* const text = std::getenv("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE");
  return text && std::string_view(text) == "1" ? Float32MatmulPrecision::HIGH
                                               : Float32MatmulPrecision::HIGHEST;
}
std::atomic<Float32MatmulPrecision> matmul_precision{precision_from_environment()};

void set(std::atomic<uint32_t>& bits, uint32_t bit, bool value) {
  if (value)
    bits.fetch_or(bit, std::memory_order_relaxed);
  else
    bits.fetch_and(~bit, std::memory_order_relaxed);
}
void set(Setting setting, bool value) { set(settings, setting, value); }
void set(Numerics setting, bool value) { set(numerics, setting, value); }
bool is_set(Setting setting) { return settings.load(std::memory_order_relaxed) & setting; }
bool is_set(Numerics setting) { return numerics.load(std::memory_order_relaxed) & setting; }

}  // namespace

uint32_t current_numerics() {
  uint32_t implied = is_set(kDeterministic) ? uint32_t{kDeterministicCuDNN} : 0;
  if (matmul_precision.load(std::memory_order_relaxed) != Float32MatmulPrecision::HIGHEST &&
      !modes.no_tf32_products)
    implied |= kAllowTF32CuBLAS;
  return numerics.load(std::memory_order_relaxed) | implied;
}

bool Context::deterministicAlgorithms() const { return is_set(kDeterministic); }
bool Context::deterministicAlgorithmsWarnOnly() const { return is_set(kWarnOnly); }
void Context::setDeterministicAlgorithms(bool value, bool warn_only) {
  set(kDeterministic, value);
  set(kWarnOnly, warn_only);
}
bool Context::deterministicFillUninitializedMemory() const { return is_set(kFillUninitialized); }
void Context::setDeterministicFillUninitializedMemory(bool value) {
  set(kFillUninitialized, value);
}
bool Context::warnAlways() const { return is_set(kWarnAlways); }
void Context::setWarnAlways(bool value) { set(kWarnAlways, value); }

void Context::alertNotDeterministic(std::string_view caller) {
  if (!is_set(kDeterministic)) return;
  const std::string start =
      detail::str(caller,
                  " does not have a deterministic implementation, but you set "
                  "'torch.use_deterministic_algorithms(True");
  if (is_set(kWarnOnly)) return warn(start + ", warn_only=True)'.");
  throw Error(start +
              ")'. You can turn off determinism just for this operation, or you can use the "
              "'warn_only=True' option, if that's acceptable for your application. (In C++: "
              "set_deterministic_algorithms(false), set_deterministic_algorithms(true, true).)");
}

void set_deterministic_algorithms(bool mode, bool warn_only) {
  globalContext().setDeterministicAlgorithms(mode, warn_only);
}
bool are_deterministic_algorithms_enabled() { return is_set(kDeterministic); }
bool is_deterministic_algorithms_warn_only_enabled() { return is_set(kWarnOnly); }

bool Context::userEnabledCuDNN() const { return is_set(kUseCuDNN); }
void Context::setUserEnabledCuDNN(bool value) { set(kUseCuDNN, value); }
bool Context::deterministicCuDNN() const { return is_set(kDeterministicCuDNN); }
void Context::setDeterministicCuDNN(bool value) { set(kDeterministicCuDNN, value); }
bool Context::benchmarkCuDNN() const { return is_set(kBenchmarkCuDNN); }
void Context::setBenchmarkCuDNN(bool value) { set(kBenchmarkCuDNN, value); }
bool Context::allowTF32CuDNN() const { return is_set(kAllowTF32CuDNN); }
void Context::setAllowTF32CuDNN(bool value) { set(kAllowTF32CuDNN, value); }

bool Context::allowTF32CuBLAS() const {
  return float32MatmulPrecision() != Float32MatmulPrecision::HIGHEST;
}
void Context::setAllowTF32CuBLAS(bool value) {
  matmul_precision.store(value ? Float32MatmulPrecision::HIGH : Float32MatmulPrecision::HIGHEST,
                         std::memory_order_relaxed);
}
Float32MatmulPrecision Context::float32MatmulPrecision() const {
  return matmul_precision.load(std::memory_order_relaxed);
}
void Context::setFloat32MatmulPrecision(std::string_view precision) {
  const auto* const found = std::ranges::find(kPrecisions, precision);
  if (found == std::end(kPrecisions))
    return warn(detail::str(precision,
                            " is not one of 'highest', 'high', or 'medium'; the current"
                            "setFloat32MatmulPrecision call has no effect."));
  matmul_precision.store(Float32MatmulPrecision(found - std::begin(kPrecisions)),
                         std::memory_order_relaxed);
}

void set_float32_matmul_precision(std::string_view precision) {
  globalContext().setFloat32MatmulPrecision(precision);
}
std::string_view get_float32_matmul_precision() {
  return kPrecisions[static_cast<int>(globalContext().float32MatmulPrecision())];
}

NoTF32Guard::NoTF32Guard() : former_(modes.no_tf32_products) { modes.no_tf32_products = true; }
NoTF32Guard::~NoTF32Guard() { modes.no_tf32_products = former_; }
bool NoTF32Guard::should_disable_tf32() { return modes.no_tf32_products; }

Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace hearth
