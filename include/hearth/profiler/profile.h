#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hearth/arg.h"
#include "hearth/owned_ptr.h"
#include "hearth/profiler/events.h"

namespace hearth::profiler {

/// A kind of work that a profile records.
enum class ProfilerActivity : uint8_t {
  CPU,  ///< operators and named ranges
  CUDA  ///< kernels and copies of GPUs, also of simulated ones
};

/// The activity of a profile during a step.
enum class ProfilerAction : uint8_t {
  None,          ///< nothing
  Warmup,        ///< records and drops the result
  Record,        ///< records
  RecordAndSave  ///< records; on_trace_ready is called at the end of the step
};

/// The cycle of a schedule, in steps; with Python's names and defaults.
struct HEARTH_API ScheduleOptions {
  HEARTH_ARG(int64_t, wait) = 0;              ///< steps with ProfilerAction::None
  HEARTH_ARG(int64_t, warmup) = 0;            ///< then steps with Warmup
  HEARTH_ARG(int64_t, active) = 1;            ///< then steps with Record, the last RecordAndSave
  HEARTH_ARG(int64_t, repeat) = 0;            ///< the number of cycles; 0: without end
  HEARTH_ARG(int64_t, skip_first) = 0;        ///< steps before the first cycle
  HEARTH_ARG(bool, skip_first_wait) = false;  ///< whether the first cycle has no wait
};

using Schedule = std::function<ProfilerAction(int64_t step)>;
/// The function from steps to actions that these options describe.
HEARTH_API Schedule schedule(const ScheduleOptions& options);

class profile;

/// Options of profile, with Python's names and defaults.
struct HEARTH_API ProfileOptions {
  HEARTH_ARG(std::vector<ProfilerActivity>, activities);  ///< empty: all that the machine has
  HEARTH_ARG(Schedule, schedule);                         ///< empty: records until the end
  /// Called when a recording has ended, for example to export it.
  HEARTH_ARG(std::function<void(profile&)>, on_trace_ready);
  HEARTH_ARG(bool, record_shapes) = false;   ///< the sizes of inputs
  HEARTH_ARG(bool, profile_memory) = false;  ///< bytes that tensors allocate and free
  /// Floating-point operations of matrix products, convolutions, attention, RNNs, add and mul.
  HEARTH_ARG(bool, with_flops) = false;
  HEARTH_ARG(bool, with_modules) = false;  ///< the forward passes of modules
};

/// Records operators, backward nodes, named ranges and the work of GPUs during its lifetime, on
/// this thread and on threads that take over its modes (workers of data loaders, DataParallel).
/// There is one profile at a time in a process.
class HEARTH_API profile {
 public:
  explicit profile(ProfileOptions options = {});  ///< starts
  ~profile();                                     ///< stops
  profile(const profile&) = delete;
  profile& operator=(const profile&) = delete;

  void start();                           ///< starts again after stop(); does nothing while it runs
  void stop();                            ///< ends the recording; does nothing after the end
  void step();                            ///< marks the end of a training step, for the schedule
  int64_t step_num() const;               ///< the steps so far
  ProfilerAction current_action() const;  ///< the action of the current step

  /// The events of the last recording: for each thread in the order of their starts, then those of
  /// the GPUs.
  const std::vector<FunctionEvent>& events() const;
  /// The sums by name, or by name and shapes of the inputs.
  EventList key_averages(bool group_by_input_shape = false) const;
  /// The sums by module, with its backward pass: self times are without its submodules, totals with
  /// them. count is the number of calls. Needs with_modules.
  EventList module_averages() const;
  /// Writes the events as JSON, for ui.perfetto.dev, chrome://tracing and TensorBoard.
  void export_chrome_trace(const std::string& path) const;

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// An on_trace_ready that writes a file for TensorBoard's profile plugin into the folder. The
/// worker's name is by default that of the machine and the process.
HEARTH_API std::function<void(profile&)> tensorboard_trace_handler(const std::string& dir_name,
                                                                   std::string worker_name = "");

}  // namespace hearth::profiler
