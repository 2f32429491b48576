#include "core/streams.h"

#include <array>
#include <mutex>
#include <vector>

#include "core/device_context.h"
#include "core/faults.h"
#include "core/graph_capture.h"
#include "core/modes.h"

namespace hearth {

namespace {

constexpr size_t kPoolSize = 32;
constexpr int kNumPriorities = 2;  // normal and high

/// The streams of one device and priority created so far.
struct Pool {
  std::vector<StreamHandle> streams;
  size_t next = 0;
};

struct Pools {
  std::mutex mutex;
  std::array<std::array<Pool, kNumPriorities>, kMaxGpus> pools;
};

Pools& pools() {
  static Pools& result = *new Pools;
  return result;
}

/// Returns the device's default stream and the streams of its pools.
std::vector<StreamHandle> streams_of(int device) {
  std::vector<StreamHandle> streams{require_cuda().default_stream(device)};
  const std::lock_guard lock(pools().mutex);
  for (const Pool& pool : pools().pools[static_cast<size_t>(device)])
    streams.insert(streams.end(), pool.streams.begin(), pool.streams.end());
  return streams;
}

}  // namespace

int8_t& current_cuda_device() { return modes.cuda_device; }

StreamHandle current_stream(Device device) {
  if (!device.is_cuda()) return nullptr;
  const int index = cuda_index(device);
  const StreamHandle stream = modes.streams[index];
  return stream ? stream : require_cuda().default_stream(index);
}

void set_current_stream(Device device, StreamHandle stream) {
  modes.streams[cuda_index(device)] = stream;
}

StreamHandle stream_from_pool(int device, int priority) {
  const std::lock_guard lock(pools().mutex);
  Pool& pool = pools().pools[static_cast<size_t>(device)][priority < 0 ? 1 : 0];
  if (pool.streams.size() < kPoolSize) {
    pool.streams.push_back(require_cuda().create_stream(device, priority));
    return pool.streams.back();
  }
  return pool.streams[pool.next++ % kPoolSize];
}

void check_stream_fault(int device, StreamHandle stream) {
  Backend& backend = require_cuda();
  check_fault(*backend.fault_slot(device, stream));
  for (StreamHandle captured : graph_streams(device))
    check_fault(*backend.fault_slot(device, captured));
}

void synchronize_stream(int device, StreamHandle stream) {
  require_cuda().synchronize(device, stream);
  check_stream_fault(device, stream);
}

void synchronize_device(int device) {
  Backend& backend = require_cuda();
  backend.synchronize_device(device);
  for (StreamHandle stream : streams_of(device)) check_fault(*backend.fault_slot(device, stream));
}

}  // namespace hearth
