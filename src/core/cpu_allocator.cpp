#include "core/cpu_allocator.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "core/byte_size.h"
#include "core/memory_counters.h"
#include "core/memory_report.h"
#include "core/page_cache.h"
#include "core/size_classes.h"
#include "core/slab_depot.h"
#include "core/system_memory.h"
#include "hearth/error.h"

// Whether blocks are cached: not under the address sanitizer, which detects errors only in blocks
// that are allocated one by one.
#if defined(__SANITIZE_ADDRESS__)
#define HEARTH_POOLS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEARTH_POOLS 0
#endif
#endif
#ifndef HEARTH_POOLS
#define HEARTH_POOLS 1
#endif

namespace hearth {

namespace {

using detail::kBlockAlignment;
using detail::kClassSizes;
using detail::kLargestSmall;
using detail::kSizeClasses;
using detail::PageCache;
using detail::ThreadCounters;

/// The free blocks of one size in the cache of a thread.
struct Magazine {
  static constexpr int kMaxBlocks = 64;
  static constexpr size_t kMaxBytes = 64 * 1024;
  int count = 0;
  int capacity = 0;
  void* blocks[kMaxBlocks] = {};
};

/// The free blocks and counters of one thread; an element of the heap's list of all threads.
struct ThreadCache {
  Magazine magazines[kSizeClasses];
  ThreadCounters counters;
  ThreadCache* previous = nullptr;
  ThreadCache* next = nullptr;
};

/// The state that all threads share. It is never destroyed, since blocks are freed until the last
/// thread has ended.
struct Heap {
  PageCache pages;
  detail::SlabDepot depots[kSizeClasses];
  std::atomic<bool> has_read_limit{false};
  std::atomic<int64_t> misses{0};  // allocations that took memory from the system
  std::mutex mutex;                // guards the members below
  ThreadCache* threads = nullptr;
  MemoryStats stats;
  PathBytes* paths = nullptr;
  MemoryHistory* history = nullptr;
};
constinit Heap heap;
static_assert(std::is_trivially_destructible_v<Heap>);

// The caches that a thread uses before its first allocation and after its own cache is closed.
// Their magazines have capacity 0, so that every request reaches refill() or drain().
constinit ThreadCache unopened_cache;
constinit ThreadCache closed_cache;
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache* cache = &unopened_cache;

bool has_cache() { return cache != &unopened_cache && cache != &closed_cache; }

/// Returns the last `count` blocks of a magazine to the depot.
void flush(Magazine& magazine, int size_class, int count) noexcept {
  magazine.count -= count;
  heap.depots[size_class].release(magazine.blocks + magazine.count, count, kClassSizes[size_class],
                                  heap.pages);
}

void flush_all(ThreadCache& thread) noexcept {
  for (int c = 0; c < kSizeClasses; ++c) flush(thread.magazines[c], c, thread.magazines[c].count);
}

/// Adds this thread's counts to the process's statistics.
void publish_counts(ThreadCounters& counters = cache->counters) noexcept {
  const std::lock_guard lock(heap.mutex);
  counters.move_to(heap.stats);
  if (heap.history) [[unlikely]]
    heap.history->add(heap.stats);
}

/// Counts an event in the process's statistics.
template <class Event>
void count_for_process(const Event& event) noexcept {
  ThreadCounters local;
  ThreadCounters& counters = has_cache() ? cache->counters : local;
  event(counters);
  publish_counts(counters);
}

/// Counts an event of a block: for small blocks on this thread only, until a magazine is empty or
/// full.
template <class Event>
[[gnu::always_inline]] inline void count(const Event& event, size_t bytes) noexcept {
  if (bytes <= kLargestSmall && has_cache()) [[likely]]
    event(cache->counters);
  else
    count_for_process(event);
}

/// Adds bytes to the count of a module's activations; negative bytes are a release.
[[gnu::cold, gnu::noinline]] void count_path(uint16_t path, int64_t bytes) noexcept {
  try {
    const std::lock_guard lock(heap.mutex);
    if (!heap.paths) heap.paths = new PathBytes;
    heap.paths->add(path, bytes);
  } catch (const std::bad_alloc&) {
    // The table of modules is incomplete then.
  }
}

/// Reads HEARTH_CPU_MEMORY before the first block is taken from the system.
void read_memory_limit() {
  static constexpr char kVariable[] = "HEARTH_CPU_MEMORY";
  const char* const text = std::getenv(kVariable);
  if (text && *text) heap.pages.set_memory_limit(parse_bytes(kVariable, text));
  heap.has_read_limit.store(true, std::memory_order_relaxed);
}

[[noreturn, gnu::cold]] void out_of_memory(size_t bytes) {
  {
    const std::lock_guard lock(heap.mutex);
    ++heap.stats.num_ooms;
  }
  MemoryReport report{.device = Device(DeviceType::CPU), .stats = cpu_memory_stats()};
  report.modules = cpu_module_memory();
  report.limit = heap.pages.memory_limit();
  report.wanted = bytes;
  report.total_bytes = system_memory_total();
  throw OutOfMemoryError(cpu_out_of_memory_text(report));
}

/// Calls `take`; if it returns null, empties this thread's cache and that of pages and calls it
/// again.
template <class Take>
void* take_or_throw(size_t bytes, const Take& take) {
  if (!heap.has_read_limit.load(std::memory_order_relaxed)) [[unlikely]]
    read_memory_limit();
  if (bytes > PageCache::kLargest) out_of_memory(bytes);
  if (void* data = take()) return data;
  {
    const std::lock_guard lock(heap.mutex);
    ++heap.stats.num_alloc_retries;
  }
  empty_cpu_cache();
  if (void* data = take()) return data;
  out_of_memory(bytes);
}

#if HEARTH_POOLS

/// Calls f on every mutex, in locking order.
template <class F>
void for_each_mutex(const F& f) {
  f(heap.mutex);
  for (auto& depot : heap.depots) f(depot.mutex());
  f(heap.pages.mutex());
}

/// Holds all mutexes during a fork, so that the child inherits no mutex that another thread has
/// locked.
void install_fork_handlers() {
  constexpr auto lock_all = [] { for_each_mutex([](std::mutex& mutex) { mutex.lock(); }); };
  constexpr auto unlock_all = [] { for_each_mutex([](std::mutex& mutex) { mutex.unlock(); }); };
  pthread_atfork(lock_all, unlock_all, unlock_all);
}

/// Installed when the library is loaded: the allocation of large blocks has no step that runs only
/// once and could install them.
[[maybe_unused]] const bool has_fork_handlers = (install_fork_handlers(), true);

/// Its destructor closes the thread's cache when the thread ends.
struct CacheCloser {
  ~CacheCloser() {
    ThreadCache* closing = cache;
    cache = &closed_cache;
    flush_all(*closing);
    {
      const std::lock_guard lock(heap.mutex);
      closing->counters.move_to(heap.stats);
      (closing->previous ? closing->previous->next : heap.threads) = closing->next;
      if (closing->next) closing->next->previous = closing->previous;
    }
    delete closing;
  }
};

void open_cache() noexcept {
  ThreadCache* opened = new (std::nothrow) ThreadCache;
  if (!opened) return;
  for (int c = 0; c < kSizeClasses; ++c)
    opened->magazines[c].capacity = static_cast<int>(
        std::clamp<size_t>(Magazine::kMaxBytes / kClassSizes[c], 4, Magazine::kMaxBlocks));
  {
    const std::lock_guard lock(heap.mutex);
    opened->next = heap.threads;
    if (heap.threads) heap.threads->previous = opened;
    heap.threads = opened;
  }
  cache = opened;
  thread_local CacheCloser closer;
  (void)closer;
}

/// Fills half of the thread's empty magazine and returns one block.
void* refill(int size_class) {
  if (cache == &unopened_cache) open_cache();
  publish_counts();
  Magazine& magazine = cache->magazines[size_class];
  const size_t size = kClassSizes[size_class];
  return take_or_throw(size, [&]() -> void* {
    void* block = nullptr;
    detail::SlabDepot& depot = heap.depots[size_class];
    if (magazine.capacity == 0) return depot.take(&block, 1, size, heap.pages) ? block : nullptr;
    magazine.count = depot.take(magazine.blocks, magazine.capacity / 2, size, heap.pages);
    return magazine.count > 0 ? magazine.blocks[--magazine.count] : nullptr;
  });
}

/// Releases a block to the thread's full magazine, after moving half of its blocks to the depot.
void drain(void* block, int size_class) noexcept {
  if (cache == &unopened_cache) open_cache();
  publish_counts();
  Magazine& magazine = cache->magazines[size_class];
  if (magazine.capacity == 0) {
    heap.depots[size_class].release(&block, 1, kClassSizes[size_class], heap.pages);
    return;
  }
  if (magazine.count == magazine.capacity) flush(magazine, size_class, magazine.capacity / 2);
  magazine.blocks[magazine.count++] = block;
}

[[gnu::always_inline]] inline void* take(size_t bytes) {
  if (bytes > kLargestSmall) [[unlikely]]
    return take_or_throw(bytes, [bytes] { return heap.pages.take(bytes); });
  const int size_class = detail::size_class_of(bytes);
  Magazine& magazine = cache->magazines[size_class];
  if (magazine.count == 0) [[unlikely]]
    return refill(size_class);
  return magazine.blocks[--magazine.count];
}

[[gnu::always_inline]] inline void release(void* data, size_t bytes) noexcept {
  if (bytes > kLargestSmall) [[unlikely]]
    return heap.pages.release(data, bytes);
  const int size_class = detail::size_class_of(bytes);
  Magazine& magazine = cache->magazines[size_class];
  if (magazine.count == magazine.capacity) [[unlikely]]
    return drain(data, size_class);
  magazine.blocks[magazine.count++] = data;
}

#else

void* take(size_t bytes) {
  return take_or_throw(bytes, [bytes]() -> void* {
    if (!heap.pages.reserve(cpu_block_bytes(bytes))) return nullptr;
    void* data = nullptr;
    if (posix_memalign(&data, kBlockAlignment, bytes) == 0) return data;
    heap.pages.unreserve(cpu_block_bytes(bytes));
    return nullptr;
  });
}

void release(void* data, size_t bytes) noexcept {
  std::free(data);
  heap.pages.unreserve(cpu_block_bytes(bytes));
}

#endif

}  // namespace

void* cpu_allocate(size_t bytes, MemoryLabel label) {
  if (bytes == 0) return nullptr;
  const int64_t regions = detail::thread_regions;
  void* data = take(bytes);
  if (detail::thread_regions != regions) [[unlikely]]
    heap.misses.fetch_add(1, std::memory_order_relaxed);
  const size_t size = cpu_block_bytes(bytes);
  detail::thread_net_bytes.cpu += static_cast<int64_t>(bytes);
  count([=](ThreadCounters& counters) { counters.allocated(size, label.tag()); }, bytes);
  if (label.path() != 0) [[unlikely]]
    count_path(label.path(), static_cast<int64_t>(size));
  return data;
}

void cpu_free(void* data, size_t bytes, MemoryLabel label) noexcept {
  if (!data) return;
  release(data, bytes);
  const size_t size = cpu_block_bytes(bytes);
  detail::thread_net_bytes.cpu -= static_cast<int64_t>(bytes);
  count([=](ThreadCounters& counters) { counters.freed(size, label.tag()); }, bytes);
  if (label.path() != 0) [[unlikely]]
    count_path(label.path(), -static_cast<int64_t>(size));
}

size_t cpu_block_bytes(size_t bytes) {
  return bytes <= kLargestSmall ? kClassSizes[detail::size_class_of(bytes)]
                                : PageCache::rounded(bytes);
}

void cpu_retag(size_t bytes, MemoryLabel from, MemoryLabel to) noexcept {
  if (bytes == 0) return;
  const size_t size = cpu_block_bytes(bytes);
  count([=](ThreadCounters& counters) { counters.retagged(size, from.tag(), to.tag()); }, bytes);
  if (from.path() != 0) [[unlikely]]
    count_path(from.path(), -static_cast<int64_t>(size));
  if (to.path() != 0) [[unlikely]]
    count_path(to.path(), static_cast<int64_t>(size));
}

void* object_allocate(size_t bytes) { return take(bytes); }

void object_free(void* object, size_t bytes) noexcept {
  if (object) release(object, bytes);
}

void empty_cpu_cache() {
  if (has_cache()) flush_all(*cache);
  heap.pages.trim(0);
}

void set_cpu_cache_limit(size_t bytes) { heap.pages.set_cache_limit(bytes); }
void set_cpu_memory_limit(size_t bytes) {
  heap.has_read_limit = true;
  heap.pages.set_memory_limit(bytes);
}

size_t cpu_memory_limit() {
  if (!heap.has_read_limit) read_memory_limit();
  return heap.pages.memory_limit();
}

std::vector<ModuleMemory> cpu_module_memory() {
  const std::lock_guard lock(heap.mutex);
  return heap.paths ? heap.paths->modules() : std::vector<ModuleMemory>();
}

MemoryStats cpu_memory_stats() {
  const std::lock_guard lock(heap.mutex);
  MemoryStats stats = heap.stats;
  for (const ThreadCache* thread = heap.threads; thread; thread = thread->next)
    thread->counters.add_to(stats);
  heap.pages.add_to(stats);
  // A thread counts a miss before it counts its allocation.
  stats.cache_hits = std::max<int64_t>(
      stats.allocation.allocated - heap.misses.load(std::memory_order_relaxed), 0);
  return stats;
}

void cpu_record_history(std::unique_ptr<MemoryHistory> history) {
  const std::lock_guard lock(heap.mutex);
  if (history) history->add(heap.stats);
  delete std::exchange(heap.history, history.release());
}

std::string cpu_history_json() {
  const std::lock_guard lock(heap.mutex);
  return heap.history ? heap.history->json("cpu") : "";
}

void cpu_reset_peak_stats() {
  const std::lock_guard lock(heap.mutex);
  MemoryStats& stats = heap.stats;
  for (ThreadCache* thread = heap.threads; thread; thread = thread->next)
    thread->counters.reset_peak();
  stats.allocation.reset_peak();
  stats.allocated_bytes.reset_peak();
  for (MemoryStat& tag : stats.tags) tag.reset_peak();
  detail::note_peak(stats);
  if (heap.paths) heap.paths->reset_peak();
  heap.pages.reset_peak();
}

}  // namespace hearth
