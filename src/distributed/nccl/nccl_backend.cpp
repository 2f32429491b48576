#include "distributed/nccl/nccl_backend.h"

#include <cstring>

#include "distributed/nccl/gpu.h"
#include "distributed/nccl/nccl_types.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

Device chosen_gpu() {
  nccl();  // throws first if there is no library
  check_gpus();
  return Device(kCUDA, static_cast<DeviceIndex>(cuda::current_device()));
}

/// The id that rank 0 has chosen.
ncclUniqueId agreed_id(const BackendOptions& options, const std::string& key) {
  ncclUniqueId id;
  if (options.rank == 0) {
    check_nccl(nccl().ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&id);
    options.store->set(key, Store::Bytes(bytes, bytes + sizeof id));
    return id;
  }
  const Store::Bytes bytes = options.store->get(key);
  HEARTH_CHECK_AS(DistBackendError, bytes.size() == sizeof id, "the store's key '", key, "' has ",
                  bytes.size(), " bytes instead of ", sizeof id,
                  "; all ranks must use the same version of Hearth");
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

char* bytes_at(const void* data) { return static_cast<char*>(const_cast<void*>(data)); }
size_t to_size(int64_t number) { return static_cast<size_t>(number); }

/// Sends or receives one part; empty ones are left out, on both sides.
ncclResult_t begin(const TransferPart& part, ncclComm_t comm, cudaStream_t stream) {
  if (part.bytes == 0) return ncclSuccess;
  return part.sends
             ? nccl().ncclSend(part.data, to_size(part.bytes), ncclInt8, part.peer, comm, stream)
             : nccl().ncclRecv(part.data, to_size(part.bytes), ncclInt8, part.peer, comm, stream);
}

void run_parts(NcclComm& comm, const char* name, const std::vector<TransferPart>& parts,
               const BackendCall& call) {
  comm.run_grouped(name, call.timeout, [&](ncclComm_t handle) {
    for (const TransferPart& part : parts)
      if (const ncclResult_t result = begin(part, handle, runtime_stream(*call.stream));
          !is_accepted(result))
        return result;
    return ncclSuccess;
  });
}

/// A transfer that is on its stream.
class EnqueuedTransfer final : public Transfer {
 public:
  explicit EnqueuedTransfer(int peer) : peer_(peer) {}
  int wait(milliseconds) override { return peer_; }

 private:
  const int peer_;
};

}  // namespace

NcclBackend::NcclBackend(const BackendOptions& options)
    : device_(chosen_gpu()),
      rank_(options.rank),
      size_(options.size),
      token_(zeros({1}, TensorOptions(kInt).device(device_))),
      collectives_(connect(options, "nccl/collectives")),
      transfers_(connect(options, "nccl/transfers")) {}

std::unique_ptr<NcclComm> NcclBackend::connect(const BackendOptions& options,
                                               const std::string& key) const {
  const ncclUniqueId id = agreed_id(options, key);
  const RuntimeDevice current(device_);
  try {
    return std::make_unique<NcclComm>(id, rank_, size_, options.timeout, options.throw_if_aborted);
  } catch (const DistBackendError& error) {
    detail::fail<DistBackendError>("cannot connect the ranks with ", device_, " on rank ", rank_,
                                   "; each rank needs a GPU of its own, which "
                                   "cuda::set_device(distributed::get_node_local_rank()) chooses "
                                   "before init_process_group. ",
                                   error.msg());
  }
}

void NcclBackend::check_reduction(ReduceOp op, ScalarType dtype) const {
  nccl_reduction(op, dtype);
}

void NcclBackend::all_reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op,
                             const BackendCall& call) {
  const NcclReduction reduction = nccl_reduction(op, dtype);
  collectives_->run("ncclAllReduce", call.timeout, [&](ncclComm_t comm) {
    return nccl().ncclAllReduce(data, data, to_size(count), reduction.dtype, reduction.op, comm,
                                runtime_stream(*call.stream));
  });
}

void NcclBackend::reduce(void* data, int64_t count, ScalarType dtype, ReduceOp op, int root,
                         const BackendCall& call) {
  const NcclReduction reduction = nccl_reduction(op, dtype);
  collectives_->run("ncclReduce", call.timeout, [&](ncclComm_t comm) {
    return nccl().ncclReduce(data, data, to_size(count), reduction.dtype, reduction.op, root, comm,
                             runtime_stream(*call.stream));
  });
}

void NcclBackend::reduce_scatter(const void* in, void* out, int64_t count, ScalarType dtype,
                                 ReduceOp op, const BackendCall& call) {
  const NcclReduction reduction = nccl_reduction(op, dtype);
  collectives_->run("ncclReduceScatter", call.timeout, [&](ncclComm_t comm) {
    return nccl().ncclReduceScatter(in, out, to_size(count), reduction.dtype, reduction.op, comm,
                                    runtime_stream(*call.stream));
  });
}

void NcclBackend::broadcast(void* data, int64_t bytes, int root, const BackendCall& call) {
  collectives_->run("ncclBroadcast", call.timeout, [&](ncclComm_t comm) {
    return nccl().ncclBroadcast(data, data, to_size(bytes), ncclInt8, root, comm,
                                runtime_stream(*call.stream));
  });
}

void NcclBackend::all_gather(const void* in, void* out, int64_t bytes, const BackendCall& call) {
  collectives_->run("ncclAllGather", call.timeout, [&](ncclComm_t comm) {
    return nccl().ncclAllGather(in, out, to_size(bytes), ncclInt8, comm,
                                runtime_stream(*call.stream));
  });
}

// NCCL has no gather, scatter and all_to_all before version 2.28; they are sends and receives that
// begin together. A rank also sends to itself.

void NcclBackend::gather(const void* in, void* out, int64_t bytes, int root,
                         const BackendCall& call) {
  std::vector<TransferPart> parts{{bytes_at(in), bytes, root, true}};
  for (int rank = 0; rank_ == root && rank < size_; ++rank)
    parts.push_back({bytes_at(out) + bytes * rank, bytes, rank, false});
  run_parts(*collectives_, "gather by ncclSend and ncclRecv", parts, call);
}

void NcclBackend::scatter(const void* in, void* out, int64_t bytes, int root,
                          const BackendCall& call) {
  std::vector<TransferPart> parts{{bytes_at(out), bytes, root, false}};
  for (int rank = 0; rank_ == root && rank < size_; ++rank)
    parts.push_back({bytes_at(in) + bytes * rank, bytes, rank, true});
  run_parts(*collectives_, "scatter by ncclSend and ncclRecv", parts, call);
}

void NcclBackend::all_to_all(const void* in, const std::vector<int64_t>& in_bytes, void* out,
                             const std::vector<int64_t>& out_bytes, const BackendCall& call) {
  std::vector<TransferPart> parts;
  int64_t sent = 0, received = 0;
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = static_cast<size_t>(rank);
    parts.push_back({bytes_at(in) + sent, in_bytes[index], rank, true});
    parts.push_back({bytes_at(out) + received, out_bytes[index], rank, false});
    sent += in_bytes[index];
    received += out_bytes[index];
  }
  run_parts(*collectives_, "all_to_all by ncclSend and ncclRecv", parts, call);
}

void NcclBackend::barrier(const BackendCall& call) {
  all_reduce(token_.data_ptr(), 1, kInt, ReduceOp::MAX, call);
}

std::unique_ptr<Transfer> NcclBackend::send(const void* data, int64_t bytes, int destination,
                                            const BackendCall& call) {
  return transfer({{bytes_at(data), bytes, destination, true}}, call);
}

std::unique_ptr<Transfer> NcclBackend::receive(void* data, int64_t bytes, int source,
                                               const BackendCall& call) {
  return transfer({{static_cast<char*>(data), bytes, source, false}}, call);
}

std::unique_ptr<Transfer> NcclBackend::transfer(const std::vector<TransferPart>& parts,
                                                const BackendCall& call) {
  run_parts(*transfers_, "ncclSend and ncclRecv", parts, call);
  return std::make_unique<EnqueuedTransfer>(parts[0].peer);
}

void NcclBackend::check() {
  collectives_->check();
  transfers_->check();
}

void NcclBackend::abort() noexcept {
  collectives_->abort();
  transfers_->abort();
}

}  // namespace hearth::distributed

extern "C" __attribute__((visibility("default"))) hearth::distributed::Backend* hearth_nccl_backend(
    int version, const hearth::distributed::BackendOptions* options) {
  if (version != hearth::distributed::kBackendVersion) return nullptr;
  return new hearth::distributed::NcclBackend(*options);
}

/// Why NCCL cannot be used in this process, or an empty text.
extern "C" __attribute__((visibility("default"))) const char* hearth_nccl_problem() {
  return hearth::distributed::find_nccl().problem.c_str();
}
