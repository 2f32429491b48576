#include "hearth/profiler/nvtx.h"

#include <algorithm>

#include "core/backends.h"
#include "core/node_name.h"
#include "core/sequence_nr.h"
#include "profiler/event_name.h"
#include "profiler/nvtx_observer.h"
#include "profiler/shapes_text.h"

namespace hearth {

namespace {

const RangeMarker& marker() {
  Backend* const gpus = cuda_backend();
  const RangeMarker* const found = gpus ? gpus->range_marker() : nullptr;
  HEARTH_CHECK(found, "NVTX functions not installed. Are you sure you have a CUDA build?",
               gpus ? std::string() : " " + why_no_cuda());
  return *found;
}

}  // namespace

namespace cuda::nvtx {

int range_push(const std::string& msg) { return marker().push(msg.c_str()); }
int range_pop() { return marker().pop(); }
void mark(const std::string& msg) { marker().mark(msg.c_str()); }
uint64_t range_start(const std::string& msg) { return marker().start(msg.c_str()); }
void range_end(uint64_t range_id) { marker().end(range_id); }
range::~range() { range_pop(); }

}  // namespace cuda::nvtx

namespace profiler {

NvtxObserver::~NvtxObserver() {
  for (size_t i = 0; i < open_.size(); ++i) marker_.pop();
}

void NvtxObserver::begin(const ObservedCall& call) {
  std::string name =
      detail::str(op_event_name(*call.op.info, is_inplace(call)), ", seq = ", next_sequence_nr);
  if (record_shapes_) {
    Shapes shapes;
    for (int i = 0; i < call.inputs.count; ++i)
      shapes.push_back(call.inputs[i].defined() ? call.inputs[i].sizes().vec()
                                                : std::vector<int64_t>());
    name += ", sizes = " + shapes_text(shapes);
  }
  push(&call, name);
}

void NvtxObserver::begin_range(const ObservedRange& range) {
  std::string name = range.op ? node_name(*range.op->info) : std::string(range.name);
  if (range.kind == ObservedRange::Kind::kModule) name = "nn.Module: " + name;
  if (range.op) name += detail::str(", seq = ", range.sequence_nr);
  push(range.key, name);
}

void NvtxObserver::push(const void* key, const std::string& name) {
  marker_.push(name.c_str());
  open_.push_back(key);
}

void NvtxObserver::pop(const void* key) {
  const auto found = std::find(open_.rbegin(), open_.rend(), key);
  if (found == open_.rend()) return;
  for (auto count = found - open_.rbegin() + 1; count > 0; --count) {
    marker_.pop();
    open_.pop_back();
  }
}

struct emit_nvtx::State {
  explicit State(bool record_shapes) : observer(marker(), record_shapes) { observer.install(); }
  ~State() { observer.remove(); }
  NvtxObserver observer;
};

emit_nvtx::emit_nvtx(bool enabled, bool record_shapes)
    : state_(enabled ? new State(record_shapes) : nullptr) {}
emit_nvtx::~emit_nvtx() = default;

}  // namespace profiler
}  // namespace hearth
