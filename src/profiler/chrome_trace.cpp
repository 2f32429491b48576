#include "profiler/chrome_trace.h"

#include <unistd.h>

#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

#include "core/backends.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "profiler/shapes_text.h"
#include "profiler/string_json.h"

namespace hearth::profiler {

namespace {

using Kind = FunctionEvent::Kind;

/// Nanoseconds as microseconds with three decimals.
std::string us_text(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return text;
}

const char* category_of(Kind kind) {
  switch (kind) {
    case Kind::Kernel: return "kernel";
    case Kind::Copy: return "gpu_memcpy";
    case Kind::Fill: return "gpu_memset";
    case Kind::User:
    case Kind::Module: return "user_annotation";
    default: return "cpu_op";
  }
}

class Writer {
 public:
  explicit Writer(const std::vector<FunctionEvent>& events) : events_(events) {}

  std::string text() {
    out_ = "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [" + devices() +
           "],\n\"traceEvents\": [\n";
    for (size_t i = 0; i < events_.size(); ++i) add_event(i);
    for (size_t i = 0; i < events_.size(); ++i) add_flows(i);
    add_names();
    return out_ + "\n],\n\"traceName\": \"hearth\", \"displayTimeUnit\": \"ms\"\n}\n";
  }

 private:
  static std::string devices() {
    std::string text;
    Backend* const gpus = cuda_backend_in_use();
    for (int i = 0; gpus && i < gpus->device_count(); ++i) {
      const cuda::DeviceProperties properties = gpus->properties(i);
      text += hearth::detail::str(i ? ", " : "", "{\"id\": ", i,
                                  ", \"name\": ", json_string(properties.name),
                                  ", \"totalGlobalMem\": ", properties.total_memory, "}");
    }
    return text;
  }

  void add(const std::string& record) {
    if (!is_first_) out_ += ",\n";
    is_first_ = false;
    out_ += "{" + record + "}";
  }

  /// "pid" is the process, or the GPU; "tid" the thread, or the stream.
  std::string place(const FunctionEvent& event) const {
    return hearth::detail::str("\"pid\": ", event.is_on_device() ? event.device : process_,
                               ", \"tid\": ", event.thread);
  }

  void add_event(size_t i) {
    const FunctionEvent& event = events_[i];
    add(hearth::detail::str("\"ph\": \"X\", \"cat\": \"", category_of(event.kind),
                            "\", \"name\": ", json_string(event.name), ", ", place(event),
                            ", \"ts\": ", us_text(event.start_ns), ", \"dur\": ",
                            us_text(event.duration_ns), ", \"args\": {", arguments(i), "}"));
  }

  std::string arguments(size_t i) const {
    const FunctionEvent& event = events_[i];
    const int64_t id = event.is_on_device() ? event.launched_by : static_cast<int64_t>(i);
    std::string text = hearth::detail::str("\"External id\": ", id + 1);
    if (event.is_on_device())
      text += hearth::detail::str(", \"device\": ", event.device, ", \"stream\": ", event.thread,
                                  ", \"correlation\": ", i + 1);
    if (event.sequence_nr != FunctionEvent::kNone)
      text += hearth::detail::str(", \"Sequence number\": ", event.sequence_nr);
    if (event.forward != FunctionEvent::kNone)
      text += hearth::detail::str(", \"Fwd thread id\": ",
                                  events_[static_cast<size_t>(event.forward)].thread);
    if (!event.input_shapes.empty()) text += ", \"Input Dims\": " + shapes_text(event.input_shapes);
    if (event.flops > 0) text += hearth::detail::str(", \"flops\": ", event.flops);
    if (event.cpu_memory != 0) text += hearth::detail::str(", \"CPU bytes\": ", event.cpu_memory);
    if (event.device_memory != 0)
      text += hearth::detail::str(", \"CUDA bytes\": ", event.device_memory);
    return text;
  }

  /// Arrows from a forward op to its backward node, and from an op to the work that it launches.
  void add_flows(size_t i) {
    const FunctionEvent& event = events_[i];
    if (event.forward != FunctionEvent::kNone) add_flow(event.forward, event, "fwdbwd");
    if (event.launched_by != FunctionEvent::kNone) add_flow(event.launched_by, event, "ac2g");
  }
  void add_flow(int64_t from, const FunctionEvent& to, const char* name) {
    const FunctionEvent& source = events_[static_cast<size_t>(from)];
    const std::string label = hearth::detail::str("\"id\": ", ++flows_, ", \"cat\": \"", name,
                                                  "\", \"name\": \"", name, "\", ");
    add("\"ph\": \"s\", " + label + place(source) + ", \"ts\": " + us_text(source.start_ns));
    add("\"ph\": \"f\", \"bp\": \"e\", " + label + place(to) + ", \"ts\": " + us_text(to.start_ns));
  }

  void add_names() {
    std::set<std::pair<int64_t, int64_t>> places;  // device, thread
    for (const FunctionEvent& event : events_) places.emplace(event.device, event.thread);
    int64_t named = -2;  // neither a GPU nor kNone, the host
    for (const auto& [device, thread] : places) {
      const bool is_host = device == FunctionEvent::kNone;
      const int64_t process = is_host ? process_ : device;
      if (std::exchange(named, device) != device)
        add_name("process_name", process, 0,
                 is_host ? std::string("host") : hearth::detail::str("GPU ", device));
      add_name("thread_name", process, thread,
               hearth::detail::str(is_host ? "thread " : "stream ", thread));
    }
  }
  void add_name(const char* kind, int64_t process, int64_t thread, const std::string& name) {
    add(hearth::detail::str("\"ph\": \"M\", \"name\": \"", kind, "\", \"pid\": ", process,
                            ", \"tid\": ", thread,
                            ", \"ts\": 0, \"args\": {\"name\": ", json_string(name), "}"));
  }

  const std::vector<FunctionEvent>& events_;
  const int64_t process_ = ::getpid();
  std::string out_;
  bool is_first_ = true;
  int64_t flows_ = 0;
};

}  // namespace

std::string chrome_trace(const std::vector<FunctionEvent>& events) { return Writer(events).text(); }

}  // namespace hearth::profiler
