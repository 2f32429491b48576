#include "distributed/membership.h"

#include <algorithm>

#include "distributed/store_connections.h"

namespace hearth::distributed {

using protocol::Reader;
using protocol::Writer;

namespace {

constexpr milliseconds kSendTimeout{1000};

}  // namespace

void throw_rank_is_taken(int rank, const std::string& me, const std::string& other) {
  detail::fail<DistStoreError>("two processes have rank ", rank, ": this one (", me, ") and ",
                               other, "; give each process its own RANK, and each job a new store");
}

Membership::Membership(TCPStore& store, int rank, const std::string& description)
    : socket_(store.connections_->connect(store.getTimeout())),
      place_(store.connections_->place()) {
  const Deadline deadline = Deadline::after(store.getTimeout());
  socket_.send_all(Writer(protocol::kJoin).number(rank).text(description).frame(), deadline);
  const std::string frame = receive_frame(socket_, deadline);
  Reader answer(frame);
  if (answer.kind() != protocol::kOk) throw_rank_is_taken(rank, description, answer.text());
  thread_ = std::thread([this] { listen(); });
}

void Membership::leave(milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    if (leaves_) return;
    leaves_ = true;
    listeners_.clear();
  }
  try {
    const std::lock_guard lock(sending_);
    socket_.send_all(Writer(protocol::kLeave).frame(), Deadline::after(kSendTimeout));
  } catch (const DistNetworkError&) {
    // The server has ended before.
  }
  {
    std::unique_lock lock(mutex_);
    closed_.wait_for(lock, patience, [this] { return server_closed_; });
  }
  socket_.shut_down();
  thread_.join();
}

void Membership::add(MembershipListener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(&listener);
}

void Membership::remove(MembershipListener& listener) {
  const std::lock_guard lock(mutex_);
  std::erase(listeners_, &listener);
}

void Membership::announce(const std::string& text) {
  const std::lock_guard lock(sending_);
  socket_.send_all(Writer(protocol::kAnnounce).text(text).frame(), Deadline::after(kSendTimeout));
}

template <class F>
void Membership::tell(const F& call) {
  const std::lock_guard lock(mutex_);
  for (MembershipListener* const listener : listeners_) call(*listener);
}

void Membership::listen() {
  try {
    while (true) handle(receive_frame(socket_, Deadline::never()));
  } catch (const std::exception&) {
    tell([&](MembershipListener& listener) {
      if (!leaves_ && !server_closed_) listener.on_lost(MembershipListener::kStoreServer, place_);
    });
    note_closed_server();
  }
}

void Membership::note_closed_server() {
  const std::lock_guard lock(mutex_);
  server_closed_ = true;
  closed_.notify_all();
}

void Membership::handle(const std::string& frame) {
  Reader event(frame);
  switch (event.kind()) {
    case protocol::kAnnounced: {
      const std::string text = event.text();
      tell([&](MembershipListener& listener) { listener.on_announcement(text); });
      break;
    }
    case protocol::kLeft: {
      const int rank = static_cast<int>(event.number());
      tell([&](MembershipListener& listener) { listener.on_left(rank); });
      break;
    }
    case protocol::kLost: {
      const int rank = static_cast<int>(event.number());
      const std::string description = event.text();
      tell([&](MembershipListener& listener) { listener.on_lost(rank, description); });
      break;
    }
    case protocol::kClosing: note_closed_server(); break;
    default: break;
  }
}

}  // namespace hearth::distributed
