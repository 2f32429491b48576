#include "distributed/store_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hearth/distributed/tcp_store.h"
#include "hearth/error.h"

namespace hearth::distributed {

using namespace protocol;

namespace {

constexpr milliseconds kHelloTimeout{10'000};
constexpr milliseconds kPatienceAtEnd{1000};
constexpr size_t kMaxStrangers = 256;  // clients without an accepted hello
constexpr size_t kMaxUnsent = 2 * kMaxFrame;

Answer answer_to(const Greeting& greeting, const Greeting& expected) {
  // The launches are compared before the tokens, because each launch draws a token of its own
  // unless the user gives one.
  if (!greeting.launch_id.empty() && !expected.launch_id.empty() &&
      greeting.launch_id != expected.launch_id)
    return kOtherLaunch;
  if (!detail::equal_secrets(greeting.token, expected.token)) return kRefused;
  const bool are_known = greeting.round >= 0 && expected.round >= 0;
  return are_known && greeting.round != expected.round ? kOtherRound : kOk;
}

Writer failure(std::string_view reason) { return Writer(kFailed).text(reason); }
Writer ok() { return Writer(kOk); }
Writer ok_text(std::string_view text) { return Writer(kOk).text(text); }
Writer ok_number(int64_t number) { return Writer(kOk).number(number); }

}  // namespace

/// One connection.
struct StoreServer::Client {
  Socket socket;
  bool is_known = false;  // its hello was accepted
  Deadline hello_deadline = Deadline::after(kHelloTimeout);
  std::string received;  // the beginning of a frame
  std::string unsent;
  size_t sent = 0;      // bytes of `unsent`
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

StoreServer::StoreServer(Socket listener, Greeting expected)
    : listener_(std::move(listener)), expected_(std::move(expected)) {
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
    const bool accepts = accept_again_.is_never() || accept_again_.has_passed();
    entries.assign({{wake_reader_.descriptor(), POLLIN, 0},
                    {accepts ? listener_.descriptor() : -1, POLLIN, 0}});
    for (const auto& client : clients_)
      entries.push_back({client->socket.descriptor(), client->events(), 0});
    if (poll(entries.data(), entries.size(), 1000) < 0 && errno != EINTR) break;
    auto client = clients_.begin();
    for (size_t i = 2; i < entries.size(); ++i) {
      const auto current = client++;
      if (const short events = entries[i].revents)
        keep_if(current, [&] { return handle(**current, events); });
    }
    if (table_changed_) retry_waiting();
    drop_slow_strangers();
    if (entries[1].revents) accept_clients();
  }
  broadcast(Writer(kClosing).frame());
}

void StoreServer::accept_clients() {
  accept_again_ = Deadline::never();
  while (true) {
    Socket socket(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK)
        accept_again_ = Deadline::after(milliseconds(500));  // e.g. for lack of descriptors
      return;
    }
    const int on = 1;
    setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    keep_alive(socket.descriptor());
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

/// Reads the bytes that have arrived; returns whether the client stays.
bool StoreServer::receive(Client& client) {
  constexpr int kReads = 16;  // then the other clients get their turn
  char buffer[64 * 1024];
  for (int i = 0; i < kReads; ++i) {
    const ssize_t count = ::recv(client.socket.descriptor(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (count <= 0) return false;
    client.received.append(buffer, static_cast<size_t>(count));
    if (!handle_frames(client)) return false;
    if (static_cast<size_t>(count) < sizeof buffer) return true;
  }
  return true;
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
  if (client.waiting_command) return false;  // the client must wait for its answer
  Reader request(frame);
  const uint8_t command = request.kind();
  if (!client.is_known) return command == kHello && greet(client, request);
  return execute(client, command, request);
}

bool StoreServer::greet(Client& client, Reader& request) {
  if (request.text() != kName) return false;
  Greeting greeting;
  greeting.token = request.text();
  greeting.launch_id = request.text();
  greeting.round = request.number();
  request.expect_end();
  const Answer answer = answer_to(greeting, expected_);
  client.is_known = answer == kOk;
  client.closes = !client.is_known;
  Writer message(answer);
  if (answer == kOtherRound) message.number(expected_.round);
  send(client, std::move(message));
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
      if (!join(client, request)) return false;
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

/// Lets the client stand for a rank; refuses a second process with the same rank.
bool StoreServer::join(Client& client, Reader& request) {
  const int64_t rank = request.number();
  const std::string description = request.text();
  if (client.rank >= 0 || rank < 0) return false;
  for (const auto& other : clients_)
    if (other->rank == rank && !other->has_left)
      return send(client, failure(other->description)), true;
  client.rank = rank;
  client.description = description;
  ++num_joined_;
  send(client, ok());
  return true;
}

/// The commands that are answered at once; returns false for an unknown one.
bool StoreServer::read_or_change(Client& client, uint8_t command, Reader& request) {
  if (command == kNumKeys) return send(client, ok_number(table_.size())), true;
  if (command == kListKeys) return send(client, Writer(kOk).list(table_.keys())), true;
  if (command == kReadAll)
    return send(client, Writer(kOk).list(table_.entries(request.text()))), true;
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
    case kAdd: {
      const int64_t number = request.number();
      try {
        send(client, ok_number(table_.add(key, number)));
      } catch (const DistStoreError& error) {
        send(client, failure(error.msg()));  // the key has no number
      }
      return true;
    }
    default: return false;
  }
  send(client, ok());
  return true;
}

void StoreServer::retry_waiting() {
  table_changed_ = false;
  for (auto client = clients_.begin(); client != clients_.end();) {
    const auto current = client++;
    if ((*current)->waiting_command)
      keep_if(current, [&] { return !retry(**current) || flush(**current); });
  }
}

/// Answers a waiting command if it need not wait any more.
bool StoreServer::retry(Client& client) {
  std::vector<std::string>& keys = client.waiting_keys;
  if (client.waiting_command == kPop) {
    std::string value;
    if (!table_.pop(keys[0], value)) return false;
    send(client, ok_text(value));
  } else if (client.waiting_command == kGet) {
    const std::string* const value = table_.find(keys[0]);
    if (!value) return false;
    send(client, ok_text(*value));
  } else {
    // Each key is found once, however often the table changes.
    while (!keys.empty() && table_.find(keys.back())) keys.pop_back();
    if (!keys.empty()) return false;
    send(client, ok());
  }
  client.waiting_command = 0;
  keys.clear();
  return true;
}

/// Appends an answer, or an error if it is too large, to the client's unsent bytes.
void StoreServer::send(Client& client, Writer answer) {
  try {
    client.unsent += answer.frame();
  } catch (const DistStoreError& error) {
    client.unsent += failure(error.msg()).frame();
  }
}

/// Sends the bytes that the connection takes now; returns whether the client stays.
bool StoreServer::flush(Client& client) {
  std::string& data = client.unsent;
  while (client.sent < data.size()) {
    const ssize_t count = ::send(client.socket.descriptor(), data.data() + client.sent,
                                 data.size() - client.sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (count < 0) break;
    client.sent += static_cast<size_t>(count);
  }
  if (client.sent > data.size() / 2) {  // not each time, because the rest is moved
    data.erase(0, client.sent);
    client.sent = 0;
  }
  return data.size() - client.sent <= kMaxUnsent && !(client.closes && data.empty());
}

void StoreServer::broadcast(const std::string& frame) {
  for (const auto& client : clients_) {
    if (client->rank < 0) continue;
    client->unsent += frame;
    flush(*client);  // a broken connection is found by the next poll
  }
}

/// Removes a client unless `stays` returns true.
template <class F>
void StoreServer::keep_if(Clients::iterator client, const F& stays) {
  try {
    if (stays()) return;
  } catch (const std::exception&) {
    // It broke a rule of the protocol, or its message needs too much memory.
  }
  remove(client);
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

/// Removes clients without an accepted hello: after their time and, if they are too many, the
/// oldest ones.
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
