#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "hearth/error.h"
#include "hearth/owned_ptr.h"
#include "hearth/shape.h"
#include "hearth/tensor.h"

namespace hearth::data {

/// Describes one worker thread of a data loader.
struct WorkerInfo {
  size_t id = 0;           ///< 0 to num_workers - 1
  size_t num_workers = 0;  ///< the loader's worker threads
  uint64_t seed = 0;       ///< differs between workers and epochs
};
/// The data loader's worker on this thread, or nullopt in other threads.
HEARTH_API std::optional<WorkerInfo> get_worker_info();

/// Thrown in the iterating thread in place of an exception in a worker.
struct HEARTH_API WorkerException : Error {
  WorkerException(std::exception_ptr original, const std::string& where);
  ~WorkerException() override;

  std::exception_ptr original_exception;
  std::string message;
};

namespace detail {

/// Records the position in the batch of the example that this thread prepares, for error texts.
class HEARTH_API PositionGuard {
 public:
  PositionGuard() = default;
  ~PositionGuard();  ///< clears the position unless an exception is in flight
  PositionGuard(const PositionGuard&) = delete;
  PositionGuard& operator=(const PositionGuard&) = delete;
  void set(size_t position) const noexcept;

 private:
  int exceptions_ = std::uncaught_exceptions();
};

struct Epoch;  // the state that all batches of an epoch share
/// An epoch with this thread's modes. If `first_turn` is a batch's number, workers call the dataset
/// for that batch and all later ones in the order of their numbers; if it is nullopt, in any order.
HEARTH_API std::shared_ptr<const Epoch> make_epoch(uint64_t seed, std::optional<size_t> first_turn);

/// Counts an epoch of this thread as running; its copies live as long as the epoch's iterators.
class HEARTH_API RunningEpoch {
 public:
  RunningEpoch();

  /// A seed computed from the default generator's state, which is unchanged, and from the number of
  /// epochs already running, so that simultaneous epochs differ.
  uint64_t seed() const;

 private:
  std::shared_ptr<void> counted_;  // its deleter counts the epoch as ended
  uint64_t epochs_before_;
};

/// A seed drawn from the default generator.
HEARTH_API uint64_t draw_seed();

/// During its lifetime, random numbers of this thread depend only on `seed` and `number`.
class HEARTH_API SeedGuard {
 public:
  SeedGuard(uint64_t seed, size_t number);
  ~SeedGuard();
  SeedGuard(const SeedGuard&) = delete;
  SeedGuard& operator=(const SeedGuard&) = delete;
  /// Whether random numbers have been drawn since construction.
  bool drew() const;

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// One batch to prepare. Its random numbers depend only on its epoch and number, so that results do
/// not depend on the number of workers.
class HEARTH_API Job {
 public:
  Job(std::shared_ptr<const Epoch> epoch, size_t number);
  virtual ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Prepares the batch or stores the exception; `worker` is 0 in the caller's own thread.
  void run(size_t worker, size_t workers) noexcept;
  size_t number() const { return number_; }
  bool failed() const { return error_ != nullptr; }
  bool drew() const { return drew_; }             ///< whether it drew random numbers
  [[noreturn]] void rethrow_from_worker() const;  ///< throws the exception as a WorkerException
  /// Throws the stored exception itself; Hearth's errors get the batch added to their text.
  [[noreturn]] void rethrow() const;

 protected:
  virtual void make(size_t worker) = 0;
  /// The examples' indices, if the request has any.
  virtual ArrayRef<size_t> indices() const = 0;
  /// If the epoch has a first turn, its batches run one at a time between begin_turn() and
  /// end_turn(), in the order of their numbers.
  void begin_turn() const;
  void end_turn() const;

 private:
  void prepare(size_t worker, size_t workers) noexcept;
  std::string where() const;

  std::shared_ptr<const Epoch> epoch_;
  size_t number_;
  size_t position_;
  bool drew_ = false;
  std::exception_ptr error_;
};

/// Worker threads that run jobs ahead of the thread that takes the results.
class HEARTH_API Prefetcher {
 public:
  Prefetcher(size_t workers, bool ordered);
  /// Waits for running jobs and drops all others; not in a forked process.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  void submit(hearth::detail::OwnedPtr<Job> job);
  /// Waits for the next finished job; null if none is in flight.
  hearth::detail::OwnedPtr<Job> take(std::optional<std::chrono::milliseconds> timeout);
  size_t in_flight() const;  ///< jobs submitted and not yet taken
  /// Waits for running jobs and drops all jobs.
  void drain();

 private:
  struct State;
  void check_process() const;  ///< throws in a forked process, which does not have the workers
  hearth::detail::OwnedPtr<State> state_;
};

}  // namespace detail
}  // namespace hearth::data
