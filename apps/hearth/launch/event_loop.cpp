#include "event_loop.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "hearth/error.h"

namespace hearth::app {

namespace {

/// The milliseconds until this time, for poll(); -1 stands for no limit.
int milliseconds_until(std::optional<EventLoop::Clock::time_point> time) {
  if (!time) return -1;
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*time - EventLoop::Clock::now());
  return static_cast<int>(std::clamp<int64_t>(rest.count(), 0, 1 << 30));
}

}  // namespace

void EventLoop::watch(int file, short events, std::function<void()> on_ready, bool can_wait) {
  watches_[file] = {events, std::make_shared<Function>(std::move(on_ready)), can_wait};
}

void EventLoop::forget(int file) { watches_.erase(file); }

void EventLoop::run_once(std::optional<Clock::time_point> until) {
  std::vector<pollfd> files;
  std::vector<std::shared_ptr<const Function>> functions;
  const bool is_open = is_open_();
  for (const auto& [file, watch] : watches_)
    if (is_open || !watch.can_wait) {
      files.push_back({file, watch.events, 0});
      functions.push_back(watch.on_ready);
    }
  const int count = poll(files.data(), files.size(), milliseconds_until(until));
  HEARTH_CHECK(count >= 0 || errno == EINTR, "poll failed: ", std::strerror(errno));
  if (count <= 0) return;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto found = watches_.find(files[i].fd);
    // An earlier function may have called forget(), and watch() for another file with this number.
    const bool is_watched = found != watches_.end() && found->second.on_ready == functions[i];
    if (files[i].revents != 0 && is_watched) (*functions[i])();
  }
}

}  // namespace hearth::app
