#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "seam/backend.h"

namespace hearth {

/// Memory blocks that were freed while streams might still use them. A block waits for one event
/// per stream; `Block::pending_events` counts them. The class does not lock.
template <class Block>
class EventQueue {
 public:
  explicit EventQueue(Backend& backend) : backend_(backend) {}
  ~EventQueue() {
    for (auto& [device, events] : spare_)
      for (EventHandle event : events) destroy(event);
  }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Makes the block wait for all work now in the stream.
  void add(Block* block, int device, StreamHandle stream) {
    const EventHandle event = take_event(device);
    backend_.record(event, device, stream);
    waiting_[{device, stream}].push_back({event, block});
    ++block->pending_events;
  }

  /// Calls ready(block) for each block whose events have all occurred.
  template <class F>
  void collect(const F& ready) {
    for (auto& [stream, entries] : waiting_)
      while (!entries.empty() && backend_.query(entries.front().event)) pop(stream, entries, ready);
  }

  /// Waits for the events of all blocks and calls ready(block) for each.
  template <class F>
  void drain(const F& ready) {
    for (auto& [stream, entries] : waiting_)
      while (!entries.empty()) {
        backend_.synchronize(entries.front().event);
        pop(stream, entries, ready);
      }
  }

 private:
  using DeviceStream = std::pair<int, StreamHandle>;
  struct Entry {
    EventHandle event;
    Block* block;
  };

  void destroy(EventHandle event) noexcept {
    try {
      backend_.destroy_event(event);
    } catch (...) {
      // The device has failed, and its events are lost.
    }
  }

  EventHandle take_event(int device) {
    auto& spare = spare_[device];
    if (spare.empty()) return backend_.create_event(device, false);
    const EventHandle event = spare.back();
    spare.pop_back();
    return event;
  }

  template <class F>
  void pop(const DeviceStream& stream, std::deque<Entry>& entries, const F& ready) {
    const Entry entry = entries.front();
    entries.pop_front();
    spare_[stream.first].push_back(entry.event);
    if (--entry.block->pending_events == 0) ready(entry.block);
  }

  Backend& backend_;
  std::map<DeviceStream, std::deque<Entry>> waiting_;
  std::map<int, std::vector<EventHandle>> spare_;  // by device
};

}  // namespace hearth
