#include "distributed/store_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hearth/error.h"

namespace hearth::distributed {

using namespace protocol;

namespace {

constexpr milliseconds kHelloTimeout{10'000};
constexpr milliseconds kPatienceAtEnd{1000};
constexpr size_t kMaxStrangers = 256;
constexpr size_t kMaxUnsent = 2 * kMaxFrame;

/// Compares without a time that depends on the position of the first difference.
bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

std::string failure(std::string_view reason) { return Writer(kFailed).text(reason).frame(); }
std::string ok() { return Writer(kOk).frame(); }
std::string ok_text(std::string_view text) { return Writer(kOk).text(text).frame(); }
std::string ok_number(int64_t number) { return Writer(kOk).number(number).frame(); }

}  // namespace

/// One connection.
struct StoreServer::Client {
  Socket socket;
  bool is_known = false;  // has said hello
  Deadline hello_deadline = Deadline::after(kHelloTimeout);
  std::string received;  // the beginning of a frame
  std::string unsent;
  bool closes = false;  // after `unsent`
  // A command that waits for keys.
  uint8_t waiting_command = 0;
  std::vector<std::string> waiting_keys;
  // A rank that has joined.
  int64_t rank = -1;
  std::string description;
  bool has_left = false;

  short events() const { return static_cast<short>(unsent.empty() ? POLLIN : POLLIN | POLLOUT); }
};

StoreServer::StoreServer(Socket listener, std::string token)
    : listener_(std::move(listener)), token_(std::move(token)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    detail::fail<DistNetworkError>("cannot create a pipe: ", std::strerror(errno));
  wake_reader_ = Socket(ends[0]);
  wake_writer_ = Socket(ends[1]);
  make_nonblocking(listener_.descriptor());
  thread_ = std::thread([this] { serve(); });
}

StoreServer::~StoreServer() { stop(); }

void StoreServer::stop() {
  if (!thread_.joinable()) return;
  const Deadline patience = Deadline::after(kPatienceAtEnd);
  while (num_joined_ > 0 && !patience.has_passed()) std::this_thread::sleep_for(milliseconds(2));
  stops_ = true;
  [[maybe_unused]] const ssize_t written = write(wake_writer_.descriptor(), "", 1);
  thread_.join();
  clients_.clear();
  listener_ = Socket();
}

void StoreServer::serve() {
  std::vector<pollfd> entries;
  while (!stops_) {
    const bool accepts = accept_pause_.is_never() || accept_pause_.has_passed();
    entries.assign({{wake_reader_.descriptor(), POLLIN, 0},
                    {accepts ? listener_.descriptor() : -1, POLLIN, 0}});
    for (const auto& client : clients_)
      entries.push_back({client->socket.descriptor(), client->events(), 0});
    if (poll(entries.data(), entries.size(), 1000) < 0 && errno != EINTR) break;
    auto client = clients_.begin();
    for (size_t i = 2; i < entries.size(); ++i) {
      const auto current = client++;
      bool stays = true;
      try {
        stays = entries[i].revents == 0 || handle(**current, entries[i].revents);
      } catch (const std::exception&) {
        stays = false;  // it broke a rule of the protocol
      }
      if (!stays) remove(current);
    }
    if (table_changed_) retry_waiting();
    drop_slow_strangers();
    if (entries[1].revents) accept_clients();
  }
  broadcast(Writer(kClosing).frame());
}

void StoreServer::accept_clients() {
  accept_pause_ = Deadline::never();
  while (true) {
    Socket socket(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
        accept_pause_ = Deadline::after(milliseconds(500));
      return;
    }
    const int on = 1;
    setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket.descriptor(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    clients_.push_back(std::make_unique<Client>());
    clients_.back()->socket = std::move(socket);
  }
}

bool StoreServer::handle(Client& client, short events) {
  if ((events & POLLOUT) && !flush(client)) return false;
  if (client.closes) return !client.unsent.empty();
  if (events & (POLLIN | POLLHUP | POLLERR)) return receive(client);
  return true;
}

/// Reads what has arrived; returns whether the client stays.
bool StoreServer::receive(Client& client) {
  char buffer[64 * 1024];
  while (true) {
    const ssize_t count = ::recv(client.socket.descriptor(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (count <= 0) return false;
    client.received.append(buffer, static_cast<size_t>(count));
    if (!handle_frames(client)) return false;
    if (static_cast<size_t>(count) < sizeof buffer) return true;
  }
}

bool StoreServer::handle_frames(Client& client) {
  size_t begin = 0;
  while (client.received.size() - begin >= kHeader && !client.closes) {
    const size_t size = frame_size(client.received.data() + begin);
    if (size > (client.is_known ? kMaxFrame : kMaxHello)) return false;
    if (client.received.size() - begin - kHeader < size) break;
    if (!handle_frame(client, std::string_view(client.received).substr(begin + kHeader, size)))
      return false;
    begin += kHeader + size;
  }
  client.received.erase(0, begin);
  return true;
}

bool StoreServer::handle_frame(Client& client, std::string_view frame) {
  if (client.waiting_command) return false;  // it must wait for the answer
  Reader request(frame);
  const uint8_t command = request.kind();
  if (!client.is_known) return command == kHello && greet(client, request);
  return execute(client, command, request);
}

bool StoreServer::greet(Client& client, Reader& request) {
  const std::string name = request.text(), token = request.text();
  request.expect_end();
  if (name != kName) return false;
  client.is_known = equal_secrets(token, token_);
  if (client.is_known) {
    send(client, ok());
  } else {
    client.closes = true;
    send(client, Writer(kRefused).text("the token is wrong").frame());
  }
  return flush(client);
}

bool StoreServer::execute(Client& client, uint8_t command, Reader& request) {
  switch (command) {
    case kGet:
    case kPop:
      client.waiting_keys = {request.text()};
      if (command == kPop && request.number() == 0 &&
          table_.queue_length(client.waiting_keys[0]) == 0) {
        send(client, failure("queue is empty"));
        break;
      }
      client.waiting_command = command;
      retry(client);
      break;
    case kWait:
      client.waiting_keys = request.list();
      client.waiting_command = command;
      retry(client);
      break;
    case kJoin:
      if (client.rank >= 0) return false;
      client.rank = request.number();
      if (client.rank < 0) return false;
      ++num_joined_;
      client.description = request.text();
      send(client, ok());
      break;
    case kAnnounce: broadcast(Writer(kAnnounced).text(request.text()).frame()); break;
    case kLeave:
      if (client.rank < 0 || client.has_left) return false;
      client.has_left = true;
      --num_joined_;
      break;
    default:
      if (!read_or_change(client, command, request)) return false;
  }
  request.expect_end();
  return flush(client);
}

/// The commands that are answered at once; returns false for an unknown one.
bool StoreServer::read_or_change(Client& client, uint8_t command, Reader& request) {
  if (command == kNumKeys) return send(client, ok_number(table_.size())), true;
  if (command == kListKeys) return send(client, Writer(kOk).list(table_.keys()).frame()), true;
  if (command == kCheck) return send(client, ok_number(table_.has_all(request.list()))), true;
  const std::string key = request.text();
  table_changed_ |= command != kLength;
  switch (command) {
    case kSet: table_.set(key, request.text()); break;
    case kAppend: table_.append(key, request.text()); break;
    case kPush: table_.push(key, request.text()); break;
    case kDelete: return send(client, ok_number(table_.erase(key))), true;
    case kLength: return send(client, ok_number(table_.queue_length(key))), true;
    case kCompareSet: {
      const std::string expected = request.text();
      return send(client, ok_text(table_.compare_set(key, expected, request.text()))), true;
    }
    case kAdd: try { return send(client, ok_number(table_.add(key, request.number()))), true;
      } catch (const DistStoreError& error) {
        return send(client, failure(error.what())), true;
      }
    default: return false;
  }
  send(client, ok());
  return true;
}

void StoreServer::retry_waiting() {
  table_changed_ = false;
  for (const auto& client : clients_)
    if (client->waiting_command && retry(*client)) flush(*client);
}

/// Answers a waiting command if it need not wait any more.
bool StoreServer::retry(Client& client) {
  const std::string& key =
      client.waiting_keys.empty() ? client.description : client.waiting_keys[0];
  if (client.waiting_command == kPop) {
    std::string value;
    if (!table_.pop(key, value)) return false;
    send(client, ok_text(value));
  } else if (!table_.has_all(client.waiting_keys)) {
    return false;
  } else {
    send(client, client.waiting_command == kGet ? ok_text(*table_.find(key)) : ok());
  }
  client.waiting_command = 0;
  client.waiting_keys.clear();
  return true;
}

void StoreServer::send(Client& client, std::string frame) { client.unsent += frame; }

/// Sends what the connection takes now; returns whether the client stays.
bool StoreServer::flush(Client& client) {
  size_t sent = 0;
  while (sent < client.unsent.size()) {
    const ssize_t count = ::send(client.socket.descriptor(), client.unsent.data() + sent,
                                 client.unsent.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (count < 0) break;
    sent += static_cast<size_t>(count);
  }
  client.unsent.erase(0, sent);
  return client.unsent.size() <= kMaxUnsent && !(client.closes && client.unsent.empty());
}

void StoreServer::broadcast(const std::string& frame) {
  for (const auto& client : clients_) {
    if (client->rank < 0) continue;
    send(*client, frame);
    flush(*client);  // a broken connection is found by the next poll
  }
}

void StoreServer::remove(Clients::iterator position) {
  const std::unique_ptr<Client> client = std::move(*position);
  clients_.erase(position);
  if (client->rank < 0) return;
  if (!client->has_left) --num_joined_;
  broadcast(Writer(client->has_left ? kLeft : kLost)
                .number(client->rank)
                .text(client->description)
                .frame());
}

void StoreServer::drop_slow_strangers() {
  size_t strangers = 0;
  for (auto client = clients_.end(); client != clients_.begin();) {
    const auto current = --client;
    if ((*current)->is_known) continue;
    if (++strangers > kMaxStrangers || (*current)->hello_deadline.has_passed())
      client = clients_.erase(current);
  }
}

}  // namespace hearth::distributed
