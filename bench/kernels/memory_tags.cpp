#include <cstdio>
#include <vector>

#include "bench/turns.h"
#include "core/memory_counters.h"
#include "core/memory_label.h"
#include "hearth/hearth.h"
#include "hearth/named_scope.h"

// The cost of memory tags in an `add` of 4 elements: the time of the code that tags its result,
// alone, beside the time of the call. Outside modules a tag is only read; inside, it is also
// counted.

namespace {

using namespace hearth;

constexpr int kTurns = 101, kCalls = 20000;

/// Nanoseconds per call in one round.
template <class F>
double time_round(const F& call) {
  return time_of([&] {
           for (int i = 0; i < kCalls; ++i) call();
         }) *
         1e3 / kCalls;
}

/// Stops the compiler from removing a computation.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// Counts a block of 64 bytes and its release as the allocator does, with or without its tag.
void count_block(detail::ThreadCounters& counters, bool tagged) {
  const MemoryLabel label = tagged ? current_memory_label(false) : MemoryLabel();
  counters.allocated(64, label.tag());
  keep(counters);
  counters.freed(64, label.tag());
  keep(counters);
}

void report(const char* where) {
  const Tensor a = rand({4}), b = rand({4});
  detail::ThreadCounters counters;
  std::vector<double> adds, tagged, untagged;
  std::vector<double> shares;  // the tag's time divided by that of an add without its tag
  for (int i = 0; i < kTurns; ++i) {
    adds.push_back(time_round([&] { keep(a + b); }));
    tagged.push_back(time_round([&] { count_block(counters, true); }));
    untagged.push_back(time_round([&] { count_block(counters, false); }));
    shares.push_back((tagged.back() - untagged.back()) /
                     (adds.back() - tagged.back() + untagged.back()));
  }
  std::printf("%-16s add %6.1f ns, its tag %5.2f ns: %+.1f %% (limit +3 %%)\n", where, median(adds),
              median(tagged) - median(untagged), 100 * median(shares));
}

}  // namespace

int main() {
  set_num_threads(1);
  report("outside modules");
  const NamedScope scope("layer");
  report("inside a module");
}
