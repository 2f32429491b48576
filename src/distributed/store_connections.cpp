#include "distributed/store_connections.h"

#include <thread>

#include "distributed/key_table.h"
#include "hearth/distributed/tcp_store.h"

namespace hearth::distributed {

using protocol::Reader;
using protocol::Writer;
using NetworkReason = StoreConnectionError::Reason;

std::string receive_frame(const Socket& socket, Deadline deadline) {
  char header[protocol::kHeader];
  socket.receive_all(header, sizeof header, deadline);
  const size_t size = protocol::frame_size(header);
  if (size > protocol::kMaxFrame)
    throw StoreConnectionError(NetworkReason::kForeignServer,
                               "the peer does not speak the store's protocol");
  std::string frame(size, '\0');
  socket.receive_all(frame.data(), size, deadline);
  return frame;
}

std::string StoreConnections::place() const {
  return detail::str("the store at ", host_, ":", port_);
}

/// Sends the hello and returns the answer; empty if the server closed the connection, for example
/// because it was about to end.
std::string StoreConnections::greet(const Socket& socket, Deadline deadline) const {
  Writer hello(protocol::kHello);
  try {
    hello.text(protocol::kName).text(greeting_.token).text(greeting_.launch_id);
    socket.send_all(hello.number(greeting_.round).frame(), deadline);
    return receive_frame(socket, deadline);
  } catch (const ConnectionClosed&) {
    return "";
  }
}

Socket StoreConnections::connect(milliseconds timeout) {
  try {
    return connect_and_greet(timeout);
  } catch (const CannotConnect& error) {
    throw StoreConnectionError(NetworkReason::kUnreachable, error.msg(),
                               "; check that rank 0 runs, and MASTER_ADDR and MASTER_PORT");
  } catch (const TimedOut& error) {
    throw StoreConnectionError(NetworkReason::kNoAnswer, error.msg());
  }
}

Socket StoreConnections::connect_and_greet(milliseconds timeout) {
  constexpr milliseconds kRetryTime{3000}, kPause{50};
  const Deadline deadline = Deadline::after(timeout);
  const Deadline last_retry = Deadline::after(kRetryTime);
  // A server that has answered before does not start again.
  const Deadline last_try = was_connected_ ? Deadline::after(milliseconds(1)) : deadline;
  Socket socket = connect_to(host_, port_, deadline, last_try);
  std::string frame = greet(socket, deadline);
  while (may_be_replaced(frame, last_retry) && deadline.left() > kPause) {
    std::this_thread::sleep_for(kPause);
    socket = connect_to(host_, port_, deadline, last_try);
    frame = greet(socket, deadline);
  }
  check_answer(frame);
  was_connected_ = true;
  return socket;
}

/// Whether the server that gave this answer (empty: none) may be an earlier one, which soon ends
/// and makes room for the one that this process looks for.
bool StoreConnections::may_be_replaced(const std::string& frame, Deadline last_retry) const {
  if (frame.empty()) return !last_retry.has_passed();
  Reader answer(frame);
  const uint8_t kind = answer.kind();
  if (kind == protocol::kOtherLaunch) return !last_retry.has_passed();
  return kind == protocol::kOtherRound && answer.number() < greeting_.round;
}

/// Throws unless the answer to the hello, which may be empty, admits this process.
void StoreConnections::check_answer(const std::string& frame) const {
  Reader answer(frame);
  const uint8_t kind = frame.empty() ? uint8_t(protocol::kFailed) : answer.kind();
  if (kind == protocol::kRefused)
    throw StoreConnectionError(NetworkReason::kWrongToken,
                               place() + " refused this process, because its token is wrong",
                               "; start all processes with the same HEARTH_RDZV_TOKEN");
  if (kind == protocol::kOtherLaunch)
    throw StoreConnectionError(NetworkReason::kOtherLaunch,
                               place() + " refused this process, because it is of another launch",
                               "; end all processes of the earlier launch, or use another "
                               "MASTER_PORT");
  if (kind == protocol::kOtherRound)
    throw StoreConnectionError(
        NetworkReason::kOtherRound,
        detail::str(place(), " refused this process, because it is of round ", greeting_.round,
                    " of the job, and the store of round ", answer.number()),
        "; all processes of the earlier round must end");
  if (kind != protocol::kOk)
    throw StoreConnectionError(NetworkReason::kForeignServer,
                               place() + " did not answer as a store of Hearth does",
                               "; check MASTER_ADDR and MASTER_PORT");
}

Socket StoreConnections::borrow(milliseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Socket socket = std::move(idle_.back());
      idle_.pop_back();
      return socket;
    }
  }
  return connect(timeout);
}

void StoreConnections::give_back(Socket socket) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(socket));
}

std::string StoreConnections::local_address(milliseconds timeout) {
  Socket socket = borrow(timeout);
  std::string address = address_of(socket);
  give_back(std::move(socket));
  return address;
}

Reader StoreConnections::call(Writer& command, milliseconds timeout, std::string& answer,
                              const std::vector<std::string>& waited_for) {
  const Deadline deadline = Deadline::after(timeout);
  const std::string request = command.frame();
  Socket socket;
  try {
    socket = borrow(timeout);
    socket.send_all(request, deadline);
    answer = receive_frame(socket, deadline);
  } catch (const DistNetworkError& error) {
    if (deadline.has_passed() && !waited_for.empty())
      throw_store_timeout(waited_for, timeout.count());
    if (!socket) throw;
    const bool has_timed_out = dynamic_cast<const TimedOut*>(&error) != nullptr;
    throw StoreConnectionError(
        has_timed_out ? NetworkReason::kNoAnswer : NetworkReason::kClosed,
        detail::str("lost ", place(), ", which rank 0 serves: ", error.what()));
  }
  give_back(std::move(socket));
  Reader reader(answer);
  if (reader.kind() != protocol::kOk) throw DistStoreError(reader.text());
  return reader;
}

}  // namespace hearth::distributed
