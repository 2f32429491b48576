#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>  // std::chrono::milliseconds
#include <vector>

#include "hearth/distributed/types.h"

namespace hearth::distributed {

/// A collective or transfer that has been submitted. Its tensors may be used again after wait().
class HEARTH_API Work {
 public:
  static constexpr std::chrono::milliseconds kNoTimeout{0};  ///< waits forever

  virtual ~Work();
  bool isCompleted() const;              ///< whether it has ended, with or without an error
  bool isSuccess() const;                ///< whether it has ended without an error
  std::exception_ptr exception() const;  ///< the error, or null
  int sourceRank() const;                ///< the rank from which a tensor was received, else -1
  std::vector<Tensor> result() const;    ///< the tensors that it has written
  /// Waits for the end and for the results on GPUs as synchronize() does, and throws the error.
  /// After the timeout throws DistBackendError; the work goes on.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout);
  /// Makes the current stream of the tensors' GPU wait for the results. Does nothing on the CPU.
  void synchronize();
  /// Calls `hook` when the work ends, on a thread of the group, or at once if it has ended. The
  /// hook should be short, and must not wait for other work of the same group.
  void on_completion(std::function<void(Work&)> hook);
  OpType op_type() const;
  uint64_t getSequencenumber() const;  ///< the number of the call in its group, from 1

  bool is_completed() const { return isCompleted(); }
  bool is_success() const { return isSuccess(); }
  int source_rank() const { return sourceRank(); }

  struct State;  // in src/distributed

 protected:
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  friend class Communicator;
  std::shared_ptr<State> state_;
};
using WorkPtr = std::shared_ptr<Work>;

}  // namespace hearth::distributed
