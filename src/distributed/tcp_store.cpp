#include "hearth/distributed/tcp_store.h"

#include <algorithm>
#include <cstdlib>

#include "distributed/bytes_text.h"
#include "distributed/store_connections.h"
#include "distributed/store_server.h"

namespace hearth::distributed {

using protocol::Reader;
using protocol::Writer;

namespace {

std::string token_of(const TCPStoreOptions& options) {
  if (options.token) return *options.token;
  const char* const token = std::getenv("HEARTH_RDZV_TOKEN");
  return token ? token : "";
}

protocol::Greeting greeting_of(const TCPStoreOptions& options) {
  protocol::Greeting greeting{token_of(options), options.launch_id};
  const auto check_length = [](const char* name, size_t length, size_t limit) {
    HEARTH_CHECK_AS(ValueError, length <= limit, name, " has ", length, " characters; at most ",
                    limit, " are allowed");
  };
  check_length("the token of the store", greeting.token.size(), protocol::kMaxHello / 2);
  check_length("the id of the launch", greeting.launch_id.size(), protocol::kMaxHello / 4);
  if (options.round) greeting.round = *options.round;
  return greeting;
}

}  // namespace

StoreConnectionError::StoreConnectionError(Reason reason, std::string cause,
                                           const std::string& remedy)
    : DistNetworkError(cause + remedy), reason_(reason), cause_(std::move(cause)) {}
StoreConnectionError::~StoreConnectionError() = default;

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : Store(options.timeout), host_(std::move(host)), port_(options.port) {
  const protocol::Greeting greeting = greeting_of(options);
  if (options.isServer) {
    Socket listener = options.masterListenFd ? listen_with(*options.masterListenFd)
                                             : listen_on(host_, options.port);
    server_ = std::make_shared<StoreServer>(std::move(listener), greeting);
    port_ = server_->port();
  }
  connections_ = std::make_shared<StoreConnections>(host_, port_, greeting);
  connections_->local_address(timeout_);  // connects, and throws if there is no server
  if (options.numWorkers) wait_for_workers(options);
}

TCPStore::~TCPStore() = default;

void TCPStore::wait_for_workers(const TCPStoreOptions& options) {
  const std::string key = "/init";
  const int64_t joined = add(key, 1);
  if (joined == static_cast<int64_t>(*options.numWorkers)) set(key + "/all", Bytes());
  if (!options.isServer || !options.waitWorkers) return;
  try {
    wait({key + "/all"}, timeout_);
  } catch (const DistStoreError&) {
    detail::fail<DistStoreError>("Timed out after ", timeout_.count() / 1000,
                                 " seconds waiting for clients. ", add(key, 0), "/",
                                 *options.numWorkers, " clients joined.");
  }
}

std::shared_ptr<Store> TCPStore::clone() { return std::shared_ptr<Store>(new TCPStore(*this)); }

void TCPStore::set(const std::string& key, const Bytes& value) {
  std::string answer;
  connections_->call(Writer(protocol::kSet).text(key).text(to_text(value)), timeout_, answer);
}

Store::Bytes TCPStore::get(const std::string& key) {
  std::string answer;
  return to_bytes(
      connections_->call(Writer(protocol::kGet).text(key), timeout_, answer, {key}).text());
}

int64_t TCPStore::add(const std::string& key, int64_t value) {
  std::string answer;
  return connections_->call(Writer(protocol::kAdd).text(key).number(value), timeout_, answer)
      .number();
}

Store::Bytes TCPStore::compareSet(const std::string& key, const Bytes& expected,
                                  const Bytes& desired) {
  std::string answer;
  Writer command(protocol::kCompareSet);
  command.text(key).text(to_text(expected)).text(to_text(desired));
  return to_bytes(connections_->call(command, timeout_, answer).text());
}

bool TCPStore::deleteKey(const std::string& key) {
  std::string answer;
  return connections_->call(Writer(protocol::kDelete).text(key), timeout_, answer).number() != 0;
}

bool TCPStore::check(const std::vector<std::string>& keys) {
  std::string answer;
  return connections_->call(Writer(protocol::kCheck).list(keys), timeout_, answer).number() != 0;
}

int64_t TCPStore::getNumKeys() {
  std::string answer;
  Writer command(protocol::kNumKeys);
  return connections_->call(command, timeout_, answer).number();
}

std::vector<std::string> TCPStore::listKeys() {
  std::string answer;
  Writer command(protocol::kListKeys);
  return connections_->call(command, timeout_, answer).list();
}

std::vector<std::pair<std::string, std::string>> TCPStore::entries(const std::string& start) {
  std::string answer;
  Writer command(protocol::kReadAll);
  command.text(start);
  const std::vector<std::string> texts = connections_->call(command, timeout_, answer).list();
  std::vector<std::pair<std::string, std::string>> found;
  for (size_t i = 1; i < texts.size(); i += 2) found.emplace_back(texts[i - 1], texts[i]);
  return found;
}

void TCPStore::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  std::string answer;
  connections_->call(Writer(protocol::kWait).list(keys), timeout, answer, keys);
}

void TCPStore::append(const std::string& key, const Bytes& value) {
  std::string answer;
  connections_->call(Writer(protocol::kAppend).text(key).text(to_text(value)), timeout_, answer);
}

void TCPStore::queuePush(const std::string& key, const Bytes& value) {
  std::string answer;
  connections_->call(Writer(protocol::kPush).text(key).text(to_text(value)), timeout_, answer);
}

Store::Bytes TCPStore::queuePop(const std::string& key, bool block) {
  std::string answer;
  try {
    Writer command(protocol::kPop);
    command.text(key).number(block);
    return to_bytes(connections_->call(command, timeout_, answer, {key}).text());
  } catch (const DistStoreError& error) {
    if (error.msg() == "queue is empty") detail::fail<DistQueueEmptyError>("queue is empty: ", key);
    throw;
  }
}

int64_t TCPStore::queueLen(const std::string& key) {
  std::string answer;
  return connections_->call(Writer(protocol::kLength).text(key), timeout_, answer).number();
}

void TCPStore::stop_server() {
  if (server_) server_->stop();
}

std::string TCPStore::local_address() { return connections_->local_address(timeout_); }

}  // namespace hearth::distributed
