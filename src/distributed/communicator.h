#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "distributed/membership.h"
#include "distributed/thread_cache.h"
#include "distributed/work_state.h"
#include "hearth/distributed/process_group.h"

namespace hearth::distributed {

/// The time-out; throws if it is negative.
milliseconds checked_timeout(milliseconds timeout);

/// The implementation of a process group: runs collectives in order on its own thread, and turns
/// failures into errors that name their cause on every rank.
class Communicator final : public MembershipListener {
 public:
  struct Options {
    std::shared_ptr<Store> store;  // for this group only
    std::string name;
    int rank = 0;
    int size = 1;
    std::string backend = "gloo";
    milliseconds timeout{0};
    std::vector<int> global_ranks;           // of the members
    std::shared_ptr<Membership> membership;  // null without a TCP store
  };
  using StatePtr = std::shared_ptr<Work::State>;
  using BeginTransfer = std::function<std::unique_ptr<Transfer>(Backend&, const BackendCall&)>;

  explicit Communicator(Options options);
  ~Communicator() override { shutdown(); }

  /// Appends a collective, whose state has call, tensors and body, to the queue.
  WorkPtr submit(StatePtr work, milliseconds timeout);
  /// Begins a transfer; `after` runs at its end.
  WorkPtr submit_transfer(StatePtr work, milliseconds timeout, const BeginTransfer& begin_transfer,
                          std::function<void()> after);
  void abort(const std::string& reason);
  /// abort() on all ranks.
  void abort_everywhere(const std::string& reason) {
    tell_other_ranks(reason);
    abort(reason);
  }
  void shutdown();

  const Options& options() const { return options_; }
  bool receives_from_any() {
    const std::shared_ptr<Backend> running = backend();
    return !running || running->receives_from_any();
  }
  /// Throws if the backend lacks the reduction; no other rank notices.
  void check_reduction(ReduceOp op, ScalarType dtype) {
    if (const std::shared_ptr<Backend> running = backend())
      running->check_reduction(running->op_for(op), dtype);
  }
  milliseconds timeout() const { return timeout_; }
  void set_timeout(milliseconds timeout) { timeout_ = checked_timeout(timeout); }
  /// The group's store; waiting for its keys ends when the group is aborted.
  Store& store() { return *store_; }
  /// A store for short requests, which do not wait long.
  Store& control_store() { return *control_store_; }
  /// The number of this call of split_group, equal on all ranks.
  int count_split() { return ++splits_; }
  std::string title() const { return detail::str("group '", options_.name, "'"); }

  void on_left(int rank) override;
  void on_lost(int rank, const std::string& description) override;
  void on_announcement(const std::string& text) override;

 private:
  void take_rank();
  void meet();
  void connect();
  bool all_have_finished();
  void serve();
  void run(Work::State& work);
  void begin(const StatePtr& work, milliseconds timeout);
  const cuda::Stream* stream_for(const Work::State& work);
  void wait_for_device(Work::State& work, Backend& backend);
  void end(const StatePtr& work, std::exception_ptr error);
  /// The error of a call that failed with the current exception; ends the group.
  std::exception_ptr failure_of(const Work::State& work);
  void tell_other_ranks(const std::string& text);
  void publish_cause(const std::string& text);
  std::string cause_of(const std::string& what);
  void compare_with_other_ranks(const CallInfo& call, const BackendCall& how);
  std::string describe() const;  // the lock is held
  std::string locked_description();
  std::string ask_all_ranks();
  std::string reason();
  void throw_if_aborted();
  void throw_published_cause();
  /// Throws if another rank has failed, also before this one is connected.
  void throw_if_failed_elsewhere();
  bool has_left() {
    const std::lock_guard lock(mutex_);
    return !left_.empty();
  }
  std::shared_ptr<Backend> backend();
  int group_rank(int global_rank) const;

  const Options options_;
  std::shared_ptr<Store> store_, control_store_;
  std::shared_ptr<Backend> backend_;  // null before connect() and after shutdown()
  std::atomic<milliseconds> timeout_;
  std::atomic<int> splits_{0};

  std::mutex mutex_;  // of backend_ and the members below
  std::condition_variable changed_;
  std::deque<StatePtr> queue_;
  std::vector<StatePtr> active_;
  std::unique_ptr<CallInfo> last_;
  Deadline::Clock::time_point last_end_{};
  uint64_t sequence_ = 0;
  uint64_t reports_ = 0;
  bool stops_ = false;
  std::string reason_;        // why the group was aborted
  std::string state_at_end_;  // the text of describe() at that time
  std::vector<int> left_;     // the ranks that have left, in this order
  // By GPU. Transfers have their own streams: they must not wait for collectives, nor vice versa.
  std::unordered_map<int, cuda::Stream> collective_streams_, transfer_streams_;

  std::thread thread_;
  ThreadCache transfers_;  // its threads use the members above
};

/// Whether HEARTH_DISTRIBUTED_DEBUG asks to compare each call with the other ranks' calls.
bool compares_calls();
/// "host vm, process 123".
std::string describe_process();

}  // namespace hearth::distributed
