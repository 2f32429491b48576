#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/step_clock.h"
#include "data/epoch.h"
#include "hearth/autograd.h"
#include "hearth/data/workers.h"
#include "hearth/operators.h"
#include "hearth/profiler/record_function.h"

namespace hearth::data {

namespace {

constexpr size_t kNoPosition = SIZE_MAX;
constexpr size_t kMaxShownIndices = 8;  // in an error

thread_local std::optional<WorkerInfo> this_worker;
thread_local std::shared_ptr<std::atomic<uint64_t>> running_epochs;
thread_local size_t position_in_batch = kNoPosition;

/// One step of splitmix64: hashes neighbouring numbers to unrelated ones.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

Generator seeded_generator(uint64_t seed) {
  Generator generator = make_generator();
  generator.set_current_seed(seed);
  return generator;
}

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return hearth::detail::str(" Original message: ", exception.what());
  } catch (...) {
    return "";
  }
}

}  // namespace

std::optional<WorkerInfo> get_worker_info() { return this_worker; }

WorkerException::WorkerException(std::exception_ptr original, const std::string& where)
    : Error(hearth::detail::str("Caught exception in DataLoader worker thread.",
                                message_of(original), " (", where, ")")),
      original_exception(std::move(original)),
      message(what()) {}
WorkerException::~WorkerException() = default;

namespace detail {

void PositionGuard::set(size_t position) const noexcept { position_in_batch = position; }
PositionGuard::~PositionGuard() {
  if (std::uncaught_exceptions() == exceptions_) position_in_batch = kNoPosition;
}

std::shared_ptr<const Epoch> make_epoch(uint64_t seed, std::optional<size_t> first_turn) {
  return std::make_shared<const Epoch>(
      Epoch{seed, ThreadLocalState(), first_turn ? std::make_unique<Turns>(*first_turn) : nullptr});
}

RunningEpoch::RunningEpoch() {
  if (!running_epochs) running_epochs = std::make_shared<std::atomic<uint64_t>>(0);
  epochs_before_ = (*running_epochs)++;
  counted_ = std::shared_ptr<void>(nullptr, [count = running_epochs](void*) { --*count; });
}

uint64_t RunningEpoch::seed() const {
  const Tensor state = default_generator().get_state();
  const auto* bytes = state.const_data_ptr<uint8_t>();
  uint64_t seed = mix(epochs_before_);
  for (int64_t i = 0; i + 8 <= state.numel(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    seed = mix(seed ^ word);
  }
  return seed;
}

uint64_t draw_seed() { return static_cast<uint64_t>(empty({}, kLong).random_().item<int64_t>()); }

struct SeedGuard::State {
  explicit State(uint64_t seed)
      : generator(seeded_generator(seed)), first_state(generator.get_state()), guard(generator) {}

  Generator generator;
  Tensor first_state;
  GeneratorGuard guard;
  std::shared_ptr<std::atomic<uint64_t>> outer_epochs = std::exchange(running_epochs, nullptr);
};

SeedGuard::SeedGuard(uint64_t seed, size_t number) : state_(new State(mix(seed ^ mix(number)))) {}
SeedGuard::~SeedGuard() { running_epochs = std::move(state_->outer_epochs); }

bool SeedGuard::drew() const { return !state_->generator.get_state().equal(state_->first_state); }

Job::Job(std::shared_ptr<const Epoch> epoch, size_t number)
    : epoch_(std::move(epoch)), number_(number), position_(kNoPosition) {}
Job::~Job() = default;

void Job::run(size_t worker, size_t workers) noexcept {
  if (workers > 0) return prepare(worker, workers);
  const profiler::record_function range(
      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  const StepWaitTimer timer(StepWait::kData);
  prepare(worker, workers);
}

void Job::prepare(size_t worker, size_t workers) noexcept {
  try {
    const ThreadLocalStateGuard modes(epoch_->modes);
    const SeedGuard seed_guard(epoch_->seed, number_);
    if (workers > 0) this_worker = {worker, workers, mix(epoch_->seed + worker)};
    position_in_batch = kNoPosition;
    make(worker);
    drew_ = seed_guard.drew();
  } catch (...) {
    error_ = std::current_exception();
    position_ = position_in_batch;
  }
  end_turn();
}

void Job::begin_turn() const {
  if (epoch_->turns) epoch_->turns->wait(number_);
}
void Job::end_turn() const {
  if (epoch_->turns) epoch_->turns->pass(number_);
}

std::string Job::where() const {
  const ArrayRef<size_t> examples = indices();
  std::string text = hearth::detail::str("in batch ", number_);
  if (position_ < examples.size())
    return hearth::detail::str(text, ", example ", examples[position_]);
  for (size_t i = 0; i < std::min(examples.size(), kMaxShownIndices); ++i)
    text += hearth::detail::str(i == 0 ? " of examples " : ", ", examples[i]);
  return examples.size() > kMaxShownIndices ? text + ", …" : text;
}

void Job::rethrow_from_worker() const {
  try {
    std::rethrow_exception(error_);
  } catch (const WorkerException&) {  // from a worker thread of the dataset itself
    throw;
  } catch (...) {
    throw WorkerException(error_, where());
  }
}

void Job::rethrow() const {
  try {
    std::rethrow_exception(error_);
  } catch (Error& error) {
    error.append_line(hearth::detail::str("while loading data (", where(), ")"));
    throw;
  }
}

}  // namespace detail
}  // namespace hearth::data
