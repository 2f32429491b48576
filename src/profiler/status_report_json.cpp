#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/backends.h"
#include "core/step_clock.h"
#include "hearth/cuda.h"
#include "hearth/profiler/status_report.h"

namespace hearth::profiler {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kWindowNs = 5'000'000'000;  // over which rates and shares are averaged
constexpr double kNsPerSecond = 1e9;
/// A rank whose last step is older than this many mean steps, and than kWindowNs, makes no steps
/// now.
constexpr double kStalledSteps = 4;

/// The names of StepWait's values.
constexpr const char* kWaits[kStepWaits] = {"data", "copies", "communication", "logging"};

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// The memory of this process that is not swapped out, in bytes.
int64_t resident_bytes() {
  int64_t total_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

/// The bytes of this process's tensors on GPUs; does not load the CUDA backend.
int64_t gpu_bytes() {
  if (!cuda_backend_in_use()) return 0;
  size_t bytes = 0;
  for (int device = 0; device < cuda::device_count(); ++device)
    bytes += cuda::memory_allocated(device);
  return static_cast<int64_t>(bytes);
}

double unix_seconds() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count();
}

/// Numbers that people read need no more digits.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double seconds_from(int64_t start_ns, int64_t end_ns) {
  return static_cast<double>(end_ns - start_ns) / kNsPerSecond;
}

}  // namespace

void report_step(int64_t step, int64_t samples) {
  constexpr auto kOrder = std::memory_order_relaxed;
  WatchedCounts& counts = watched_counts;
  const bool is_on = counts.is_on.load(kOrder);
  const bool trains = !is_on || counts.take(WatchedCounts::kReports);
  // A thread without an optimizer may report for the one that trains; a second training may not.
  if (!trains && (counts.trainer_reports.load(kOrder) || step_counts.steps > 0)) return;
  counts.reported_samples.fetch_add(samples, kOrder);
  counts.reported_step.store(step, kOrder);
  if (!is_on || !trains) return;
  counts.trainer_reports.store(true, kOrder);
  counts.copy(step_counts);
}

/// The counts of recent steps, and the rates that follow from them.
struct detail::StatusReporter::Recent {
  /// The counts at the end of a step.
  struct Snapshot {
    const StepCounts* trainer;
    int64_t step, samples, end_ns;
    bool is_reported;  // the step is that of report_step()
    int64_t wait_ns[kStepWaits];
  };
  static Snapshot snapshot_now();
  void add(const Snapshot& snapshot);
  void add_rates(Json& json, int64_t now_ns) const;

  std::mutex mutex;
  std::deque<Snapshot> snapshots;  // of different steps, the newest one last
  int64_t num_reports = 0;
};

detail::StatusReporter::StatusReporter() : recent_(std::make_unique<Recent>()) {
  watched_counts.begin(WatchedCounts::kAssumed);
  watched_counts.is_on = true;
}

detail::StatusReporter::~StatusReporter() = default;

detail::StatusReporter::Recent::Snapshot detail::StatusReporter::Recent::snapshot_now() {
  constexpr auto kOrder = std::memory_order_relaxed;
  Snapshot snapshot{};
  snapshot.trainer = watched_counts.trainer.load(kOrder);
  snapshot.step = watched_counts.reported_step.load(kOrder);
  snapshot.is_reported = snapshot.step != WatchedCounts::kNoStep;
  if (!snapshot.is_reported) snapshot.step = watched_counts.steps.load(kOrder);
  snapshot.samples = watched_counts.reported_samples.load(kOrder);
  snapshot.end_ns = watched_counts.step_end_ns.load(kOrder);
  for (int i = 0; i < kStepWaits; ++i) snapshot.wait_ns[i] = watched_counts.wait_ns[i].load(kOrder);
  return snapshot;
}

void detail::StatusReporter::Recent::add(const Snapshot& snapshot) {
  if (snapshot.end_ns == 0) return;  // no step has ended
  // Another run of the same process begins with step 1; reported steps are numbered differently.
  if (!snapshots.empty() && (snapshot.step < snapshots.back().step ||
                             snapshot.is_reported != snapshots.back().is_reported ||
                             snapshot.trainer != snapshots.back().trainer))
    snapshots.clear();
  // The time of a step can be that of the former one if it is just being written.
  if (!snapshots.empty() &&
      (snapshot.step == snapshots.back().step || snapshot.end_ns <= snapshots.back().end_ns))
    return;
  snapshots.push_back(snapshot);
  while (snapshots.size() > 2 && snapshot.end_ns - snapshots[1].end_ns >= kWindowNs)
    snapshots.pop_front();
}

void detail::StatusReporter::Recent::add_rates(Json& json, int64_t now_ns) const {
  if (snapshots.size() < 2) return;
  const Snapshot &first = snapshots.front(), &last = snapshots.back();
  const double seconds = seconds_from(first.end_ns, last.end_ns);
  const auto steps = static_cast<double>(last.step - first.step);
  const double age = seconds_from(last.end_ns, now_ns);
  const bool is_stalled = age > kWindowNs / kNsPerSecond && age > kStalledSteps * seconds / steps;
  const auto rate = [&](double count) { return is_stalled ? 0 : rounded(count / seconds); };
  json["steps_per_second"] = rate(steps);
  if (last.is_reported)
    json["samples_per_second"] = rate(static_cast<double>(last.samples - first.samples));
  if (is_stalled) return;
  double rest = 1;
  for (int i = 0; i < kStepWaits; ++i) {
    const double share =
        std::clamp(seconds_from(first.wait_ns[i], last.wait_ns[i]) / seconds, 0.0, rest);
    json["shares"][kWaits[i]] = rounded(share);
    rest -= share;
  }
  json["shares"]["compute"] = rounded(rest);
}

std::string detail::StatusReporter::report(int rank) {
  const std::lock_guard lock(recent_->mutex);
  const Recent::Snapshot now = Recent::snapshot_now();
  recent_->add(now);
  const int64_t now_ns = steady_now_ns();
  Json json{{"rank", rank},
            {"host", host_name()},
            {"process", getpid()},
            {"report", ++recent_->num_reports},
            {"time", unix_seconds()},
            {"step", now.step},
            {"step_age", Json()},
            {"steps_per_second", Json()},
            {"samples_per_second", Json()},
            {"shares", Json()},
            {"waits_for", Json()},
            {"wait", Json()},
            {"memory", resident_bytes()},
            {"gpu_memory", gpu_bytes()}};
  if (now.end_ns != 0) json["step_age"] = rounded(seconds_from(now.end_ns, now_ns));
  recent_->add_rates(json, now_ns);
  if (const int wait = watched_counts.current_wait.load(std::memory_order_relaxed);
      wait != WatchedCounts::kNoWait) {
    const int64_t start = watched_counts.current_wait_start_ns.load(std::memory_order_relaxed);
    json["waits_for"] = kWaits[wait];
    json["wait"] = rounded(seconds_from(start, now_ns));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hearth::profiler
