#include "rendezvous_link.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace hearth::app {

namespace {

constexpr size_t kLongestRendezvousLine = 1 << 16;

}  // namespace

RendezvousLink::End::~End() { close(file); }

RendezvousLink::RendezvousLink(EventLoop& loop, int socket, std::chrono::seconds timeout,
                               Events events)
    : loop_(loop),
      events_(std::move(events)),
      in_end_{socket},
      out_end_{fcntl(socket, F_DUPFD_CLOEXEC, 0)},
      in_(
          [this](const std::string& line) {
            if (is_lost_) return;
            const auto message = decode_rendezvous(line);
            if (!message) return lose();
            if (message->kind != RendezvousMessage::Kind::kAlive) events_.message(*message);
          },
          kLongestRendezvousLine),
      out_(loop, out_end_.file),
      heartbeat_(loop, timeout,
                 {[this] {
                    RendezvousMessage alive;
                    alive.kind = RendezvousMessage::Kind::kAlive;
                    send(alive);
                  },
                  [this] { lose(); }}) {
  loop_.watch(socket, POLLIN, [this] { read(); });
}

RendezvousLink::~RendezvousLink() { loop_.forget(in_end_.file); }

void RendezvousLink::read() {
  heartbeat_.heard();
  if (in_.read_from(in_end_.file) == Lines::Read::kEnd) lose();
}

void RendezvousLink::lose() {
  if (is_lost_) return;
  is_lost_ = true;
  loop_.forget(in_end_.file);
  events_.lost();
}

}  // namespace hearth::app
