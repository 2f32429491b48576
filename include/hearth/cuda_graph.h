#pragma once

#include <optional>
#include <utility>

#include "hearth/cuda.h"

// Graphs of GPU work: launches that are recorded once and then run again at little cost for the
// host (docs/guide/gpus.md).
namespace hearth::cuda {

/// The name of a pool of memory for graphs.
using MempoolId = std::pair<unsigned long long, unsigned long long>;
/// A new name, for graphs that share their memory: such graphs must not run at the same time, and a
/// later one must not be captured before the results of an earlier one have been used.
HEARTH_API MempoolId graph_pool_handle();
/// Whether the work of the current stream of the current device is being captured.
HEARTH_API bool is_current_stream_capturing();

namespace detail {
struct GraphState;
}

/// Work of a GPU that was captured once and can be replayed. It uses the same memory in each
/// replay: write new inputs into the tensors that it read, and read its results from the tensors
/// that it wrote. Its temporary memory is in a pool that no other tensors use until reset().
class HEARTH_API Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// From now on, the work of the current stream, which must not be the default stream, is recorded
  /// instead of run. {0, 0}: a new pool. The mode is a cudaStreamCaptureMode: calls that a capture
  /// forbids are errors in all threads (0), in this thread (1) or in none (2).
  void capture_begin(MempoolId pool = {0, 0}, int capture_mode = 0);
  /// Ends the recording, on the stream on which it began. If a call failed in between, there is no
  /// graph, and this throws.
  void capture_end();
  /// Runs the work on the current stream. Random operators draw new numbers, those of an ordinary
  /// run.
  void replay();
  void reset();            ///< releases the graph and its memory
  MempoolId pool() const;  ///< the pool of its memory, to be shared with other graphs

 private:
  const detail::GraphState& captured(const char* function) const;
  hearth::detail::OwnedPtr<detail::GraphState> state_;
};

/// Captures the work during its lifetime, as Python's `with torch.cuda.graph(g):` does: it waits
/// for the device, empties the memory cache, and makes a stream of its own the current one. The
/// destructor throws what capture_end() throws, except after another exception.
class HEARTH_API GraphGuard {
 public:
  explicit GraphGuard(Graph& graph, MempoolId pool = {0, 0},
                      std::optional<Stream> stream = std::nullopt, int capture_mode = 0);
  ~GraphGuard() noexcept(false);
  GraphGuard(const GraphGuard&) = delete;
  GraphGuard& operator=(const GraphGuard&) = delete;

 private:
  Graph& graph_;
  StreamGuard stream_;
  int num_exceptions_;
};

}  // namespace hearth::cuda
