#pragma once

#include <chrono>
#include <functional>

#include "heartbeat.h"
#include "lines.h"
#include "outlet.h"
#include "rendezvous_message.h"

namespace hearth::app {

/// A connection between a launcher and the host of the rendezvous. A connection that ends, is
/// silent for longer than the time-out or breaks the protocol is lost.
class RendezvousLink {
 public:
  /// The functions must not destroy the link.
  struct Events {
    std::function<void(const RendezvousMessage&)> message;
    std::function<void()> lost;
  };
  /// Takes over the socket, which must be non-blocking.
  RendezvousLink(EventLoop& loop, int socket, std::chrono::seconds timeout, Events events);
  ~RendezvousLink();
  RendezvousLink(const RendezvousLink&) = delete;
  RendezvousLink& operator=(const RendezvousLink&) = delete;

  void send(const RendezvousMessage& message) { out_.write(encode(message) + "\n"); }
  bool is_lost() const { return is_lost_; }
  /// Whether all messages have been sent, or cannot be any more.
  bool is_flushed() const { return is_lost_ || out_.pending() == 0; }

 private:
  /// A file descriptor of the socket that is only read or only written: the loop cannot watch one
  /// descriptor for both.
  struct End {
    int file;
    ~End();
  };
  void read();
  void lose();

  EventLoop& loop_;
  const Events events_;
  const End in_end_, out_end_;
  Lines in_;
  Outlet out_;
  Heartbeat heartbeat_;
  bool is_lost_ = false;
};

}  // namespace hearth::app
