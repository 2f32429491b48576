#include "core/device_allocator.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

#include "core/device_context.h"
#include "core/memory_counters.h"
#include "core/memory_report.h"

namespace hearth {

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kMinBlock = 512;       // block sizes are multiples of it
constexpr size_t kSmallRequest = kMiB;  // requests up to this size use small segments
constexpr size_t kSmallSegment = 2 * kMiB;
constexpr size_t kLargeSegment = 20 * kMiB;  // shared by requests below kOwnSegment
constexpr size_t kOwnSegment = 10 * kMiB;    // requests of this size or more get a segment each
constexpr size_t kSegmentRounding = 2 * kMiB;
constexpr size_t kLargestRequest = SIZE_MAX / 4;  // so that rounding cannot overflow

size_t round_up(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

size_t segment_size(size_t size) {
  if (size <= kSmallRequest) return kSmallSegment;
  return size < kOwnSegment ? kLargeSegment : round_up(size, kSegmentRounding);
}

/// Whether the unneeded rest of a block is large enough for another block.
bool leaves_block(bool is_small, size_t rest) {
  return is_small ? rest >= kMinBlock : rest > kSmallRequest;
}

}  // namespace

struct DeviceAllocator::Block {
  std::byte* data;
  size_t size;
  StreamHandle stream;
  Pools* pools;
  bool is_small;        // its segment belongs to pools->small
  bool in_use = false;  // allocated, or freed with pending events
  int pending_events = 0;
  MemoryLabel label = {};
  Block* previous = nullptr;  // neighbours in the segment
  Block* next = nullptr;
  std::vector<StreamHandle> other_streams = {};  // streams that may use the block, too

  bool is_whole_segment() const { return !previous && !next; }
};

bool DeviceAllocator::Less::operator()(const Block* a, const Block* b) const {
  return std::tie(a->stream, a->size, a->data) < std::tie(b->stream, b->size, b->data);
}

DeviceAllocator::DeviceAllocator(Backend& backend, int device)
    : backend_(backend), device_(device), events_(std::make_unique<EventQueue<Block>>(backend)) {}

DeviceAllocator::~DeviceAllocator() {
  for (const auto& [data, block] : in_use_) release_block(block);
  try {
    empty_cache();
  } catch (...) {
    // The device has failed, and its memory is lost.
  }
}

DeviceAllocator::Pool& DeviceAllocator::pool_of(const Block& block) {
  return block.is_small ? block.pools->small : block.pools->large;
}

void* DeviceAllocator::allocate(size_t bytes, StreamHandle stream, MemoryLabel label) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (bytes > kLargestRequest) throw_out_of_memory(bytes);
  const bool is_captured = capture_pools_ && backend_.is_capturing(device_, stream);
  const Request request{round_up(bytes, kMinBlock), stream, is_captured ? capture_pools_ : &pools_};
  collect_freed();
  Block* block = take_cached(request);
  if (block) ++stats_.cache_hits;
  if (!block) block = new_segment(request, segment_size(request.size));
  if (!block) block = take_after_release(request);
  if (!block) throw_out_of_memory(bytes);
  split(block, request.size);
  block->in_use = true;
  block->label = label;
  in_use_[block->data] = block;
  const auto amount = static_cast<int64_t>(block->size);
  const bool is_peak = stats_.allocated_bytes.current + amount > stats_.allocated_bytes.peak;
  stats_.allocation.increase(1);
  stats_.allocated_bytes.increase(amount);
  stats_.active_bytes.increase(amount);
  count(*block, amount);
  if (is_peak) detail::note_peak(stats_);
  active_bytes_ += block->size;
  return block->data;
}

/// Adds bytes (negative: a release) to the counts of the block's tag and module.
void DeviceAllocator::count(const Block& block, int64_t bytes) {
  MemoryStat& tag = stats_.tags[static_cast<size_t>(block.label.tag())];
  bytes > 0 ? tag.increase(bytes) : tag.decrease(-bytes);
  detail::thread_net_bytes.device += bytes;
  paths_.add(block.label.path(), bytes);
  if (history_) [[unlikely]]
    history_->add(stats_);
}

void DeviceAllocator::record(std::unique_ptr<MemoryHistory> history) {
  const std::lock_guard lock(mutex_);
  if (history) history->add(stats_);
  history_.swap(history);
}

std::string DeviceAllocator::history_json() {
  const std::lock_guard lock(mutex_);
  return history_ ? history_->json(detail::str("cuda:", device_)) : "";
}

void DeviceAllocator::retag(void* data, MemoryLabel label) {
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(data);
  if (found == in_use_.end()) return;
  Block& block = *found->second;
  const auto amount = static_cast<int64_t>(block.size);
  count(block, -amount);
  block.label = label;
  count(block, amount);
  detail::note_retag(stats_);
}

DeviceAllocator::Block* DeviceAllocator::block_in_use(void* data) {
  const auto found = in_use_.find(data);
  HEARTH_CHECK(found != in_use_.end(), "invalid device pointer: not allocated on cuda:", device_);
  return found->second;
}

void DeviceAllocator::free(void* data, StreamHandle stream) {
  if (!data) return;
  const std::lock_guard lock(mutex_);
  free_locked(block_in_use(data), stream);
}

void DeviceAllocator::free(void* data) {
  const std::lock_guard lock(mutex_);
  Block* const block = block_in_use(data);
  free_locked(block, block->stream);
}

void DeviceAllocator::free_locked(Block* block, StreamHandle stream) {
  in_use_.erase(block->data);
  stats_.allocation.decrease(1);
  stats_.allocated_bytes.decrease(static_cast<int64_t>(block->size));
  count(*block, -static_cast<int64_t>(block->size));
  if (stream != block->stream) block->other_streams.push_back(stream);
  if (block->other_streams.empty()) {
    release_block(block);
    return;
  }
  std::ranges::sort(block->other_streams, std::less<>());
  const auto repeated = std::ranges::unique(block->other_streams);
  block->other_streams.erase(repeated.begin(), repeated.end());
  wait_for_streams(block);
}

/// Makes the block wait for its other streams. If the device has failed, the end of their work is
/// unknown, and the block is never reused. During a capture, events would become part of it.
void DeviceAllocator::wait_for_streams(Block* block) noexcept {
  try {
    if (capture_pools_) return freed_while_capturing_.push_back(block);
    for (StreamHandle other : block->other_streams) events_->add(block, device_, other);
  } catch (const std::exception&) {
    ++block->pending_events;
  }
  block->other_streams.clear();
}

void DeviceAllocator::record_stream(void* data, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(data);
  if (found == in_use_.end() || found->second->stream == stream) return;
  auto& streams = found->second->other_streams;
  if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
}

void DeviceAllocator::begin_capture(GraphPoolId pool) {
  const std::lock_guard lock(mutex_);
  capture_pools_ = &graph_pools_[pool];
  ++capture_pools_->num_graphs;
}

void DeviceAllocator::end_capture() {
  const std::lock_guard lock(mutex_);
  capture_pools_ = nullptr;
  for (Block* block : std::exchange(freed_while_capturing_, {})) wait_for_streams(block);
}

void DeviceAllocator::release_pool(GraphPoolId pool) {
  const std::lock_guard lock(mutex_);
  --graph_pools_[pool].num_graphs;
}

DeviceAllocator::Block* DeviceAllocator::take_cached(const Request& request) {
  Block key{nullptr, request.size, request.stream, request.pools, request.size <= kSmallRequest};
  Pool& pool = pool_of(key);
  const auto found = pool.lower_bound(&key);
  if (found == pool.end() || (*found)->stream != request.stream) return nullptr;
  Block* const block = *found;
  pool.erase(found);
  return block;
}

DeviceAllocator::Block* DeviceAllocator::new_segment(const Request& request, size_t segment_bytes) {
  const auto reserved = static_cast<size_t>(stats_.reserved_bytes.current);
  if (reserved > limit_ || segment_bytes > limit_ - reserved) return nullptr;
  auto* const data = static_cast<std::byte*>(backend_.allocate(device_, segment_bytes));
  if (!data) return nullptr;
  stats_.segment.increase(1);
  stats_.reserved_bytes.increase(static_cast<int64_t>(segment_bytes));
  return new Block{data, segment_bytes, request.stream, request.pools,
                   request.size <= kSmallRequest};
}

/// Called when no segment can be allocated: waits for freed blocks that streams still use. If none
/// of these fits, returns unused segments to the device and allocates again. Captures forbid both.
DeviceAllocator::Block* DeviceAllocator::take_after_release(const Request& request) {
  ++stats_.num_alloc_retries;
  if (!capture_pools_) {
    drain_freed();
    if (Block* const block = take_cached(request)) return block;
    release_all_segments();
    if (Block* const block = new_segment(request, segment_size(request.size))) return block;
  }
  // The remaining memory may hold this block, though not a larger shared segment.
  return new_segment(request, request.size);
}

/// Splits the unneeded end off the block, if it is large enough for another block.
void DeviceAllocator::split(Block* block, size_t size) {
  const size_t rest = block->size - size;
  if (!leaves_block(block->is_small, rest)) return;
  auto* const tail =
      new Block{block->data + size, rest, block->stream, block->pools, block->is_small};
  tail->previous = block;
  tail->next = block->next;
  if (tail->next) tail->next->previous = tail;
  block->next = tail;
  block->size = size;
  pool_of(*tail).insert(tail);
}

void DeviceAllocator::release_block(Block* block) {
  stats_.active_bytes.decrease(static_cast<int64_t>(block->size));
  active_bytes_ -= block->size;
  block->in_use = false;
  absorb(block, block->previous);
  absorb(block, block->next);
  pool_of(*block).insert(block);
}

/// Merges the neighbour into the block if the neighbour is free.
void DeviceAllocator::absorb(Block* block, Block* neighbour) {
  if (!neighbour || neighbour->in_use) return;
  pool_of(*neighbour).erase(neighbour);
  block->size += neighbour->size;
  if (neighbour == block->previous) {
    block->data = neighbour->data;
    block->previous = neighbour->previous;
    if (block->previous) block->previous->next = block;
  } else {
    block->next = neighbour->next;
    if (block->next) block->next->previous = block;
  }
  delete neighbour;
}

void DeviceAllocator::release_segments(Pool& pool) {
  for (auto entry = pool.begin(); entry != pool.end();) {
    Block* const block = *entry;
    if (!block->is_whole_segment()) {
      ++entry;
      continue;
    }
    entry = pool.erase(entry);
    backend_.free(device_, block->data, block->size);
    stats_.segment.decrease(1);
    stats_.reserved_bytes.decrease(static_cast<int64_t>(block->size));
    delete block;
  }
}

/// Releases the unused segments, except those of graphs.
void DeviceAllocator::release_all_segments() {
  for (Pool* pool : {&pools_.small, &pools_.large}) release_segments(*pool);
  for (auto& [id, pools] : graph_pools_)
    if (pools.num_graphs == 0)
      for (Pool* pool : {&pools.small, &pools.large}) release_segments(*pool);
}

void DeviceAllocator::collect_freed() {
  if (capture_pools_) return;  // a capture forbids to query events
  events_->collect([this](Block* block) { release_block(block); });
}

void DeviceAllocator::drain_freed() {
  events_->drain([this](Block* block) { release_block(block); });
}

void DeviceAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  HEARTH_CHECK(!capture_pools_, kNotWhileCapturing);
  drain_freed();
  release_all_segments();
}

MemoryStats DeviceAllocator::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void DeviceAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  for (MemoryStat* stat : {&stats_.allocation, &stats_.allocated_bytes, &stats_.active_bytes,
                           &stats_.segment, &stats_.reserved_bytes})
    stat->reset_peak();
  for (MemoryStat& tag : stats_.tags) tag.reset_peak();
  detail::note_peak(stats_);
  paths_.reset_peak();
}

void DeviceAllocator::set_limit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

size_t DeviceAllocator::limit() {
  const std::lock_guard lock(mutex_);
  return limit_;
}

MemoryReport DeviceAllocator::report(size_t wanted) {
  const std::lock_guard lock(mutex_);
  return locked_report(wanted);
}

MemoryReport DeviceAllocator::locked_report(size_t wanted) {
  MemoryReport report{.device = Device(DeviceType::CUDA, static_cast<DeviceIndex>(device_)),
                      .stats = stats_};
  report.modules = paths_.modules();
  report.limit = limit_;
  report.wanted = wanted;
  backend_.memory_info(device_, report.free_bytes, report.total_bytes);
  for (const Pool* pool : {&pools_.small, &pools_.large})
    for (const Block* block : *pool)
      report.largest_unused = std::max(report.largest_unused, block->size);
  return report;
}

void DeviceAllocator::throw_out_of_memory(size_t bytes) {
  ++stats_.num_ooms;
  throw OutOfMemoryError(device_out_of_memory_text(locked_report(bytes)));
}

size_t device_block_bytes(size_t bytes) {
  const size_t size = round_up(bytes, kMinBlock), segment = segment_size(size);
  return leaves_block(size <= kSmallRequest, segment - size) ? size : segment;
}

DeviceAllocator& device_allocator(Device device) {
  using Allocators = std::vector<std::unique_ptr<DeviceAllocator>>;
  // Never destroyed, because static objects may own tensors.
  static const Allocators& allocators = *[] {
    auto* const created = new Allocators;
    for (int i = 0; i < cuda_device_count(); ++i)
      created->push_back(std::make_unique<DeviceAllocator>(require_cuda(), i));
    return created;
  }();
  return *allocators[static_cast<size_t>(cuda_index(device))];
}

void* device_allocate(Device device, size_t bytes, StreamHandle stream) {
  return device_allocator(device).allocate(bytes, stream, {MemoryTag::Workspace});
}

void device_free(Device device, void* data, StreamHandle stream) {
  device_allocator(device).free(data, stream);
}

void device_record_stream(void* data, Device device, StreamHandle stream) {
  device_allocator(device).record_stream(data, stream);
}

}  // namespace hearth
