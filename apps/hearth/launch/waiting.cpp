#include "waiting.h"

#include <poll.h>

namespace hearth::app {

int wait_until(EventLoop& loop, const SignalReader& signals, const std::function<bool()>& is_done,
               std::optional<EventLoop::Clock::time_point> until) {
  int ending = 0;
  loop.watch(signals.file(), POLLIN, [&] {
    while (const auto signal = signals.next())
      if (asks_to_end(*signal)) ending = *signal;
  });
  while (!is_done() && !ending && !(until && EventLoop::Clock::now() >= *until))
    loop.run_once(until);
  loop.forget(signals.file());
  return ending;
}

}  // namespace hearth::app
