// The work of GPUs in profiles: the plugin's calls of a fake CUPTI (tests/plugins/fake_cupti.h).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "core/backends.h"
#include "hearth/hearth.h"
#include "hearth/profiler.h"
#include "kernels/cuda/cupti.h"
#include "profiler/session.h"
#include "seam/table.h"
#include "tests/plugins/fake_cupti.h"
#include "tests/support/files.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using cuda::LaunchNumber;
using cuda::record_with_cupti;
using profiler::FunctionEvent;
using profiler::profile;
using Kind = FakeWork::Kind;

/// The library, which the plugin finds by its name because it is already open.
FakeCupti& fake() {
  static FakeCupti& once = *[] {
    void* const library = dlopen(HEARTH_FAKE_CUPTI, RTLD_NOW);
    if (!library) throw std::runtime_error(dlerror());
    return reinterpret_cast<FakeCuptiGetter>(dlsym(library, kFakeCupti))();
  }();
  return once;
}

/// The activities that the plugin makes of CUPTI's records.
struct Activities final : ActivitySink {
  uint64_t current_event() override { return event; }
  void add(const DeviceActivity& activity) override { all.push_back(activity); }
  uint64_t event = 0;
  std::vector<DeviceActivity> all;
};

template <class F>
std::vector<DeviceActivity> recorded(const F& run) {
  static Activities& sink = *new Activities;
  sink.all.clear();
  record_with_cupti(&sink);
  run(sink);
  record_with_cupti(nullptr);
  return sink.all;
}

FakeTimes launch_kernel(const char* name, uint32_t stream = 7) {
  return fake().launch({.name = name, .stream = stream});
}

class CuptiTest : public ::testing::Test {
 protected:
  void SetUp() override { fake().reset(); }

  static void expect_works_again() {
    fake().reset();
    Warnings::said().clear();
    EXPECT_EQ(recorded([](Activities&) { launch_kernel("again"); }).size(), 1u);
    EXPECT_EQ(fake().kinds_that_are_on().size(), 0u);
    EXPECT_EQ(Warnings::said(), std::vector<std::string>());
  }

  Warnings warnings_;
};

constexpr const char* kRefused = "CUPTI error: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in ";

TEST_F(CuptiTest, DescribesWork) {
  std::vector<FakeTimes> times;
  const std::vector<DeviceActivity> all = recorded([&](Activities&) {
    times.push_back(launch_kernel("_ZN6hearth4cuda4fillEPfi", 9));
    times.push_back(fake().launch({.kind = Kind::kCopy, .device = 1, .bytes = 100, .from = 2}));
    times.push_back(fake().launch({.kind = Kind::kFill, .stream = 8, .bytes = 7}));
    times.push_back(
        fake().launch({.kind = Kind::kPeerCopy, .bytes = 5, .direction = 10, .from = 3, .to = 3}));
    times.push_back(launch_kernel(nullptr));
  });
  ASSERT_EQ(all.size(), 5u);
  using ActivityKind = DeviceActivity::Kind;
  const std::vector<std::tuple<std::string, ActivityKind, int, uint32_t, size_t>> expected{
      {"hearth::cuda::fill(float*, int)", ActivityKind::kKernel, 0, 9, 0},
      {"Memcpy HtoD (Pinned -> Device)", ActivityKind::kCopy, 1, 7, 100},
      {"Memset (Device)", ActivityKind::kFill, 0, 8, 7},
      {"Memcpy PtoP (Device -> Device)", ActivityKind::kCopy, 0, 7, 5},
      {"unknown kernel", ActivityKind::kKernel, 0, 7, 0}};
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [name, kind, device, stream, bytes] = expected[i];
    EXPECT_EQ(all[i].name, name);
    EXPECT_EQ(all[i].kind, kind) << name;
    EXPECT_EQ(all[i].device, device) << name;
    EXPECT_EQ(all[i].stream == all[1].stream, stream == 7) << name;
    EXPECT_EQ(all[i].bytes, bytes) << name;
    EXPECT_EQ(all[i].event, 0u) << name;
    EXPECT_EQ(uint64_t(all[i].start.time_since_epoch().count()), times[i].start) << name;
    EXPECT_EQ(uint64_t(all[i].end.time_since_epoch().count()), times[i].end) << name;
  }
  EXPECT_EQ(Warnings::said(), std::vector<std::string>());
}

TEST_F(CuptiTest, NamesDirectionsAndMemories) {
  const std::vector<std::string> directions{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                            "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  const std::vector<std::string> memories{"Unknown", "Pageable", "Pinned",        "Device",
                                          "Array",   "Managed",  "Device Static", "Managed Static"};
  const std::vector<DeviceActivity> all = recorded([&](Activities&) {
    for (uint8_t i = 0; i < directions.size(); ++i)
      fake().launch({.kind = Kind::kCopy, .direction = i});
    for (uint8_t i = 0; i < memories.size(); ++i) fake().launch({.kind = Kind::kFill, .to = i});
  });
  ASSERT_EQ(all.size(), directions.size() + memories.size());
  for (size_t i = 0; i < directions.size(); ++i)
    EXPECT_EQ(all[i].name, "Memcpy " + directions[i] + " (Pageable -> Device)");
  for (size_t i = 0; i < memories.size(); ++i)
    EXPECT_EQ(all[directions.size() + i].name, "Memset (" + memories[i] + ")");
}

TEST_F(CuptiTest, GivesWorkTheNumbersOfItsLaunches) {
  const std::vector<DeviceActivity> all = recorded([](Activities& sink) {
    sink.event = 11;
    {
      const LaunchNumber number;
      launch_kernel("first");
      fake().launch({.kind = Kind::kFill});  // a second call of the same operator
      {
        sink.event = 12;
        const LaunchNumber inner;
        launch_kernel("inner");
      }
      launch_kernel("outer again");
    }
    launch_kernel("no number");
  });
  std::vector<std::pair<std::string, uint64_t>> numbers;
  for (const DeviceActivity& each : all) numbers.emplace_back(each.name, each.event);
  EXPECT_EQ(numbers, (std::vector<std::pair<std::string, uint64_t>>{{"first", 11},
                                                                    {"Memset (Device)", 11},
                                                                    {"inner", 12},
                                                                    {"outer again", 11},
                                                                    {"no number", 0}}));
}

KernelFn cpu_scan;     // the CPU's kernel of cumsum
FakeTimes scan_times;  // of the last launch by scan_with_launch
/// The CPU's kernel of cumsum, which also launches a kernel as the CUDA backend does.
void scan_with_launch(const void* params, Ctx& ctx) {
  const LaunchNumber number;
  scan_times = launch_kernel("_Z4scanPf");
  cpu_scan(params, ctx);
}

/// Replaces the CPU's kernel of cumsum by scan_with_launch during its lifetime.
class LaunchingScan {
 public:
  LaunchingScan() { cpu_scan = std::exchange(entry(), &scan_with_launch); }
  ~LaunchingScan() { entry() = cpu_scan; }

 private:
  static KernelFn& entry() {
    return const_cast<KernelTable&>(cpu_backend().kernels()).kernels[int(KernelId::Scan)];
  }
};

/// A profile whose device events come from CUPTI.
template <class F>
std::unique_ptr<profile> profiled(const F& run) {
  auto result = std::make_unique<profile>(
      profiler::ProfileOptions().activities({profiler::ProfilerActivity::CPU}));
  record_with_cupti(&profiler::device_sink());
  run();
  record_with_cupti(nullptr);
  result->stop();
  return result;
}

std::vector<FunctionEvent> device_events(const profile& recorded) {
  std::vector<FunctionEvent> found;
  for (const FunctionEvent& event : recorded.events())
    if (event.is_on_device()) found.push_back(event);
  return found;
}

std::string launcher_of(const FunctionEvent& event, const profile& recorded) {
  if (event.launched_by == FunctionEvent::kNone) return "";
  return recorded.events()[size_t(event.launched_by)].name;
}

TEST_F(CuptiTest, AddsWorkToTheOperatorThatLaunchedIt) {
  const LaunchingScan launching;
  FakeTimes copy_times{};
  const auto recorded = profiled([&] {
    const profiler::record_function range("range");
    cumsum(ones({3}), 0);
    const LaunchNumber number;
    copy_times = fake().launch({.kind = Kind::kCopy, .stream = 9});
  });
  const std::vector<FunctionEvent> events = device_events(*recorded);
  ASSERT_EQ(events.size(), 2u);
  const FunctionEvent &scan = events[0], &copy = events[1];
  EXPECT_EQ(scan.name, "scan(float*)");
  EXPECT_EQ(scan.kind, FunctionEvent::Kind::Kernel);
  EXPECT_EQ(scan.device, 0);
  EXPECT_EQ(scan.thread, 0);  // the stream's number, in the order of their first work
  EXPECT_EQ(copy.thread, 1);
  EXPECT_EQ(scan.start_ns, int64_t(scan_times.start));
  EXPECT_EQ(scan.duration_ns, int64_t(scan_times.end - scan_times.start));
  EXPECT_EQ(copy.start_ns, int64_t(copy_times.start));
  ASSERT_EQ(launcher_of(scan, *recorded), "aten::cumsum");
  EXPECT_EQ(launcher_of(copy, *recorded), "range");
  const FunctionEvent& cumsum = recorded->events()[size_t(scan.launched_by)];
  EXPECT_EQ(cumsum.device_ns, scan.duration_ns);
  constexpr int64_t kClockError = 20'000;  // ns, between the operators' clock and CUPTI's
  EXPECT_GE(scan.start_ns, cumsum.start_ns - kClockError);
  EXPECT_LE(scan.start_ns, cumsum.start_ns + cumsum.duration_ns + kClockError);
  EXPECT_EQ(recorded->key_averages().at("scan(float*)").self_device_time_total,
            double(scan.duration_ns) / 1000);
  const TempFolder folder;
  recorded->export_chrome_trace(folder.path("trace.json"));
  EXPECT_NE(bytes_of(folder.path("trace.json")).find("scan(float*)"), std::string::npos);
}

TEST_F(CuptiTest, LeavesOutRecordsWithoutTimesAndOfOtherKinds) {
  const auto recorded = profiled([] {
    fake().launch({.kind = Kind::kSynchronization});
    fake().launch({.name = "without_times", .has_times = false});
    launch_kernel("seen");
  });
  const std::vector<FunctionEvent> events = device_events(*recorded);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "seen");
}

TEST_F(CuptiTest, KeepsTheLaunchesOfThreadsApart) {
  constexpr uint64_t kCalls = 4000;
  struct ByThread final : ActivitySink {
    uint64_t current_event() override { return event(); }
    void add(const DeviceActivity& activity) override { events[activity.name] += activity.event; }
    static uint64_t& event() {
      thread_local uint64_t number = 0;
      return number;
    }
    std::map<std::string, uint64_t> events;
  };
  static ByThread& sink = *new ByThread;
  record_with_cupti(&sink);
  std::vector<std::thread> threads;
  for (const char* name : {"one", "two"})
    threads.emplace_back([name] {
      ByThread::event() = *name == 'o' ? 1 : 1000;
      for (uint64_t i = 0; i < kCalls; ++i) {
        const LaunchNumber number;
        launch_kernel(name);
      }
    });
  for (std::thread& thread : threads) thread.join();
  record_with_cupti(nullptr);
  EXPECT_EQ(sink.events["one"], kCalls);
  EXPECT_EQ(sink.events["two"], 1000 * kCalls);
  EXPECT_GT(fake().num_buffers(), 1);
}

TEST_F(CuptiTest, SwitchesAllKindsOffIfOneCannotBeSwitchedOn) {
  for (int call = 1; call <= 7; ++call) {  // the plugin records 7 kinds
    fake().reset();
    fake().fail("cuptiActivityEnable", call);
    Warnings::said().clear();
    const auto all = recorded([](Activities&) {
      EXPECT_EQ(fake().kinds_that_are_on(), std::vector<int>());
      const LaunchNumber number;
      launch_kernel("lost");
    });
    EXPECT_EQ(all.size(), 0u) << call;
    EXPECT_EQ(Warnings::said(),
              std::vector<std::string>{std::string("the profile lacks the work of GPUs: ") +
                                       kRefused + "cuptiActivityEnable"});
  }
  expect_works_again();
}

TEST_F(CuptiTest, DropsRecordsThatArriveOutsideARecording) {
  const auto first = recorded([](Activities&) {
    launch_kernel("first");
    fake().fail("cuptiActivityDisable");
  });
  EXPECT_EQ(first.size(), 1u);
  EXPECT_TRUE(Warnings::contains(std::string(kRefused) + "cuptiActivityDisable"));
  for (int i = 0; i < 10'000; ++i) launch_kernel("between");
  EXPECT_GT(fake().num_buffers(), 2);  // the kinds are still on
  fake().fail("cuptiActivityDisable", -1);
  // Some records are in a buffer that is not full.
  EXPECT_LT(recorded([](Activities&) { launch_kernel("second"); }).size(), 5000u);
  expect_works_again();
}

TEST_F(CuptiTest, ReportsFailedCalls) {
  const auto failing = [](const char* function, int call) {
    fake().reset();
    Warnings::said().clear();
    return recorded([&](Activities& sink) {
      sink.event = 5;
      fake().fail(function, call);
      for (int i = 0; i < 3; ++i) {
        const LaunchNumber number;
        launch_kernel("kernel");
      }
    });
  };
  const auto reported = [](const std::string& call) {
    return Warnings::said() ==
           std::vector<std::string>{
               "the profile lacks work of GPUs, or its operators: " + std::string(kRefused) + call};
  };
  EXPECT_EQ(failing("cuptiActivityFlushAll", 0).size(), 0u);
  EXPECT_TRUE(reported("cuptiActivityFlushAll"));
  EXPECT_EQ(failing("cuptiActivityGetNextRecord", 4).size(), 1u);  // after one launch's records
  EXPECT_TRUE(reported("cuptiActivityGetNextRecord"));
  const auto unnumbered = failing("cuptiActivityPushExternalCorrelationId", 2);
  EXPECT_TRUE(reported("cuptiActivityPushExternalCorrelationId"));
  ASSERT_EQ(unnumbered.size(), 3u);
  EXPECT_EQ(unnumbered[0].event, 5u);
  EXPECT_EQ(unnumbered[1].event, 0u);
  EXPECT_EQ(unnumbered[2].event, 5u);
  for (const char* harmless :
       {"cuptiActivityPopExternalCorrelationId", "cuptiActivityGetNumDroppedRecords"}) {
    EXPECT_EQ(failing(harmless, 0).size(), 3u) << harmless;
    EXPECT_EQ(Warnings::said(), std::vector<std::string>()) << harmless;
  }
  expect_works_again();
}

TEST_F(CuptiTest, ReportsErrorsWithoutAText) {
  recorded([](Activities&) {
    fake().fail("cuptiGetResultString");
    fake().fail("cuptiActivityFlushAll");
  });
  EXPECT_TRUE(Warnings::contains("CUPTI error: unknown in cuptiActivityFlushAll"));
}

TEST_F(CuptiTest, ReportsDroppedAndDamagedRecords) {
  const auto all = recorded([](Activities&) {
    launch_kernel("before");
    fake().add_damaged_record();
    launch_kernel("after");
    fake().lose_records(12);
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_STREQ(all[0].name, "before");
  EXPECT_EQ(
      Warnings::said(),
      std::vector<std::string>{
          "the profile lacks work of GPUs, or its operators: CUPTI error: "
          "CUPTI_ERROR_INVALID_KIND in cuptiActivityGetNextRecord; CUPTI dropped 12 records"});
  expect_works_again();
}

/// Ends the process with 0 if a recording fails because of the function, and a later one works.
[[noreturn]] void fail_to_register(const std::string& function) {
  fake().reset();
  fake().fail(function.c_str(), 1);
  const bool was_empty = recorded([](Activities&) { launch_kernel("lost"); }).empty();
  const bool was_reported = Warnings::contains(kRefused + function);
  fake().reset();
  const bool works = recorded([](Activities&) { launch_kernel("again"); }).size() == 1;
  std::_Exit(was_empty && was_reported && works ? 0 : 1);
}

TEST_F(CuptiTest, RegistersItsFunctionsAgainAfterAFailure) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which has registered nothing
  for (const char* function :
       {"cuptiActivityRegisterCallbacks", "cuptiActivityRegisterTimestampCallback"})
    EXPECT_EXIT(fail_to_register(function), ::testing::ExitedWithCode(0), "") << function;
}

}  // namespace
}  // namespace hearth::testing
