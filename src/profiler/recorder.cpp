#include "profiler/recorder.h"

#include <algorithm>

#include "core/multiply_adds.h"
#include "core/sequence_nr.h"
#include "profiler/event_name.h"

namespace hearth::profiler {

namespace {

constexpr size_t kUsualDepth = 64;

thread_local ThreadRecorder this_recorder;

}  // namespace

ThreadRecorder& ThreadRecorder::of_this_thread() { return this_recorder; }

uint64_t ThreadRecorder::innermost_event() {
  const ThreadRecorder& recorder = this_recorder;
  return recorder.is_recording() && !recorder.open_.empty() ? recorder.open_.back().id : 0;
}

void ThreadRecorder::join(Session& session, uint64_t session_number) {
  if (session_ == session_number) return;
  session_ = session_number;
  options_ = session.options;
  open_.clear();
  open_.reserve(kUsualDepth);
  const std::lock_guard lock(session.mutex);
  buffer_ = std::make_shared<Buffer>(session.buffers.size() + 1);
  session.buffers.push_back(buffer_);
}

RawEvent& ThreadRecorder::open(const void* key, RawEvent::Kind kind) {
  RawEvent& event = buffer_->append();
  event.end = 0;
  event.details = nullptr;
  event.depth = static_cast<uint16_t>(std::min<size_t>(open_.size(), UINT16_MAX));
  event.kind = kind;
  event.has_text = event.is_inplace = false;
  open_.push_back({key, &event, buffer_->last_event_id(), false});
  if (options_.has_details()) [[unlikely]] {
    event.details = new (buffer_->take(sizeof(EventDetails))) EventDetails;
    event.details->cpu_bytes = -hearth::detail::thread_net_bytes.cpu;
    event.details->device_bytes = -hearth::detail::thread_net_bytes.device;
  }
  return event;
}

void ThreadRecorder::begin(const ObservedCall& call) {
  if (!is_recording()) return;
  RawEvent& event = open(&call, RawEvent::Kind::kOp);
  event.op = &call.op;
  event.sequence_nr = next_sequence_nr;
  event.is_inplace = is_inplace(call);
  if (options_.shapes) [[unlikely]]
    add_shapes(call, *event.details);
  event.start = ticks();
  buffer_->publish();
}

/// Copies the sizes of the call's inputs.
void ThreadRecorder::add_shapes(const ObservedCall& call, EventDetails& details) {
  size_t num_values = 0;
  const auto sizes_of = [&](int i) {
    return call.inputs[i].defined() ? call.inputs[i].sizes() : IntArrayRef();
  };
  for (int i = 0; i < call.inputs.count; ++i) num_values += 1 + sizes_of(i).size();
  details.num_shapes = call.inputs.count;
  details.shapes = static_cast<int64_t*>(buffer_->take(num_values * sizeof(int64_t)));
  int64_t* to = details.shapes;
  for (int i = 0; i < call.inputs.count; ++i) {
    *to++ = static_cast<int64_t>(sizes_of(i).size());
    for (const int64_t size : sizes_of(i)) *to++ = size;
  }
}

void ThreadRecorder::begin_range(const ObservedRange& range) {
  if (!is_recording()) return;
  if (range.kind == ObservedRange::Kind::kModule && !options_.modules) return;
  using Range = ObservedRange::Kind;
  RawEvent& event = open(range.key, range.kind == Range::kModule     ? RawEvent::Kind::kModule
                                    : range.kind == Range::kBackward ? RawEvent::Kind::kBackward
                                                                     : RawEvent::Kind::kUser);
  event.sequence_nr = range.sequence_nr;
  if (range.op) {
    event.op = range.op;
  } else {
    event.has_text = true;
    const std::string_view name = buffer_->copy(range.name);
    event.text = name.data();
    event.text_size = static_cast<uint32_t>(name.size());
  }
  event.start = ticks();
  buffer_->publish();
}

void ThreadRecorder::end(const ObservedCall& call) {
  if (!is_recording()) return;
  if (options_.flops) [[unlikely]]
    count_flops(call);
  close(&call);
}

void ThreadRecorder::end_range(const void* key) {
  if (is_recording()) close(key);
}

/// Counts the floating-point operations of a call, unless those of ops inside it have been counted:
/// the work of a composed op is counted once.
void ThreadRecorder::count_flops(const ObservedCall& call) {
  if (open_.empty() || open_.back().key != &call) return;
  bool has_counted = open_.back().has_counted;
  if (!has_counted) {
    const int64_t count = flops(call);
    open_.back().event->details->flops = count;
    has_counted = count > 0;
  }
  if (has_counted && open_.size() > 1) open_[open_.size() - 2].has_counted = true;
}

/// Ends the event, and the events inside it whose ends were not seen. User ranges inside it go on:
/// they need not be nested.
void ThreadRecorder::close(const void* key) {
  const uint64_t now = ticks();
  size_t depth = open_.size();
  while (depth > 0 && open_[depth - 1].key != key) --depth;
  if (depth == 0) return;  // the event began before the session
  for (size_t i = depth - 1; i < open_.size(); ++i) {
    Open& each = open_[i];
    if (!each.key || (i >= depth && each.event->kind == RawEvent::Kind::kUser)) continue;
    if (EventDetails* const details = each.event->details) [[unlikely]] {
      details->cpu_bytes += hearth::detail::thread_net_bytes.cpu;
      details->device_bytes += hearth::detail::thread_net_bytes.device;
    }
    each.event->set_end(now);
    each.key = nullptr;  // the entry stays: an event's depth is its index in the list
  }
  while (!open_.empty() && !open_.back().key) open_.pop_back();
}

}  // namespace hearth::profiler
