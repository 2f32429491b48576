// The functions of NCCL that Hearth calls, for simulated GPUs: ranks exchange files in a folder. As
// in NCCL's non-blocking mode, calls return at once and go on in a thread. A send ends when its
// message was received, so that sends and receives that are not grouped wait for each other. To
// test failures, a reduction by ncclProd of int8 data fails after it has moved its data,
// TEST_NCCL_FAILS=init makes connecting fail, and TEST_NCCL_FAILS=exit ends a process that
// connects. With TEST_NCCL_BUSY, calls on a stream move no data: they keep the stream busy for
// about a second and, like NCCL's, return as soon as they are on it.

#include <nccl.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "hearth/cuda.h"
#include "hearth/operators.h"

namespace {

using namespace hearth;
using Bytes = std::string;

/// One message of a call.
struct Part {
  int peer = 0;
  const void* sent = nullptr;               // in the GPU's memory; null: a receive
  size_t size = 0;                          // in bytes
  std::function<void(const Bytes&)> taker;  // gets the received bytes
};

/// The work of one thread: the messages of a call or group, then the functions that end the calls.
struct Batch {
  std::vector<Part> parts;
  std::vector<std::function<void()>> ends;
  cudaStream_t stream = nullptr;
};

/// The text that ncclGetLastError returns.
std::string last_error;
ncclResult_t fail(ncclResult_t result, const char* why) { return last_error = why, result; }

Tensor on_gpu(const void* data, size_t size, int device) {
  return from_blob(const_cast<void*>(data), {static_cast<int64_t>(size)},
                   TensorOptions(kByte).device(Device(kCUDA, static_cast<DeviceIndex>(device))));
}

Tensor on_host(const Bytes& bytes) {
  return from_blob(const_cast<char*>(bytes.data()), {static_cast<int64_t>(bytes.size())},
                   TensorOptions(kByte));
}

}  // namespace

struct ncclComm {
  int rank = 0, size = 1, device = 0;
  std::string folder;
  std::thread thread;
  std::atomic<ncclResult_t> state{ncclSuccess};
  std::atomic<bool> is_aborted{false};
  std::map<int, int> sent, received;  // numbers of messages, by rank

  std::string file(int from, int to, int number) const {
    std::ostringstream name;
    name << folder << '/' << from << '_' << to << '_' << number;
    return name.str();
  }

  ncclResult_t start(Batch batch) {
    if (state != ncclSuccess)
      return fail(ncclInvalidUsage, "an earlier call is in progress or has failed");
    if (batch.stream && std::getenv("TEST_NCCL_BUSY")) return keep_busy(batch.stream);
    if (thread.joinable()) thread.join();
    state = ncclInProgress;
    thread = std::thread([this, batch = std::move(batch)] { run(batch); });
    return ncclInProgress;
  }

  /// As in NCCL itself, the call succeeds as soon as it is on its stream.
  ncclResult_t keep_busy(cudaStream_t stream) const {
    const Device gpu(kCUDA, static_cast<DeviceIndex>(device));
    const cuda::StreamGuard guard(cuda::Stream(gpu, static_cast<void*>(stream)));
    Tensor x = ones({512, 512}, TensorOptions(kFloat).device(gpu));
    for (int i = 0; i < 100; ++i) x = matmul(x, x).clamp(0, 1);
    return ncclSuccess;
  }

  void run(const Batch& batch) {
    const Device gpu(kCUDA, static_cast<DeviceIndex>(device));
    const cuda::StreamGuard guard(cuda::Stream(gpu, static_cast<void*>(batch.stream)));
    std::vector<std::string> posted;
    for (const Part& part : batch.parts)
      if (!part.taker) posted.push_back(post(part));
    for (const Part& part : batch.parts)
      if (part.taker && !take(part)) return;
    for (const std::string& file : posted)
      if (!wait_until([&] { return !std::filesystem::exists(file); })) return;
    for (const auto& end : batch.ends) end();
    ncclResult_t expected = ncclInProgress;
    state.compare_exchange_strong(expected, ncclSuccess);
  }

  std::string post(const Part& part) {
    Bytes bytes(part.size, '\0');
    if (part.size > 0) on_host(bytes).copy_(on_gpu(part.sent, part.size, device));
    const std::string name = file(rank, part.peer, sent[part.peer]++);
    std::ofstream(name + ".part", std::ios::binary) << bytes;
    std::filesystem::rename(name + ".part", name);
    return name;
  }

  bool take(const Part& part) {
    const std::string name = file(part.peer, rank, received[part.peer]++);
    if (!wait_until([&] { return std::filesystem::exists(name); })) return false;
    std::ifstream in(name, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.size() == part.size)
      part.taker(bytes);
    else
      state = ncclInvalidArgument;
    std::filesystem::remove(name);
    return true;
  }

  template <class F>
  bool wait_until(const F& f) const {
    while (!f()) {
      if (is_aborted) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
  }
};

namespace {

ScalarType dtype_of(ncclDataType_t dtype) {
  switch (dtype) {
    case ncclInt8: return kChar;
    case ncclUint8: return kByte;
    case ncclInt32: return kInt;
    case ncclInt64: return kLong;
    case ncclFloat16: return kHalf;
    case ncclBfloat16: return kBFloat16;
    case ncclFloat32: return kFloat;
    default: return kDouble;
  }
}

size_t bytes_of(size_t count, ncclDataType_t dtype) {
  return count * static_cast<size_t>(element_size(dtype_of(dtype)));
}

Tensor combine(const Tensor& a, const Tensor& b, ncclRedOp_t op) {
  switch (op) {
    case ncclProd: return a * b;
    case ncclMax: return maximum(a, b);
    case ncclMin: return minimum(a, b);
    default: return a + b;
  }
}

thread_local int group_depth = 0;
thread_local std::map<ncclComm_t, Batch> group;

ncclResult_t submit(ncclComm_t comm, Batch batch) {
  if (group_depth == 0) return comm->start(std::move(batch));
  Batch& all = group[comm];
  all.stream = batch.stream;
  all.parts.insert(all.parts.end(), batch.parts.begin(), batch.parts.end());
  all.ends.insert(all.ends.end(), batch.ends.begin(), batch.ends.end());
  return ncclSuccess;
}

const void* offset(const void* data, size_t bytes) {
  return data ? static_cast<const char*>(data) + bytes : nullptr;
}

Part sending(const void* data, size_t size, int peer) {
  static const char nothing = 0;
  return {peer, data ? data : &nothing, size, nullptr};
}

Part receiving(const void* data, size_t size, int peer, int device) {
  return {peer, nullptr, size, [=](const Bytes& bytes) {
            if (size > 0) on_gpu(data, size, device).copy_(on_host(bytes));
          }};
}

/// Receives `count` elements from each rank and writes their combination to `out`.
void add_combination(Batch& batch, ncclComm_t comm, void* out, size_t count, ncclDataType_t dtype,
                     ncclRedOp_t op) {
  const auto values = std::make_shared<std::vector<Bytes>>();
  const size_t size = bytes_of(count, dtype);
  for (int rank = 0; rank < comm->size; ++rank)
    batch.parts.push_back(
        {rank, nullptr, size, [values](const Bytes& bytes) { values->push_back(bytes); }});
  batch.ends.push_back([=] {
    Tensor result;
    for (const Bytes& bytes : *values) {
      Tensor value = on_host(bytes).view(dtype_of(dtype));
      if (op == ncclAvg) value = value / comm->size;  // so that the sum does not overflow
      result = result.defined() ? combine(result, value, op) : value;
    }
    on_gpu(out, size, comm->device).copy_(result.view(kByte));
    if (dtype == ncclInt8 && op == ncclProd)
      comm->state = fail(ncclRemoteError, "the peer has closed the connection");
  });
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) { return *version = NCCL_VERSION_CODE, ncclSuccess; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::string folder = std::filesystem::temp_directory_path();
  std::snprintf(id->internal, sizeof id->internal, "%s/fake_nccl_XXXXXX", folder.c_str());
  return mkdtemp(id->internal) ? ncclSuccess : ncclSystemError;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  const char* const fails = std::getenv("TEST_NCCL_FAILS");
  if (config->blocking != 0) return fail(ncclInvalidUsage, "this library does not block");
  if (fails && !std::strcmp(fails, "exit")) std::_Exit(7);
  if (fails && !std::strcmp(fails, "init")) return fail(ncclInvalidUsage, "Duplicate GPU detected");
  *comm = new ncclComm;
  (*comm)->rank = rank;
  (*comm)->size = size;
  (*comm)->device = cuda::current_device();
  (*comm)->folder = id.internal;
  Batch hello;
  for (int peer = 0; peer < size; ++peer) hello.parts.push_back(sending(nullptr, 0, peer));
  for (int peer = 0; peer < size; ++peer) hello.parts.push_back(receiving(nullptr, 0, peer, 0));
  return (*comm)->start(hello);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  Batch bye;
  bye.parts.push_back(sending(nullptr, 0, 0));
  for (int peer = 0; comm->rank == 0 && peer < comm->size; ++peer)
    bye.parts.push_back(receiving(nullptr, 0, peer, 0));
  if (comm->rank == 0) bye.ends.push_back([comm] { std::filesystem::remove_all(comm->folder); });
  return comm->start(bye);
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (std::getenv("TEST_NCCL_BUSY")) std::puts("ncclCommAbort");
  return ncclCommDestroy(comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  comm->is_aborted = true;
  if (comm->thread.joinable()) comm->thread.join();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  return *state = comm->state, ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited or there was a network error"
                                   : "invalid usage";
}
const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGroupStart() { return ++group_depth, ncclSuccess; }
ncclResult_t ncclGroupEnd() {
  if (--group_depth > 0) return ncclSuccess;
  ncclResult_t result = ncclSuccess;
  for (auto& [comm, batch] : std::exchange(group, {})) result = comm->start(std::move(batch));
  return result;
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t dtype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return submit(comm, {{sending(data, bytes_of(count, dtype), peer)}, {}, stream});
}
ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return submit(comm, {{receiving(data, bytes_of(count, dtype), peer, comm->device)}, {}, stream});
}

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t dtype,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  Batch batch{{}, {}, stream};
  for (int rank = 0; rank < comm->size; ++rank)
    batch.parts.push_back(sending(in, bytes_of(count, dtype), rank));
  add_combination(batch, comm, out, count, dtype, op);
  return submit(comm, batch);
}

ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t dtype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  Batch batch{{sending(in, bytes_of(count, dtype), root)}, {}, stream};
  if (comm->rank == root) add_combination(batch, comm, out, count, dtype, op);
  return submit(comm, batch);
}

ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t dtype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  const size_t size = bytes_of(count, dtype);
  Batch batch{{}, {}, stream};
  for (int rank = 0; rank < comm->size; ++rank)
    batch.parts.push_back(sending(offset(in, size * static_cast<size_t>(rank)), size, rank));
  add_combination(batch, comm, out, count, dtype, op);
  return submit(comm, batch);
}

ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t dtype, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const size_t size = bytes_of(count, dtype);
  Batch batch{{}, {}, stream};
  for (int rank = 0; comm->rank == root && rank < comm->size; ++rank)
    batch.parts.push_back(sending(in, size, rank));
  batch.parts.push_back(receiving(out, size, root, comm->device));
  return submit(comm, batch);
}

ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t dtype,
                           ncclComm_t comm, cudaStream_t stream) {
  const size_t size = bytes_of(count, dtype);
  Batch batch{{}, {}, stream};
  for (int rank = 0; rank < comm->size; ++rank) {
    batch.parts.push_back(sending(in, size, rank));
    batch.parts.push_back(
        receiving(offset(out, size * static_cast<size_t>(rank)), size, rank, comm->device));
  }
  return submit(comm, batch);
}

}  // extern "C"
