#pragma once

#include "distributed/backend.h"
#include "distributed/nccl/nccl_comm.h"
#include "hearth/tensor.h"

namespace hearth::distributed {

/// NCCL between GPUs, one per rank: the GPU that is current when the group is created.
class NcclBackend final : public Backend {
 public:
  explicit NcclBackend(const BackendOptions& options);

  const char* name() const override { return "nccl"; }
  Device device() const override { return device_; }
  bool receives_from_any() const override { return false; }
  void check_reduction(ReduceOp op, ScalarType dtype) const override;
  bool averages() const override { return true; }
  void all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                  const BackendCall& call) override;
  void reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
              const BackendCall& call) override;
  void reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype, ReduceOp op,
                      const BackendCall& call) override;
  void broadcast(void* data, int64_t bytes, int root, const BackendCall& call) override;
  void all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) override;
  void gather(const void* in, void* out, int64_t bytes, int root, const BackendCall& call) override;
  void scatter(const void* in, void* out, int64_t bytes, int root,
               const BackendCall& call) override;
  void all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                  const std::vector<int64_t>& out_bytes, const BackendCall& call) override;
  void barrier(const BackendCall& call) override;
  std::unique_ptr<Transfer> send(const void* data, int64_t bytes, int destination,
                                 const BackendCall& call) override;
  std::unique_ptr<Transfer> receive(void* data, int64_t bytes, int source,
                                    const BackendCall& call) override;
  std::unique_ptr<Transfer> transfer(const std::vector<TransferPart>& parts,
                                     const BackendCall& call) override;
  void check() override;
  void abort() noexcept override;

 private:
  std::unique_ptr<NcclComm> connect(const BackendOptions& options, const std::string& key) const;

  const Device device_;
  const int rank_, size_;
  const Tensor token_;  // the tensor that barriers reduce
  // Transfers run beside collectives, on a stream of their own, and each communicator needs its
  // calls in the same order on all ranks.
  const std::unique_ptr<NcclComm> collectives_, transfers_;
};

}  // namespace hearth::distributed
