#include "hearth/generator.h"

#include <cstring>
#include <random>

#include "core/backends.h"
#include "core/generator_impl.h"
#include "core/graph_capture.h"
#include "core/modes.h"
#include "core/streams.h"
#include "core/tensor_impl.h"
#include "hearth/thread_state.h"

namespace hearth {

namespace {

/// Throws in a capture by a GPU's current stream: replays would not repeat the call.
void check_not_capturing(const GeneratorImpl& impl, const char* text) {
  if (!impl.device.is_cuda() || !is_capturing(impl.device)) return;
  detail::fail<Error>(text,
                      " during CUDA graph capture. If you need this call to be captured, please "
                      "file an issue. Current cudaStreamCaptureStatus: "
                      "cudaStreamCaptureStatusActive");
}

std::shared_ptr<GeneratorImpl> new_impl(Device device) {
  return std::make_shared<GeneratorImpl>(device);
}

GeneratorImpl& checked(GeneratorImpl* impl) {
  HEARTH_CHECK(impl, "the generator is undefined; create one with make_generator()");
  return *impl;
}

void reseed(GeneratorImpl& impl, uint64_t seed) {
  check_not_capturing(impl, "Cannot call CUDAGeneratorImpl::set_current_seed");
  const std::lock_guard lock(impl.state_mutex);
  impl.mt.reseed(seed);
  impl.philox_seed = seed;
  impl.philox_offset = 0;
}

}  // namespace

std::mutex& Generator::mutex() const { return checked(impl()).mutex_; }
CPUGeneratorImpl* Generator::numbers() const {
  GeneratorImpl& g = checked(impl());
  HEARTH_CHECK(g.device.is_cpu(), "Expected a 'cpu' device type for generator but found '",
               g.device.type(), "'");
  return &g;
}

uint32_t CPUGeneratorImpl::random() {
  auto& g = static_cast<GeneratorImpl&>(*this);
  const std::lock_guard lock(g.state_mutex);
  return g.mt.random();
}
uint64_t CPUGeneratorImpl::random64() {
  auto& g = static_cast<GeneratorImpl&>(*this);
  const std::lock_guard lock(g.state_mutex);
  return g.mt.random64();
}
uint64_t CPUGeneratorImpl::current_seed() {
  auto& g = static_cast<GeneratorImpl&>(*this);
  const std::lock_guard lock(g.state_mutex);
  return g.mt.seed();
}
void CPUGeneratorImpl::set_current_seed(uint64_t seed) {
  reseed(static_cast<GeneratorImpl&>(*this), seed);
}

Device Generator::device() const { return checked(impl()).device; }
void Generator::set_current_seed(uint64_t seed) { reseed(checked(impl()), seed); }

uint64_t Generator::current_seed() const {
  GeneratorImpl& g = checked(impl());
  const std::lock_guard lock(g.state_mutex);
  return g.device.is_cpu() ? g.mt.seed() : g.philox_seed;
}

uint64_t Generator::seed() {
  std::random_device entropy;
  const uint64_t value = uint64_t(entropy()) << 32 | entropy();
  set_current_seed(value);
  return value;
}

Generator Generator::clone() const {
  GeneratorImpl& g = checked(impl());
  const std::lock_guard lock(g.state_mutex);
  auto copy = new_impl(g.device);
  copy->mt = g.mt;
  copy->philox_seed = g.philox_seed;
  copy->philox_offset = g.philox_offset;
  return Generator(std::move(copy));
}

Tensor Generator::get_state() const {
  GeneratorImpl& g = checked(impl());
  const std::lock_guard lock(g.state_mutex);
  if (g.device.is_cpu()) {
    const auto bytes = g.mt.state();
    Tensor state = allocate_tensor({int64_t(bytes.size())}, kByte, Device(DeviceType::CPU));
    std::memcpy(state.data_ptr(), bytes.data(), bytes.size());
    return state;
  }
  const uint64_t words[] = {g.philox_seed, g.philox_offset};
  Tensor state = allocate_tensor({int64_t(sizeof words)}, kByte, Device(DeviceType::CPU));
  std::memcpy(state.data_ptr(), words, sizeof words);
  return state;
}

void Generator::set_state(const Tensor& state) {
  GeneratorImpl& g = checked(impl());
  HEARTH_CHECK_AS(
      TypeError,
      state.defined() && state.is_cpu() && state.scalar_type() == kByte && state.is_contiguous(),
      "expected a torch.ByteTensor, but got ", state.toString());
  check_not_capturing(g,
                      "Please ensure to utilize the CUDAGeneratorImpl::set_state_index method "
                      "during capturing.");
  const std::lock_guard lock(g.state_mutex);
  const size_t size = size_t(state.numel());
  if (g.device.is_cpu()) {
    Mt19937::StateBytes bytes;
    HEARTH_CHECK(size == bytes.size(), "RNG state is wrong size (", size, " bytes, expected ",
                 bytes.size(), ")");
    std::memcpy(bytes.data(), state.data_ptr(), size);
    HEARTH_CHECK(g.mt.set_state(bytes), "Invalid mt19937 state");
    return;
  }
  uint64_t words[2];
  HEARTH_CHECK(size == sizeof words, "RNG state is wrong size (", size, " bytes, expected ",
               sizeof words, ")");
  std::memcpy(words, state.data_ptr(), size);
  g.philox_seed = words[0];
  g.philox_offset = words[1];
}

Generator make_generator(Device device) {
  HEARTH_CHECK(device.is_cpu() || device.is_cuda(),
               device.is_meta() ? "META" : by_name::name_of(device.type()),
               " device type not an accelerator.");
  if (device.is_cuda() && !device.has_index()) device.set_index(current_cuda_device());
  if (device.is_cuda()) backend_of(device);  // throws if there is no such device
  return Generator(new_impl(device));
}

const Generator& default_generator(Device device) {
  // Never destroyed, because threads may draw while the process ends.
  static const Generator& cpu = *new Generator(new_impl(Device(DeviceType::CPU)));
  static const std::array<Generator, kMaxGpus>& gpus = *[] {
    auto* created = new std::array<Generator, kMaxGpus>;
    for (int i = 0; i < kMaxGpus; ++i)
      (*created)[size_t(i)] = Generator(new_impl(Device(DeviceType::CUDA, DeviceIndex(i))));
    return created;
  }();
  if (!device.is_cuda()) return modes.generator ? *modes.generator : cpu;
  const int index = device.has_index() ? device.index() : current_cuda_device();
  HEARTH_CHECK(index >= 0 && index < kMaxGpus, "no generator for device ", device);
  return gpus[size_t(index)];
}

GeneratorGuard::GeneratorGuard(Generator generator)
    : generator_(std::move(generator)), former_(modes.generator) {
  HEARTH_CHECK(generator_.device().is_cpu(),
               "GeneratorGuard needs a CPU generator, but got one of ", generator_.device());
  modes.generator = &generator_;
}
GeneratorGuard::~GeneratorGuard() { modes.generator = former_; }

void manual_seed(uint64_t seed) {
  reseed(*default_generator().impl(), seed);
  for (int i = 0; i < kMaxGpus; ++i)
    reseed(*default_generator(Device(DeviceType::CUDA, DeviceIndex(i))).impl(), seed);
}

GeneratorImpl& generator_for(const Generator& generator, Device device) {
  if (!generator.defined()) return *default_generator(device).impl();
  GeneratorImpl& impl = *generator.impl();
  HEARTH_CHECK(impl.device.type() == device.type(), "Expected a '", device.type(),
               "' device type for generator but found '", impl.device.type(), "'");
  return impl;
}

Draw::Draw(const Generator& generator, Device device)
    : impl_(generator_for(generator, device)), user_lock_(impl_.mutex_), lock_(impl_.state_mutex) {
  if (device.is_cpu()) {
    source_.mt = &impl_.mt;
    return;
  }
  const Generator& used = generator.defined() ? generator : default_generator(device);
  if (draw_in_capture(used, device, source_)) return;
  source_.seed = impl_.philox_seed;
  source_.offset = impl_.philox_offset;
  impl_.philox_offset += kPhiloxOffsetStep;
}

}  // namespace hearth
