// Graphs of GPU work. A backend records and runs the work; this file provides the memory and the
// random numbers. A random kernel of a graph reads seed and offset from the device's memory, where
// each replay writes those that the generator has then, and adds the launch's offset in the graph.
#include "hearth/cuda_graph.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "core/device_allocator.h"
#include "core/device_context.h"
#include "core/generator_impl.h"
#include "core/graph_capture.h"
#include "core/modes.h"
#include "core/pinned_allocator.h"
#include "core/streams.h"

namespace hearth::cuda {

namespace detail {

/// The numbers that one generator contributes to a graph.
struct GraphDraws {
  Generator generator;
  void* state;          // on the device: seed and first offset
  uint64_t offset = 0;  // of the next launch in the graph; after the capture, of all launches
};

struct GraphState {
  Device device{DeviceType::CUDA};
  StreamHandle stream = nullptr;  // on which it was captured
  MempoolId pool;
  GraphHandle handle = nullptr;
  bool is_capturing = true;
  std::mutex mutex;  // guards `draws` during the capture
  std::vector<GraphDraws> draws;
};

}  // namespace detail

using detail::GraphDraws;
using detail::GraphState;

namespace {

std::atomic<int> num_captures{0};
std::mutex captures_mutex;
std::array<GraphState*, kMaxGpus> captures{};  // by device
std::array<std::vector<StreamHandle>, kMaxGpus> streams_of_graphs;
std::atomic<bool> has_graphs{false};

constexpr size_t kStateBytes = 2 * sizeof(uint64_t);

/// Lets streams use ordinary memory again.
void finish_capture(GraphState& state) {
  state.is_capturing = false;
  device_allocator(state.device).end_capture();
  {
    const std::lock_guard lock(captures_mutex);
    captures[size_t(state.device.index())] = nullptr;
  }
  --num_captures;
}

/// Remembers a stream whose fault slot the kernels of graphs use.
void note_stream(int device, StreamHandle stream) {
  const std::lock_guard lock(captures_mutex);
  auto& streams = streams_of_graphs[size_t(device)];
  if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
  has_graphs = true;
}

/// Describes the launch's numbers, and gives a generator that is new in the graph its memory.
void add_draw(GraphState& state, const Generator& generator, RandomSource& source) {
  const std::lock_guard lock(state.mutex);
  auto found = std::ranges::find(state.draws, generator, &GraphDraws::generator);
  if (found == state.draws.end()) {
    void* const memory = device_allocate(state.device, kStateBytes, state.stream);
    found = state.draws.insert(found, {generator, memory});
  }
  source.graph = static_cast<const uint64_t*>(
      require_cuda().kernel_address(state.device.index(), found->state));
  source.offset = found->offset;
  found->offset += kPhiloxOffsetStep;
}

/// Writes seed and offset to the device's memory in stream order, and advances the generator by the
/// graph's draws.
void prepare(const GraphDraws& draws, Device device, StreamHandle stream) {
  GeneratorImpl& generator = *draws.generator.impl();
  auto* const host = static_cast<uint64_t*>(pinned_allocate(kStateBytes));
  {
    const std::lock_guard user_lock(generator.mutex_);
    const std::lock_guard lock(generator.state_mutex);
    host[0] = generator.philox_seed;
    host[1] = generator.philox_offset;
    generator.philox_offset += draws.offset;
  }
  require_cuda().copy(draws.state, host, kStateBytes, CopyKind::kHostToDevice, device.index(),
                      stream);
  pinned_record(host, device, stream);
  pinned_free(host);
}

MempoolId new_pool() {
  static std::atomic<unsigned long long> number{0};
  return {0, ++number};
}

}  // namespace

MempoolId graph_pool_handle() { return new_pool(); }

bool is_current_stream_capturing() {
  return any_capture() && is_capturing(Device(DeviceType::CUDA, current_cuda_device()));
}

Graph::Graph() = default;

Graph::~Graph() {
  try {
    reset();
  } catch (...) {
    // The device has failed, and the graph is lost with it.
  }
}

void Graph::capture_begin(MempoolId pool, int capture_mode) {
  HEARTH_CHECK(!state_,
               "This CUDAGraph instance already owns a captured graph. To capture a new graph, "
               "create a new instance.");
  Backend& backend = require_cuda();
  const Stream current = current_stream();
  HEARTH_CHECK(!(current == default_stream()),
               "CUDA graphs must be captured on a non-default stream. (However, after capture, "
               "it's ok to replay them on the default stream.)");
  const int device = current.device_index();
  auto state = std::make_unique<GraphState>();
  state->device = current.device();
  state->stream = current.handle();
  state->pool = pool == MempoolId() ? new_pool() : pool;
  {
    const std::lock_guard lock(captures_mutex);
    HEARTH_CHECK_AS(NotImplementedError, !captures[size_t(device)],
                    "Another graph is being captured on ", current.device(),
                    "; a device captures one graph at a time");
    captures[size_t(device)] = state.get();
  }
  ++num_captures;
  device_allocator(state->device).begin_capture(state->pool);
  state_ = hearth::detail::OwnedPtr(state.release());
  try {
    backend.begin_capture(device, current.handle(), static_cast<CaptureMode>(capture_mode));
  } catch (...) {
    finish_capture(*state_);
    reset();
    throw;
  }
}

void Graph::capture_end() {
  HEARTH_CHECK(state_ && state_->is_capturing,
               "Called CUDAGraph::capture_end without a preceding capture_begin.");
  const int device = state_->device.index();
  HEARTH_CHECK(current_stream(device).handle() == state_->stream,
               "Capture must end on the same stream it began on.");
  CapturedGraph graph;
  try {
    graph = require_cuda().end_capture(device, state_->stream);
  } catch (...) {
    finish_capture(*state_);
    reset();
    throw;
  }
  finish_capture(*state_);
  note_stream(device, state_->stream);
  state_->handle = graph.handle;
  if (graph.num_nodes == 0)
    warn(
        "The CUDA Graph is empty. This usually means that the graph was attempted to be captured "
        "on wrong device or stream.");
}

const GraphState& Graph::captured(const char* function) const {
  HEARTH_CHECK(state_ && state_->handle, "Called CUDAGraph::", function,
               " without a preceding successful capture.");
  return *state_;
}

void Graph::replay() {
  const GraphState& state = captured("replay");
  HEARTH_CHECK(!is_capturing(state.device), kNotWhileCapturing);
  const StreamHandle stream = hearth::current_stream(state.device);
  for (const GraphDraws& draws : state.draws) prepare(draws, state.device, stream);
  require_cuda().launch(state.handle, state.device.index(), stream);
}

void Graph::reset() {
  if (!state_) return;
  const hearth::detail::OwnedPtr<GraphState> state = std::move(state_);
  Backend& backend = require_cuda();
  if (state->is_capturing) {
    try {
      state->handle = backend.end_capture(state->device.index(), state->stream).handle;
    } catch (const Error&) {
      // A call has failed in the capture, which is given up here.
    }
    finish_capture(*state);
  }
  if (state->handle) backend.destroy_graph(state->handle);
  DeviceAllocator& allocator = device_allocator(state->device);
  for (const GraphDraws& draws : state->draws) allocator.free(draws.state, state->stream);
  allocator.release_pool(state->pool);
}

MempoolId Graph::pool() const { return captured("pool()").pool; }

namespace {

/// Waits for the device, so that no earlier work is unfinished, and returns the stream.
Stream prepared(std::optional<Stream> stream) {
  synchronize();
  empty_cache();
  return stream ? *stream : Stream();
}

}  // namespace

GraphGuard::GraphGuard(Graph& graph, MempoolId pool, std::optional<Stream> stream, int capture_mode)
    : graph_(graph), stream_(prepared(stream)), num_exceptions_(std::uncaught_exceptions()) {
  graph_.capture_begin(pool, capture_mode);
}

GraphGuard::~GraphGuard() noexcept(false) {
  if (std::uncaught_exceptions() == num_exceptions_)
    graph_.capture_end();
  else
    graph_.reset();
}

}  // namespace hearth::cuda

namespace hearth {

bool any_capture() { return cuda::num_captures.load(std::memory_order_relaxed) > 0; }

bool is_capturing(Device device) {
  return any_capture() && require_cuda().is_capturing(cuda_index(device), current_stream(device));
}

std::vector<StreamHandle> graph_streams(int device) {
  if (!cuda::has_graphs.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock(cuda::captures_mutex);
  return cuda::streams_of_graphs[size_t(device)];
}

bool draw_in_capture(const Generator& generator, Device device, RandomSource& source) {
  if (!is_capturing(device)) return false;
  cuda::GraphState* state = nullptr;
  {
    const std::lock_guard lock(cuda::captures_mutex);
    state = cuda::captures[size_t(cuda_index(device))];
  }
  if (!state) return false;
  cuda::add_draw(*state, generator, source);
  return true;
}

}  // namespace hearth
