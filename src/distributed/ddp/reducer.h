#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distributed/ddp/bucket.h"
#include "hearth/autograd.h"
#include "hearth/ordered_dict.h"

namespace hearth::distributed {

struct ReducerOptions {
  int64_t first_bucket_bytes = 0, bucket_bytes = 0;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
};

/// Averages the gradients of the ranks while backward computes them. A pass begins with the first
/// gradient and ends when all buckets are reduced; on all ranks, buckets are launched in the order
/// of their indices. Threads may run backward passes, but one at a time.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(ProcessGroupPtr group, const OrderedDict<std::string, Tensor>& parameters,
          const ReducerOptions& options);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;
  void watch_gradients();  ///< registers the hooks; call it once, after construction

  /// Throws if the last backward pass did not compute the gradients of all parameters.
  void prepare_for_forward();
  /// Expects a backward pass through the outputs of forward().
  void prepare_for_backward(const std::vector<Tensor>& outputs);
  /// Takes part in a pass of the other ranks, with gradients that are 0.
  void run_pass_of_others();

  void set_divisor(double divisor) { communication_.divisor = divisor; }
  void set_comm_hook(CommHook hook);
  void set_static_graph();

 private:
  struct Parameter {
    std::string name;
    Tensor tensor;
    autograd::NodePtr node;  // that accumulates the gradient; kept so that it stays the same
    std::optional<unsigned> hook;
    size_t bucket = 0, slot = 0;  // its bucket, and its index in there
    bool is_ready = false, is_used = false;
    int uses = 0;  // with a static graph: gradients in the first pass
    int left = 0;  // with a static graph: gradients that are still to come in this pass
  };
  using Indices = std::vector<size_t>;
  /// Parameters that a forward() does not use.
  using Unused = std::shared_ptr<const Indices>;

  void make_buckets(const Indices& order);
  Unused unused_in(const std::vector<Tensor>& outputs) const;
  /// Called when backward reaches an output of forward(), with the parameters not used there.
  void on_output(const Unused& unused);
  /// Called when the gradient of a parameter was accumulated.
  void on_gradient(size_t index);
  void begin_pass();
  void mark_ready(size_t index);
  void launch_full_buckets();
  void begin_exchange_of_uses();
  /// Lets the running backward pass call on_backward_end() at its end.
  void queue_end();
  void on_backward_end();
  void finish();
  /// Waits for the buckets, and stores their averages as gradients.
  void take_results();
  void end_pass();
  void accept_gradient(size_t index);
  void finish_exchange_of_uses();
  void rebuild_buckets();
  bool learns_graph() const { return options_.static_graph && !knows_graph_; }
  /// Whether the ranks tell each other in this pass which parameters they have used.
  bool exchanges_uses() const { return options_.find_unused_parameters || learns_graph(); }
  void fail_unfinished() const;

  ReducerOptions options_;
  std::mutex mutex_;  // of all members
  Communication communication_;
  std::vector<Parameter> parameters_;
  std::vector<Bucket> buckets_;

  bool is_expected_ = false;  // from forward(), or the hook of an output, to the end of the pass
  bool is_running_ = false;
  int64_t queued_in_ = -1;  // the backward pass whose end calls on_backward_end()
  Unused unused_;           // in the forward() of this pass
  size_t ready_ = 0;        // the number of parameters that are ready
  size_t next_bucket_ = 0;  // the first that was not launched
  // How often each parameter was used: the maximum over the ranks, at most 1 unless learns_graph().
  Tensor uses_;
  WorkPtr uses_work_;
  std::vector<bool> globally_unused_;
  bool knows_graph_ = false, has_rebuilt_ = false;
  Indices arrival_;  // parameters in the order of their gradients in the first pass
};

}  // namespace hearth::distributed
