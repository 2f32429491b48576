// A CUPTI without GPUs, for tests of the plugin that calls it. It follows NVIDIA's documentation
// and cannot show whether CUPTI itself does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::testing {

/// Work that a call of CUDA launches; numbers are CUPTI's.
struct FakeWork {
  enum class Kind : uint8_t { kKernel, kCopy, kPeerCopy, kFill, kSynchronization };
  Kind kind = Kind::kKernel;
  const char* name = nullptr;  // of a kernel
  uint32_t device = 0, stream = 7;
  uint64_t bytes = 0;
  uint8_t direction = 1, from = 1, to = 3;  // of copies; `to` also of fills
  bool has_times = true;
};
/// Nanoseconds of the registered clock.
struct FakeTimes {
  uint64_t start, end;
};

class FakeCupti {
 public:
  virtual ~FakeCupti() = default;
  /// Switches all kinds off, and forgets records, losses, failures and this thread's external ids.
  virtual void reset() = 0;
  /// Writes the records of one call of CUDA on this thread, if their kinds are on; the record of a
  /// synchronization always.
  virtual FakeTimes launch(const FakeWork& work) = 0;
  /// Adds a record that was not completed, at which CUPTI stops reading.
  virtual void add_damaged_record() = 0;
  virtual void lose_records(size_t count) = 0;
  /// Lets a later call of a function fail: 1 is the next call, 2 the one after it. 0 lets all calls
  /// fail, -1 none.
  virtual void fail(const char* function, int call = 0) = 0;
  virtual std::vector<int> kinds_that_are_on() const = 0;
  /// The number of buffers that were returned to the plugin.
  virtual int num_buffers() const = 0;
};

/// The symbol of the function that returns the library's only FakeCupti.
inline constexpr char kFakeCupti[] = "fake_cupti";
using FakeCuptiGetter = FakeCupti* (*)();

}  // namespace hearth::testing
