#pragma once

#include <cstdint>
#include <string>

#include "hearth/export.h"
#include "hearth/owned_ptr.h"

// Ranges for NVIDIA's profilers (Nsight Systems): the functions of Python's torch.cuda.nvtx, and
// emit_nvtx. All throw without a GPU, and on simulated ones (emit_nvtx only if it is enabled).
namespace hearth::cuda::nvtx {

/// Begins a range of this thread; returns the number of ranges around it.
HEARTH_API int range_push(const std::string& msg);
/// Ends the range that this thread began last; returns the number of ranges around it.
HEARTH_API int range_pop();
HEARTH_API void mark(const std::string& msg);  ///< marks this moment
/// Begins a range that any thread may end, and returns its number.
HEARTH_API uint64_t range_start(const std::string& msg);
HEARTH_API void range_end(uint64_t range_id);  ///< ends a range of range_start()

/// A range of this thread from construction to destruction.
class HEARTH_API range {
 public:
  explicit range(const std::string& msg) { range_push(msg); }
  ~range();
  range(const range&) = delete;
  range& operator=(const range&) = delete;
};

}  // namespace hearth::cuda::nvtx

namespace hearth::profiler {

/// During its lifetime, each operator, backward node, module and record_function of this thread is
/// a range for NVIDIA's profilers: "aten::mm, seq = 3". A backward node has the number of its
/// forward operator. With `record_shapes`, the names have the sizes of the inputs.
class HEARTH_API emit_nvtx {
 public:
  explicit emit_nvtx(bool enabled = true, bool record_shapes = false);
  ~emit_nvtx();
  emit_nvtx(const emit_nvtx&) = delete;
  emit_nvtx& operator=(const emit_nvtx&) = delete;

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;  // null unless enabled
};

}  // namespace hearth::profiler
