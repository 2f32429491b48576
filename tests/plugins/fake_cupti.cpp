#include "tests/plugins/fake_cupti.h"

#include <cupti.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace hearth::testing {
namespace {

thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<uint64_t>> external_ids;

size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization2);
    default: return 0;
  }
}

/// A record with the fields that all records of work share.
template <class Record>
Record filled(CUpti_ActivityKind kind, const FakeWork& work, FakeTimes times,
              uint32_t correlation) {
  Record record;
  std::memset(&record, 0xCD, sizeof(record));  // the plugin must not read other fields
  record.kind = kind;
  record.start = times.start;
  record.end = times.end;
  record.deviceId = work.device;
  record.streamId = work.stream;
  record.correlationId = correlation;
  return record;
}

template <class Record>
Record filled_copy(CUpti_ActivityKind kind, const FakeWork& work, FakeTimes times,
                   uint32_t correlation) {
  auto record = filled<Record>(kind, work, times, correlation);
  record.copyKind = work.direction;
  record.srcKind = work.from;
  record.dstKind = work.to;
  record.bytes = work.bytes;
  return record;
}

class Fake final : public FakeCupti {
 public:
  void reset() override {
    const std::lock_guard lock(mutex_);
    on_.clear();
    used_ = 0;
    num_lost_ = num_buffers_ = 0;
    external_ids.clear();
    const std::lock_guard failures_lock(failures_mutex_);
    failures_.clear();
    calls_.clear();
  }

  FakeTimes launch(const FakeWork& work) override {
    const std::lock_guard lock(mutex_);
    const uint32_t correlation = ++last_correlation_;
    FakeTimes times{0, 0};
    if (work.has_times && timestamp) times.start = timestamp();
    if (work.has_times) times.end = times.start + 1000 + correlation;
    // The order of records is not specified.
    if (correlation % 2 == 0) put_call(correlation, times);
    put_work(work, times, correlation);
    if (correlation % 2 == 1) put_call(correlation, times);
    return times;
  }

  void add_damaged_record() override {
    const std::lock_guard lock(mutex_);
    CUpti_ActivityMemset4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_INVALID;
    put(record);
  }
  void lose_records(size_t count) override { num_lost_ += count; }
  void fail(const char* function, int call) override {
    const std::lock_guard lock(failures_mutex_);
    calls_[function] = 0;
    failures_[function] = call;
  }
  std::vector<int> kinds_that_are_on() const override { return {on_.begin(), on_.end()}; }
  int num_buffers() const override { return num_buffers_; }

  /// Counts a call, and says whether it fails.
  bool fails(const char* function) {
    const std::lock_guard lock(failures_mutex_);
    const int number = ++calls_[function];
    const auto failure = failures_.find(function);
    return failure != failures_.end() && (failure->second == 0 || failure->second == number);
  }
  void turn(CUpti_ActivityKind kind, bool on) {
    const std::lock_guard lock(mutex_);
    if (on)
      on_.insert(kind);
    else
      on_.erase(kind);
  }
  void flush() {
    const std::lock_guard lock(mutex_);
    deliver();
  }
  size_t take_num_lost() { return num_lost_.exchange(0); }

  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;

 private:
  void put_call(uint32_t correlation, FakeTimes times) {
    const bool has_calls = on_.count(CUPTI_ACTIVITY_KIND_RUNTIME) > 0;
    if (has_calls && on_.count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) > 0)
      for (const auto& [kind, ids] : external_ids)
        if (!ids.empty())
          put(CUpti_ActivityExternalCorrelation{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, kind,
                                                ids.back(), correlation, 0});
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.start = times.start;
    call.end = times.start + 10;
    call.correlationId = correlation;
    if (has_calls) put(call);
  }

  void put_work(const FakeWork& work, FakeTimes times, uint32_t correlation) {
    switch (work.kind) {
      case FakeWork::Kind::kKernel: {
        auto record = filled<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, work,
                                                     times, correlation);
        record.name = work.name;
        return put_if_on(record);
      }
      case FakeWork::Kind::kCopy:
        return put_if_on(filled_copy<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, work, times,
                                                            correlation));
      case FakeWork::Kind::kPeerCopy:
        return put_if_on(filled_copy<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, work,
                                                                times, correlation));
      case FakeWork::Kind::kFill: {
        auto record =
            filled<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, work, times, correlation);
        record.memoryKind = work.to;
        record.bytes = work.bytes;
        return put_if_on(record);
      }
      case FakeWork::Kind::kSynchronization: {
        CUpti_ActivitySynchronization2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
        return put(record);  // other tools in the process may have switched it on
      }
    }
  }

  template <class Record>
  void put_if_on(const Record& record) {
    if (on_.count(record.kind) > 0) put(record);
  }

  template <class Record>
  void put(const Record& record) {
    if (buffer_ != nullptr && used_ + sizeof(record) > size_) deliver();
    if (buffer_ == nullptr) {
      size_t max_records = 0;
      request(&buffer_, &size_, &max_records);
    }
    std::memcpy(buffer_ + used_, &record, sizeof(record));
    used_ += sizeof(record);
  }

  /// Returns the buffer to the plugin on another thread, as CUPTI's worker does.
  void deliver() {
    if (buffer_ == nullptr) return;
    std::thread([this] { complete(nullptr, 0, buffer_, size_, used_); }).join();
    buffer_ = nullptr;
    used_ = 0;
    ++num_buffers_;
  }

  std::mutex mutex_, failures_mutex_;
  std::set<CUpti_ActivityKind> on_;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0;
  uint32_t last_correlation_ = 0;
  std::atomic<size_t> num_lost_ = 0;
  int num_buffers_ = 0;
  std::map<std::string, int> failures_, calls_;
};

Fake& fake() {
  static Fake& once = *new Fake;
  return once;
}

}  // namespace
}  // namespace hearth::testing

using hearth::testing::fake;

#define FAIL_IF_ASKED \
  if (fake().fails(__func__)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES

extern "C" {

hearth::testing::FakeCupti* fake_cupti() { return &fake(); }

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  FAIL_IF_ASKED;
  fake().request = request;
  fake().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  FAIL_IF_ASKED;
  fake().timestamp = timestamp;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  FAIL_IF_ASKED;
  return fake().turn(kind, true), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  FAIL_IF_ASKED;
  return fake().turn(kind, false), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t) {
  FAIL_IF_ASKED;
  return fake().flush(), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                       CUpti_Activity** record) {
  FAIL_IF_ASKED;
  if (!buffer) return CUPTI_ERROR_INVALID_PARAMETER;
  uint8_t* const next =
      *record ? reinterpret_cast<uint8_t*>(*record) + hearth::testing::size_of((*record)->kind)
              : buffer;
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const found = reinterpret_cast<CUpti_Activity*>(next);
  if (hearth::testing::size_of(found->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  FAIL_IF_ASKED;
  *dropped = fake().take_num_lost();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  FAIL_IF_ASKED;
  return hearth::testing::external_ids[kind].push_back(id), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* last_id) {
  FAIL_IF_ASKED;
  auto& ids = hearth::testing::external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last_id) *last_id = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  FAIL_IF_ASKED;
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case CUPTI_ERROR_INVALID_KIND: *text = "CUPTI_ERROR_INVALID_KIND"; break;
    default: return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
