#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/distributed/store.h"
#include "hearth/distributed/types.h"
#include "hearth/distributed/work.h"

namespace hearth::distributed {

class Communicator;

/// Processes that communicate. Every rank must make the same collective calls in the same order;
/// they run in this order on the group's own thread. A send or recv needs only the matching call of
/// its partner. Ranks are those of the group. The functions have LibTorch's names. As in LibTorch,
/// a rank's own tensor is passed as a list of one; lists for all ranks have one tensor per rank.
/// Python's functions are in distributed/collectives.h.
class HEARTH_API ProcessGroup {
 public:
  static constexpr std::chrono::milliseconds kDefaultTimeout{30 * 60 * 1000};

  /// Connects `size` processes that call this with equal arguments and different ranks.
  ProcessGroup(std::shared_ptr<Store> store, int rank, int size,
               const std::string& backend = "gloo",
               std::chrono::milliseconds timeout = kDefaultTimeout);
  explicit ProcessGroup(std::shared_ptr<Communicator> communicator);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int getRank() const;  ///< -1 if this process does not belong to the group
  int getSize() const;
  const std::string& getBackendName() const;
  const std::string& getGroupName() const;
  std::shared_ptr<Store> getStore() const;
  std::chrono::milliseconds getTimeout() const;
  void setTimeout(std::chrono::milliseconds timeout);

  WorkPtr allreduce(std::vector<Tensor>& tensors, const AllreduceOptions& options = {});
  WorkPtr broadcast(std::vector<Tensor>& tensors, const BroadcastOptions& options = {});
  WorkPtr reduce(std::vector<Tensor>& tensors, const ReduceOptions& options = {});
  WorkPtr allgather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                    const AllgatherOptions& options = {});
  WorkPtr _allgather_base(Tensor& output, Tensor& input, const AllgatherOptions& options = {});
  WorkPtr gather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                 const GatherOptions& options = {});
  WorkPtr scatter(std::vector<Tensor>& outputs, std::vector<std::vector<Tensor>>& inputs,
                  const ScatterOptions& options = {});
  WorkPtr reduce_scatter(std::vector<Tensor>& outputs, std::vector<std::vector<Tensor>>& inputs,
                         const ReduceScatterOptions& options = {});
  WorkPtr _reduce_scatter_base(Tensor& output, Tensor& input,
                               const ReduceScatterOptions& options = {});
  WorkPtr alltoall(std::vector<Tensor>& outputs, std::vector<Tensor>& inputs,
                   const AllToAllOptions& options = {});
  /// Splits along dimension 0, into equal parts if the sizes are empty.
  WorkPtr alltoall_base(Tensor& output, Tensor& input, const std::vector<int64_t>& output_sizes,
                        const std::vector<int64_t>& input_sizes,
                        const AllToAllOptions& options = {});
  WorkPtr barrier(const BarrierOptions& options = {});
  /// A barrier whose error names the first rank that has not reached it before the timeout or, with
  /// wait_all_ranks, all of them.
  void monitoredBarrier(const BarrierOptions& options = {}, bool wait_all_ranks = false);
  WorkPtr send(std::vector<Tensor>& tensors, int destination, int tag);
  WorkPtr recv(std::vector<Tensor>& tensors, int source, int tag);
  WorkPtr recvAnysource(std::vector<Tensor>& tensors, int tag);

  /// Ends all calls of the group, on all ranks, with an error.
  void abort();
  /// Waits for the submitted calls and closes the connections. Later calls throw.
  void shutdown();

  Communicator* communicator() const { return communicator_.get(); }  ///< null: not a member

 private:
  Communicator& member() const;
  std::shared_ptr<Communicator> communicator_;
};
using ProcessGroupPtr = std::shared_ptr<ProcessGroup>;

}  // namespace hearth::distributed
