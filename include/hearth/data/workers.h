#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "hearth/error.h"
#include "hearth/owned_ptr.h"
#include "hearth/shape.h"
#include "hearth/tensor.h"
#include "hearth/thread_state.h"

namespace hearth::data {

/// One of a data loader's threads.
struct WorkerInfo {
  size_t id = 0;
  size_t num_workers = 0;
  uint64_t seed = 0;  // another one for each worker and epoch
};
/// In a worker of a data loader, which one; elsewhere nothing.
HEARTH_API std::optional<WorkerInfo> get_worker_info();

/// What an exception in a worker becomes in the thread that iterates.
struct HEARTH_API WorkerException : Error {
  WorkerException(std::exception_ptr original, const std::string& where);
  ~WorkerException() override;

  std::exception_ptr original_exception;
  std::string message;
};

namespace detail {

/// Notes which example of its batch a thread works on, for errors.
class HEARTH_API PositionGuard {
 public:
  PositionGuard() = default;
  /// After an exception, the position stays.
  ~PositionGuard();
  PositionGuard(const PositionGuard&) = delete;
  PositionGuard& operator=(const PositionGuard&) = delete;
  void set(size_t position) const noexcept;

 private:
  int exceptions_ = std::uncaught_exceptions();
};

/// Lets an epoch's batches pass one after the other.
class HEARTH_API Turns {
 public:
  explicit Turns(size_t first);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Returns when all batches before this one have passed.
  void wait(size_t number);
  /// Waits if need be; a batch that has passed may pass again.
  void pass(size_t number);

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// What all batches of an epoch have in common.
struct Epoch {
  uint64_t seed = 0;
  ThreadLocalState modes;
  std::shared_ptr<Turns> turns;  // where the dataset is asked in order
};
/// An epoch that was begun in this thread, as long as somebody goes through it.
class HEARTH_API EpochUnderWay {
 public:
  EpochUnderWay();
  ~EpochUnderWay();
  EpochUnderWay(const EpochUnderWay&) = delete;
  EpochUnderWay& operator=(const EpochUnderWay&) = delete;

  /// A seed that depends on the default generator's state and leaves it as it is; epochs that were
  /// under way before this one have others.
  uint64_t seed() const;

 private:
  std::shared_ptr<std::atomic<uint64_t>> count_;
  uint64_t before_;
};

/// A seed drawn from the default generator.
HEARTH_API uint64_t draw_seed();

/// While one lives, what its thread draws depends on these numbers only.
class HEARTH_API SeedGuard {
 public:
  SeedGuard(uint64_t seed, size_t number);
  ~SeedGuard();
  /// Whether anything was drawn since.
  bool drew() const;

 private:
  Generator generator_;
  Tensor first_state_;
  GeneratorGuard guard_;
  std::shared_ptr<std::atomic<uint64_t>> outer_epochs_;
};

/// One batch to make. What is drawn meanwhile depends on its epoch and number only, so that the
/// number of workers changes nothing.
class HEARTH_API Job {
 public:
  Job(std::shared_ptr<const Epoch> epoch, size_t number);
  virtual ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Makes the batch, or keeps the exception; `worker` is 0 in the caller's own thread.
  void run(size_t worker, size_t workers) noexcept;
  size_t number() const { return number_; }
  bool failed() const { return error_ != nullptr; }
  /// Whether making it took random numbers.
  bool drew() const { return drew_; }
  /// As a WorkerException.
  [[noreturn]] void rethrow_from_worker() const;
  /// As itself; Hearth's errors say in which batch.
  [[noreturn]] void rethrow() const;

 protected:
  virtual void make(size_t worker) = 0;
  /// The examples' indices, if the request has any.
  virtual ArrayRef<size_t> indices() const = 0;
  /// Between these two, no other batch of the epoch is.
  void begin_turn() const;
  void end_turn() const;

 private:
  std::string where() const;

  std::shared_ptr<const Epoch> epoch_;
  size_t number_;
  size_t position_;
  bool drew_ = false;
  std::exception_ptr error_;
};

/// Threads that run jobs ahead of the thread that takes them.
class HEARTH_API Prefetcher {
 public:
  Prefetcher(size_t workers, bool ordered);
  /// Waits for the jobs that are being run, and drops all others.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  void submit(std::unique_ptr<Job> job);
  /// Waits for the next finished job; null if none was submitted.
  std::unique_ptr<Job> take(std::optional<std::chrono::milliseconds> timeout);
  /// How many were submitted and not taken.
  size_t in_flight() const;
  /// Drops all jobs, when none is being run any more.
  void drain();

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

}  // namespace detail
}  // namespace hearth::data
