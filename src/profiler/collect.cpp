#include "profiler/collect.h"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/node_name.h"
#include "profiler/event_name.h"

namespace hearth::profiler {

namespace {

using Kind = FunctionEvent::Kind;

std::string name_of(const RawEvent& raw) {
  switch (raw.kind) {
    case RawEvent::Kind::kUser: return std::string(raw.name());
    case RawEvent::Kind::kModule: return "nn.Module: " + std::string(raw.name());
    case RawEvent::Kind::kBackward:
      return raw.has_text ? std::string(raw.name()) : node_name(*raw.op->info);
    case RawEvent::Kind::kOp: break;
  }
  return op_event_name(*raw.op->info, raw.is_inplace);
}

Kind kind_of(RawEvent::Kind kind) {
  switch (kind) {
    case RawEvent::Kind::kUser: return Kind::User;
    case RawEvent::Kind::kModule: return Kind::Module;
    case RawEvent::Kind::kBackward: return Kind::Backward;
    default: return Kind::Op;
  }
}

Shapes shapes_of(const EventDetails& details) {
  Shapes shapes;
  const int64_t* next = details.shapes;
  for (int64_t i = 0; i < details.num_shapes; ++i) {
    const int64_t dims = *next++;
    shapes.emplace_back(next, next + dims);
    next += dims;
  }
  return shapes;
}

class Collector {
 public:
  explicit Collector(Session& session) : session_(session), scale_(session.begin, session.end) {}

  std::vector<FunctionEvent> run() {
    const std::lock_guard lock(session_.mutex);
    for (const auto& buffer : session_.buffers) add_thread(*buffer);
    link_backward();
    for (const DeviceActivity& activity : session_.activities) add_activity(activity);
    return std::move(events_);
  }

 private:
  void add_thread(const Buffer& buffer) {
    std::vector<int64_t> open;  // indices of the open events, by depth
    auto& indices = indices_[buffer.id()];
    buffer.for_each([&](const RawEvent& raw) {
      indices.push_back(FunctionEvent::kNone);
      if (raw.start < session_.kept_from || raw.start > session_.end.ticks) return;
      indices.back() = static_cast<int64_t>(events_.size());
      open.resize(raw.depth, FunctionEvent::kNone);
      const int64_t parent = open.empty() ? FunctionEvent::kNone : open.back();
      open.push_back(indices.back());
      add(raw, buffer.thread(), parent);
    });
  }

  void add(const RawEvent& raw, int64_t thread, int64_t parent) {
    const uint64_t end = raw.get_end();
    FunctionEvent event;
    event.name = name_of(raw);
    event.kind = kind_of(raw.kind);
    event.thread = thread;
    event.parent = parent;
    event.start_ns = scale_.ns(raw.start);
    event.duration_ns =
        scale_.ns(end && end < session_.end.ticks ? end : session_.end.ticks) - event.start_ns;
    event.self_ns = event.duration_ns;
    if (raw.details) add_details(event, *raw.details, end != 0);
    if (parent != FunctionEvent::kNone) {
      FunctionEvent& outer = events_[static_cast<size_t>(parent)];
      const int64_t outer_end = outer.start_ns + outer.duration_ns;
      outer.self_ns -=
          std::max<int64_t>(0, std::min(event.duration_ns, outer_end - event.start_ns));
      outer.self_cpu_memory -= event.cpu_memory;
      outer.self_device_memory -= event.device_memory;
    }
    const auto index = static_cast<int64_t>(events_.size());
    if (raw.kind == RawEvent::Kind::kOp)
      forward_[{raw.sequence_nr, raw.op}][thread] = index;  // the last call with this number
    if (raw.kind == RawEvent::Kind::kBackward && !raw.has_text)
      backward_.push_back({index, raw.sequence_nr, raw.op});
    events_.push_back(std::move(event));
  }

  void add_details(FunctionEvent& event, const EventDetails& details, bool has_ended) const {
    if (session_.options.shapes) event.input_shapes = shapes_of(details);
    if (!has_ended) return;  // its thread may still be writing the other details
    event.flops = details.flops;
    if (!session_.options.memory) return;
    event.cpu_memory = event.self_cpu_memory = details.cpu_bytes;
    event.device_memory = event.self_device_memory = details.device_bytes;
  }

  /// Finds the forward call of each backward node by its sequence number. Each thread has its own
  /// counter: if calls of several threads have the same number, the forward call is unknown. Of a
  /// thread's calls with the same number, the last one created the node.
  void link_backward() {
    for (const auto& [index, sequence_nr, op] : backward_) {
      FunctionEvent& node = events_[static_cast<size_t>(index)];
      const auto calls = forward_.find({sequence_nr, op});
      if (calls == forward_.end() || calls->second.size() > 1) continue;
      node.forward = calls->second.begin()->second;
      node.sequence_nr = static_cast<int64_t>(sequence_nr);
      events_[static_cast<size_t>(node.forward)].sequence_nr = node.sequence_nr;
    }
  }

  void add_activity(const DeviceActivity& activity) {
    const auto ns = [](DeviceActivity::Clock::time_point time) {
      return std::chrono::nanoseconds(time.time_since_epoch()).count();
    };
    if (ns(activity.start) < scale_.ns(session_.kept_from)) return;
    FunctionEvent event;
    event.name = activity.name;
    event.kind = activity.kind == DeviceActivity::Kind::kKernel ? Kind::Kernel
                 : activity.kind == DeviceActivity::Kind::kCopy ? Kind::Copy
                                                                : Kind::Fill;
    event.device = activity.device;
    event.thread = stream_number(activity);
    event.start_ns = ns(activity.start);
    event.duration_ns = event.self_ns = ns(activity.end) - event.start_ns;
    event.launched_by = index_of(activity.event);
    event.device_ns = event.duration_ns;
    if (event.launched_by != FunctionEvent::kNone)
      events_[static_cast<size_t>(event.launched_by)].device_ns += event.duration_ns;
    events_.push_back(std::move(event));
  }

  /// Numbers the streams of a device in the order of their first activities.
  int64_t stream_number(const DeviceActivity& activity) {
    auto& streams = streams_[activity.device];
    return streams.emplace(activity.stream, static_cast<int64_t>(streams.size())).first->second;
  }

  int64_t index_of(uint64_t event_id) const {
    if (event_id == 0) return FunctionEvent::kNone;
    const auto found = indices_.find(Buffer::buffer_id_of(event_id));
    const uint64_t index = Buffer::index_of(event_id);
    if (found == indices_.end() || index >= found->second.size()) return FunctionEvent::kNone;
    return found->second[index];
  }

  struct Node {
    int64_t index;
    uint64_t sequence_nr;
    const OpRecord* op;
  };
  Session& session_;
  TickScale scale_;
  std::vector<FunctionEvent> events_;
  std::unordered_map<uint64_t, std::vector<int64_t>> indices_;  // by buffer and position in it
  // By sequence number and op: the index of the last call, by thread.
  std::map<std::pair<uint64_t, const OpRecord*>, std::map<int64_t, int64_t>> forward_;
  std::vector<Node> backward_;
  std::map<int, std::map<const void*, int64_t>> streams_;  // their numbers, by device
};

}  // namespace

std::vector<FunctionEvent> collect(Session& session) { return Collector(session).run(); }

}  // namespace hearth::profiler
