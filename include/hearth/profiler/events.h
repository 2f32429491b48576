#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hearth/export.h"

namespace hearth::profiler {

using Shapes = std::vector<std::vector<int64_t>>;

/// A period of a thread's or a device stream's work in a profile.
struct FunctionEvent {
  /// The kind of work.
  enum class Kind : uint8_t {
    Op,        ///< an operator, "aten::mm"
    Backward,  ///< a node of the backward pass, "MmBackward0"
    User,      ///< a record_function
    Module,    ///< a module's forward, "nn.Module: features.0"
    Kernel,    ///< a kernel on a device
    Copy,      ///< a copy from or to a device
    Fill       ///< a memset on a device
  };
  static constexpr int64_t kNone = -1;

  std::string name;
  Kind kind = Kind::Op;
  int64_t thread = 0;           ///< the system's thread id; for device events, the stream's number
  int64_t device = kNone;       ///< the GPU of a device event
  int64_t start_ns = 0;         ///< by a clock whose zero is arbitrary
  int64_t duration_ns = 0;      ///< including the events inside
  int64_t self_ns = 0;          ///< without the events inside
  int64_t parent = kNone;       ///< the index of the enclosing event of this thread
  int64_t forward = kNone;      ///< the index of a backward node's forward op
  int64_t launched_by = kNone;  ///< the index of the event that launched a device event
  int64_t sequence_nr = kNone;  ///< of a backward node and of its forward op
  int64_t device_ns = 0;        ///< sum over the device events that this event itself launched
  Shapes input_shapes;          ///< with the option record_shapes; empty for absent and 0-d inputs
  int64_t flops = 0;            ///< with the option with_flops
  int64_t cpu_memory = 0;       ///< with profile_memory: bytes allocated minus bytes freed
  int64_t device_memory = 0;    ///< the same on GPUs
  int64_t self_cpu_memory = 0;  ///< without the events inside
  int64_t self_device_memory = 0;

  bool is_on_device() const { return kind >= Kind::Kernel; }
};

/// The sums of the events with one name; times in microseconds, as in Python.
struct HEARTH_API FunctionEventAvg {
  std::string key;
  int64_t count = 0;
  double cpu_time_total = 0, self_cpu_time_total = 0;
  double device_time_total = 0, self_device_time_total = 0;
  int64_t cpu_memory_usage = 0, self_cpu_memory_usage = 0;
  int64_t device_memory_usage = 0, self_device_memory_usage = 0;
  int64_t flops = 0;
  Shapes input_shapes;     ///< if the events are grouped by shape
  bool is_device = false;  ///< whether these are device events

  double cpu_time() const;     ///< the average
  double device_time() const;  ///< the average
};

/// The rows of a table of events.
class HEARTH_API EventList {
 public:
  EventList(std::vector<FunctionEventAvg> rows, bool with_memory)
      : rows_(std::move(rows)), with_memory_(with_memory) {}
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  size_t size() const { return rows_.size(); }
  /// The row with a name; throws if there is none.
  const FunctionEventAvg& at(const std::string& key) const;
  double self_cpu_time_total() const;  ///< of all rows, in microseconds
  /// The text that Python prints. `sort_by`: one of Python's names ("self_cpu_time_total",
  /// "cuda_time_total", "count"); empty: the order of the first calls.
  std::string table(const std::string& sort_by = "", int64_t row_limit = 100) const;

 private:
  std::vector<FunctionEventAvg> rows_;
  bool with_memory_;
};

}  // namespace hearth::profiler
