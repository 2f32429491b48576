#pragma once

#include <memory>

#include "kernels/cpu/onednn_engine.h"
#include "seam/conv.h"

namespace hearth::cpu::onednn {

/// A convolution's primitive and the layouts of its operands. A weight's gradient is computed in
/// float32.
struct ConvPlan {
  dnnl::primitive primitive;
  dnnl::memory::desc in, weight, out, scratchpad;
};

/// A tensor's own layout as a oneDNN descriptor; a grouped weight's descriptor starts with a
/// dimension of groups.
dnnl::memory::desc plain_desc(const View& view);
dnnl::memory::desc weight_desc(const View& view, int64_t groups);

/// Returns the process's cached plan for this convolution, or null if oneDNN has no fast
/// implementation.
std::shared_ptr<const ConvPlan> plan_for(const ConvParams& params);

}  // namespace hearth::cpu::onednn
