#include "distributed/store_connections.h"

#include "distributed/key_table.h"
#include "hearth/error.h"

namespace hearth::distributed {

using protocol::Reader;
using protocol::Writer;

std::string receive_frame(const Socket& socket, Deadline deadline) {
  char header[protocol::kHeader];
  socket.receive_all(header, sizeof header, deadline);
  const size_t size = protocol::frame_size(header);
  HEARTH_CHECK_AS(DistNetworkError, size <= protocol::kMaxFrame,
                  "the peer does not speak the store's protocol");
  std::string frame(size, '\0');
  socket.receive_all(frame.data(), size, deadline);
  return frame;
}

std::string StoreConnections::place() const {
  return detail::str("the store at ", host_, ":", port_);
}

Socket StoreConnections::connect(milliseconds timeout) const {
  const Deadline deadline = Deadline::after(timeout);
  Socket socket = connect_to(host_, port_, deadline);
  std::string frame;
  try {
    socket.send_all(Writer(protocol::kHello).text(protocol::kName).text(token_).frame(), deadline);
    frame = receive_frame(socket, deadline);
  } catch (const DistNetworkError& error) {
    detail::fail<DistNetworkError>(place(), " did not answer as a store of Hearth does: ",
                                   error.what(), "; check MASTER_ADDR and MASTER_PORT");
  }
  Reader answer(frame);
  const uint8_t kind = answer.kind();
  HEARTH_CHECK_AS(DistNetworkError, kind != protocol::kRefused, place(),
                  " refused this process: ", answer.text(),
                  "; start all processes with the same HEARTH_RDZV_TOKEN");
  HEARTH_CHECK_AS(DistNetworkError, kind == protocol::kOk, place(),
                  " did not answer as a store of Hearth does; check MASTER_ADDR and MASTER_PORT");
  return socket;
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
  Socket socket = borrow(timeout);
  try {
    socket.send_all(request, deadline);
    answer = receive_frame(socket, deadline);
  } catch (const DistNetworkError& error) {
    if (deadline.has_passed()) throw_store_timeout(waited_for, timeout.count());
    detail::fail<DistNetworkError>("lost ", place(), ", which rank 0 serves: ", error.what());
  }
  give_back(std::move(socket));
  Reader reader(answer);
  if (reader.kind() != protocol::kOk) throw DistStoreError(reader.text());
  return reader;
}

}  // namespace hearth::distributed
