#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "hearth/distributed/store.h"

namespace hearth::detail {

/// Whether two secrets are equal, in a time that does not depend on where they differ first.
inline bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  const size_t size = a.size() < b.size() ? a.size() : b.size();
  for (size_t i = 0; i < size; ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace hearth::detail

namespace hearth::distributed {

class Membership;
class StoreServer;
class StoreConnections;

/// A TCPStore cannot connect to its server, or has lost the connection.
class HEARTH_API StoreConnectionError : public DistNetworkError {
 public:
  enum class Reason : uint8_t {
    kUnreachable,    ///< the host is unknown, or nothing accepts a connection
    kNoAnswer,       ///< the server did not answer within the time-out
    kWrongToken,     ///< the server refused this process's token
    kOtherLaunch,    ///< another launch started the server's process
    kOtherRound,     ///< the server is of another round of a job that is started again
    kForeignServer,  ///< the server is another program, or speaks another version of the protocol
    kClosed          ///< the server closed a connection that was in use
  };
  StoreConnectionError(Reason reason, std::string cause, const std::string& remedy = "");
  ~StoreConnectionError() override;
  Reason reason() const noexcept { return reason_; }
  const std::string& cause() const noexcept { return cause_; }  ///< the text without the remedy

 private:
  Reason reason_;
  std::string cause_;
};

/// Options of TCPStore, with LibTorch's names.
struct TCPStoreOptions {
  static constexpr uint16_t kDefaultPort = 29500;

  uint16_t port = kDefaultPort;      ///< of the server; 0 in the server: any free port
  bool isServer = false;             ///< whether this object serves the store
  std::optional<size_t> numWorkers;  ///< the processes of the job; nullopt: nothing waits for them
  bool waitWorkers = true;  ///< whether the server's constructor waits for `numWorkers` stores
  std::chrono::milliseconds timeout = Store::kDefaultTimeout;
  /// A bound socket for the server, instead of a new one.
  std::optional<int> masterListenFd;
  bool useLibUV = true;  ///< without effect
  /// A secret that server and clients share. By default the environment variable
  /// HEARTH_RDZV_TOKEN. It is sent unencrypted.
  std::optional<std::string> token;
  /// The launch that started this process: the server refuses clients of another launch. An empty
  /// one, of the server or of a client, fits every launch.
  std::string launch_id;
  /// The round of a job that is started again: the server refuses clients of another round. A round
  /// that is not set, on either side, fits every round. A client waits for the server of its round
  /// if it meets that of an earlier one.
  std::optional<int> round;
};

/// A store that one process serves over TCP, usually rank 0. The server listens only on `host`,
/// unless it is given a socket.
class HEARTH_API TCPStore : public Store {
 public:
  explicit TCPStore(std::string host, const TCPStoreOptions& options = {});
  ~TCPStore() override;
  using Store::compareSet;
  using Store::set;
  using Store::wait;
  std::shared_ptr<Store> clone() override;
  void set(const std::string& key, const Bytes& value) override;
  Bytes get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  std::vector<std::string> listKeys() override;
  std::vector<std::pair<std::string, std::string>> entries(const std::string& start) override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;
  void append(const std::string& key, const Bytes& value) override;
  void queuePush(const std::string& key, const Bytes& value) override;
  Bytes queuePop(const std::string& key, bool block = true) override;
  int64_t queueLen(const std::string& key) override;
  const std::string& getHost() const noexcept { return host_; }
  uint16_t getPort() const noexcept { return port_; }
  const std::string& host() const noexcept { return host_; }
  uint16_t port() const noexcept { return port_; }
  /// This machine's address in its connection to the server: "10.0.0.7".
  std::string local_address();
  /// Closes the server, if this object serves the store; the keys are lost.
  void stop_server();

 private:
  friend class Membership;
  TCPStore() = default;
  void wait_for_workers(const TCPStoreOptions& options);

  std::string host_;
  uint16_t port_ = 0;
  std::shared_ptr<StoreServer> server_;  // null in clients
  std::shared_ptr<StoreConnections> connections_;
};

}  // namespace hearth::distributed
