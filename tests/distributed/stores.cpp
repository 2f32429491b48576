#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include <utility>

#include "hearth/distributed/store.h"
#include "hearth/distributed/tcp_store.h"
#include "tests/distributed/ranks.h"
#include "tests/support/interrupted.h"
#include "tests/support/listener.h"
#include "tests/support/stranger.h"
#include "tests/support/throws.h"

// The stores, and connections of other programs to the TCP store.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using dist::Store;
using std::chrono::milliseconds;

dist::TCPStoreOptions server_options() {
  dist::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.timeout = milliseconds(5000);
  return options;
}

dist::TCPStoreOptions client_options(const dist::TCPStore& server) {
  dist::TCPStoreOptions options;
  options.port = server.getPort();
  options.timeout = milliseconds(5000);
  return options;
}

std::string temporary_path(const char* name) {
  return (std::filesystem::temp_directory_path() /
          (std::string("hearth_store_") + std::to_string(getpid()) + name))
      .string();
}

/// Checks calls of two stores that share their keys.
void expect_store_works(Store& store, Store& other) {
  store.set("a", std::string("1\0 2", 4));
  EXPECT_EQ(other.get_to_str("a"), std::string("1\0 2", 4));
  EXPECT_EQ(other.add("count", 5), 5);
  EXPECT_EQ(store.add("count", -7), -2);
  EXPECT_EQ(store.get_to_str("count"), "-2");
  EXPECT_ERROR(store.add("a", 1), "a' is not a number");
  EXPECT_EQ(store.compare_set("c", "wrong", "x"), "wrong");
  EXPECT_FALSE(other.check({"c"}));
  EXPECT_EQ(store.compare_set("c", "", "first"), "first");
  EXPECT_EQ(other.compare_set("c", "", "second"), "first");
  EXPECT_EQ(other.compare_set("c", "first", "second"), "second");
  other.append("c", Store::Bytes{'!'});
  EXPECT_EQ(store.get_to_str("c"), "second!");
  EXPECT_TRUE(store.check({"a", "c", "count"}));
  EXPECT_FALSE(store.check({"a", "none"}));
  EXPECT_EQ(other.num_keys(), store.num_keys());
  const std::vector<std::string> keys = store.list_keys();
  EXPECT_NE(std::find(keys.begin(), keys.end(), "count"), keys.end());
  EXPECT_TRUE(store.delete_key("a"));
  EXPECT_FALSE(other.delete_key("a"));
  EXPECT_FALSE(store.check({"a"}));
  EXPECT_ERROR(store.wait({"a", "b"}, milliseconds(30)), "wait timeout after 30ms, keys: ");
  store.multi_set({"m1", "m2"}, {{1}, {2, 3}});
  EXPECT_EQ(other.multi_get({"m2", "m1"}), (std::vector<Store::Bytes>{{2, 3}, {1}}));
  auto entries = other.entries("m");
  std::sort(entries.begin(), entries.end());
  EXPECT_EQ(entries,
            (std::vector<std::pair<std::string, std::string>>{{"m1", "\1"}, {"m2", "\2\3"}}));
  EXPECT_TRUE(store.entries("none").empty());
  std::thread setter([&] {
    std::this_thread::sleep_for(milliseconds(50));
    other.set("late", std::string("value"));
  });
  EXPECT_EQ(store.get_to_str("late"), "value");
  setter.join();
  std::thread arrives([&] { other.barrier("here", 2); });
  store.barrier("here", 2);
  arrives.join();
}

void expect_queues_work(Store& store, Store& other) {
  store.queuePush("q", {1});
  store.queuePush("q", {2});
  EXPECT_EQ(other.queueLen("q"), 2);
  EXPECT_EQ(other.queuePop("q"), Store::Bytes{1});
  EXPECT_EQ(store.queuePop("q", false), Store::Bytes{2});
  EXPECT_THROW(store.queuePop("q", false), DistQueueEmptyError);
  std::thread pusher([&] {
    std::this_thread::sleep_for(milliseconds(30));
    other.queuePush("q", {9});
  });
  EXPECT_EQ(store.queuePop("q"), Store::Bytes{9});
  pusher.join();
}

TEST(Stores, HashStoreWorks) {
  dist::HashStore store;
  const auto other = store.clone();
  expect_store_works(store, *other);
  expect_queues_work(store, *other);
}

TEST(Stores, PrefixStoreWorks) {
  const auto base = std::make_shared<dist::HashStore>();
  dist::PrefixStore store("p", base), other("p", base), foreign("x", base);
  expect_store_works(store, other);
  expect_queues_work(store, other);
  EXPECT_TRUE(base->check({"p/count"}));
  EXPECT_FALSE(foreign.check({"count"}));
  EXPECT_TRUE(foreign.list_keys().empty());
  EXPECT_EQ(dist::PrefixStore("y", std::make_shared<dist::PrefixStore>("z", base))
                .getUnderlyingNonPrefixStore(),
            base);
}

TEST(Stores, FileStoreWorksAndTheLastUserDeletesTheFile) {
  const std::string path = temporary_path("file");
  {
    dist::FileStore store(path, 2);
    {
      dist::FileStore other(path, 2);
      expect_store_works(store, other);
    }
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "something else";
  EXPECT_ERROR(dist::FileStore(path).check({"a"}), "is not a store's file");
  std::ofstream(path) << "HEARTHFILESTORE1Sxxxx";
  EXPECT_ERROR(dist::FileStore(path).check({"a"}), "is damaged; delete it");
  std::filesystem::remove(path);
  EXPECT_ERROR(dist::FileStore("/nonexistent/file"), "cannot open '/nonexistent/file'");
}

TEST(Stores, TcpStoreWorks) {
  dist::TCPStore server("127.0.0.1", server_options());
  dist::TCPStore client("localhost", client_options(server));
  expect_store_works(server, client);
  expect_queues_work(client, server);
  EXPECT_EQ(client.local_address(), "127.0.0.1");
  // One thread waits while another uses the same store.
  std::thread waits([&] { client.wait({"go"}); });
  for (int i = 0; i < 100; ++i) client.add("n", 1);
  client.set("go", std::string("1"));
  waits.join();
  const Store::Bytes large(20 << 20, 7);
  client.set("large", large);
  EXPECT_EQ(server.get("large"), large);
  EXPECT_ERROR(client.set("huge", Store::Bytes(65 << 20)), "too large for the store");
  EXPECT_EQ(client.get_to_str("n"), "100");
}

TEST(Stores, TheServerWaitsForItsWorkers) {
  const auto port = free_port();
  auto options = server_options();
  options.port = port;
  options.numWorkers = 2;
  options.timeout = milliseconds(100);
  EXPECT_ERROR(dist::TCPStore("127.0.0.1", options), "1/2 clients joined");
  options.timeout = milliseconds(5000);
  std::thread client([&] {
    auto other = options;
    other.isServer = false;
    dist::TCPStore store("127.0.0.1", other);  // waits for the server
    store.set("k", std::string("v"));
  });
  dist::TCPStore server("127.0.0.1", options);
  EXPECT_EQ(server.get_to_str("k"), "v");
  client.join();
}

TEST(Stores, ErrorsNameTheCauseOrTheRemedy) {
  dist::TCPStore server("127.0.0.1", server_options());
  auto options = server_options();
  options.port = server.getPort();
  EXPECT_ERROR(dist::TCPStore("127.0.0.1", options),
               "choose another port, for example with MASTER_PORT");
  EXPECT_ERROR(dist::TCPStore("192.0.2.1", options), "no address of this machine");
  EXPECT_ERROR(dist::TCPStore("no such host", options), "the host 'no such host' is unknown");
  options.isServer = false;
  options.port = free_port();
  options.timeout = milliseconds(50);
  EXPECT_ERROR(dist::TCPStore("127.0.0.1", options), "check that rank 0 runs");
}

TEST(Stores, OnlyTheRightTokenIsAdmitted) {
  auto options = server_options();
  options.token = "secret";
  dist::TCPStore server("127.0.0.1", options);
  auto other = client_options(server);
  for (const char* const wrong : {"", "secreT", "secret2"}) {
    other.token = wrong;
    EXPECT_ERROR(dist::TCPStore("127.0.0.1", other), "its token is wrong");
  }
  other.token = "secret";
  dist::TCPStore client("127.0.0.1", other);
  server.set("a", std::string("b"));
  EXPECT_EQ(client.get_to_str("a"), "b");
}

dist::StoreConnectionError::Reason reason_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const dist::StoreConnectionError& error) {
    EXPECT_EQ(error.msg().find(error.cause()), 0U) << error.msg();
    return error.reason();
  }
  throw std::runtime_error("no StoreConnectionError");
}

TEST(Stores, ConnectionErrorsHaveAReason) {
  using Reason = dist::StoreConnectionError::Reason;
  auto options = server_options();
  options.token = "secret";
  dist::TCPStore server("127.0.0.1", options);
  auto other = client_options(server);
  other.token = "secret";
  other.timeout = milliseconds(300);
  dist::TCPStore client("127.0.0.1", other);
  const auto connect = [&](const std::string& host) {
    return reason_of([&] { dist::TCPStore(host, other); });
  };
  EXPECT_EQ(connect("no such host"), Reason::kUnreachable);
  other.token = "wrong";
  EXPECT_EQ(connect("127.0.0.1"), Reason::kWrongToken);
  other.port = free_port();
  EXPECT_EQ(connect("127.0.0.1"), Reason::kUnreachable);
  const Stranger silent(""), greets("SSH-2.0-OpenSSH_9.2\r\n");
  other.port = silent.port();
  EXPECT_EQ(connect("127.0.0.1"), Reason::kNoAnswer);
  other.port = greets.port();
  EXPECT_EQ(connect("127.0.0.1"), Reason::kForeignServer);
  server.stop_server();
  EXPECT_EQ(reason_of([&] { client.set("a", std::string("b")); }), Reason::kClosed);
  EXPECT_EQ(reason_of([&] { client.set("a", std::string("b")); }), Reason::kUnreachable);
}

TEST(Stores, OnlyProcessesOfTheSameLaunchAreAdmitted) {
  using Reason = dist::StoreConnectionError::Reason;
  auto options = server_options();
  options.launch_id = "a";
  dist::TCPStore server("127.0.0.1", options);
  auto other = client_options(server);
  other.timeout = milliseconds(300);
  other.launch_id = "b";
  const auto token = std::exchange(other.token, "each launch draws one");
  EXPECT_ERROR(dist::TCPStore("127.0.0.1", other),
               "refused this process, because it is of another launch; end all processes of the "
               "earlier launch, or use another MASTER_PORT");
  EXPECT_EQ(reason_of([&] { dist::TCPStore("127.0.0.1", other); }), Reason::kOtherLaunch);
  other.token = token;
  // Processes of no launch fit every launch.
  for (const char* const id : {"a", ""}) {
    other.launch_id = id;
    dist::TCPStore("127.0.0.1", other).set(std::string("key") + id, std::string("value"));
  }
  EXPECT_TRUE(server.check({"keya", "key"}));
  dist::TCPStore without("127.0.0.1", server_options());
  other.port = without.getPort();
  other.launch_id = "b";
  EXPECT_FALSE(dist::TCPStore("127.0.0.1", other).check({"key"}));
  other.launch_id = std::string(300, 'x');
  EXPECT_ERROR(dist::TCPStore("127.0.0.1", other), "the id of the launch has 300 characters");
}

TEST(Stores, AProcessWaitsUntilTheServerOfAnEarlierRoundHasEnded) {
  auto options = server_options();
  options.port = free_port();
  options.round = 2;
  auto earlier = std::make_unique<dist::TCPStore>("127.0.0.1", options);
  auto other = client_options(*earlier);
  other.round = 3;
  other.timeout = milliseconds(300);
  const auto connect = [&] { dist::TCPStore("127.0.0.1", other); };
  EXPECT_EQ(reason_of(connect), dist::StoreConnectionError::Reason::kOtherRound);
  other.timeout = milliseconds(10'000);
  std::thread newer([&] {
    dist::TCPStore client("127.0.0.1", other);
    client.set("key", std::string("value"));
  });
  std::this_thread::sleep_for(milliseconds(500));
  earlier.reset();
  options.round = 3;
  dist::TCPStore server("127.0.0.1", options);
  EXPECT_EQ(server.get_to_str("key"), "value");
  newer.join();
}

/// A TCP connection that sends bytes unchanged.
class RawConnection {
 public:
  explicit RawConnection(uint16_t port) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawConnection() { close(descriptor_); }
  bool connected() const { return connected_; }
  void send(const std::string& bytes) const {
    [[maybe_unused]] const auto sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Whether the server closes the connection within a second.
  bool is_closed() const {
    for (pollfd entry{descriptor_, POLLIN, 0}; poll(&entry, 1, 1000) > 0;) {
      char buffer[256];
      if (recv(descriptor_, buffer, sizeof buffer, 0) <= 0) return true;
    }
    return false;
  }

 private:
  int descriptor_;
  bool connected_ = false;
};

/// Parts of messages in the store's format: texts and frames begin with their length.
std::string number(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
std::string text(const std::string& value) { return number(value.size()) + value; }
std::string frame(const std::string& content) {
  return number(content.size()).substr(0, 4) + content;
}
std::string hello() {
  return frame("H" + text("hearth-store-4") + text("") + text("") + number(0));
}

TEST(Stores, ASignalDoesNotEndAnAttemptToConnect) {
  // A server that admits one connection, and leaves the others in the queue of the system.
  const Listener listener(0);
  dist::TCPStoreOptions options;
  options.port = listener.port();
  options.timeout = milliseconds(1500);
  int admitted = -1;
  std::thread admits([&] {
    admitted = listener.accept_client();
    const std::string ok = frame(std::string(1, '\0'));
    (void)!write(admitted, ok.data(), ok.size());
  });
  dist::TCPStore store("127.0.0.1", options);
  admits.join();
  const RawConnection in_queue(options.port);  // now the queue is full
  // The first thread uses the only connection, so that the second one needs another.
  std::thread uses([&] { EXPECT_THROW(store.get("key"), DistStoreError); });
  std::this_thread::sleep_for(milliseconds(200));
  const double seconds = seconds_of_interrupted(
      [&] { EXPECT_THROW(store.set("key", std::string("value")), dist::StoreConnectionError); });
  EXPECT_GE(seconds, 1.4);
  uses.join();
  close(admitted);
}

TEST(Stores, InvalidMessagesCloseOnlyTheirConnection) {
  dist::TCPStore server("127.0.0.1", server_options());
  const uint16_t port = server.getPort();
  const std::string attacks[] = {
      "GET / HTTP/1.0\r\n\r\n",
      std::string(100, '\0'),
      std::string(5000, '\xff'),
      frame("s" + text("key") + text("value")),  // no hello
      frame("H" + text("another-protocol") + text("")),
      frame("H" + text("hearth-store-3") + text("") + number(0)),  // a former version
      frame("H" + number(~uint64_t(0)) + "x"),                     // a length beyond the frame
      hello() + frame(""),
      hello() + frame("?"),
      hello() + std::string("\xff\xff\xff\xff"),         // 4 GiB
      hello() + frame("s" + text("key")),                // an argument is missing
      hello() + frame("k" + number(uint64_t(1) << 60)),  // a list of 2^60 keys
      hello() + frame("r"),
      hello() + frame("s" + text("key") + text("value") + "more"),
      hello() + frame("J" + number(~uint64_t(0)) + text("")),  // rank -1
      hello() + frame("g" + text("none")) + frame("n"),  // a second request before the first answer
  };
  for (const std::string& attack : attacks) {
    RawConnection stranger(port);
    ASSERT_TRUE(stranger.connected());
    stranger.send(attack);
    EXPECT_TRUE(stranger.is_closed()) << attack;
  }
  server.set("still", std::string("works"));
  EXPECT_EQ(server.get_to_str("still"), "works");
}

TEST(Stores, SilentAndManyConnectionsDoNotBlockTheServer) {
  dist::TCPStore server("127.0.0.1", server_options());
  std::vector<std::unique_ptr<RawConnection>> strangers;
  for (int i = 0; i < 400; ++i) {
    strangers.push_back(std::make_unique<RawConnection>(server.getPort()));
    if (i % 2) strangers.back()->send("\x10");
  }
  dist::TCPStore client("127.0.0.1", client_options(server));
  client.set("a", std::string("b"));
  EXPECT_EQ(server.get_to_str("a"), "b");
  EXPECT_TRUE(strangers[0]->is_closed());  // the server closes the oldest
}

TEST(Stores, RandomBytesDoNotHarmTheServer) {
  dist::TCPStore server("127.0.0.1", server_options());
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = i % 2 ? hello() : "";
    std::string content(1 + random() % 60, '\0');
    for (char& byte : content) byte = static_cast<char>(random() % 3 ? random() : 0);
    if (i % 4 == 1) content[0] = "sgacdkwnlpuoqJALr"[random() % 17];  // the letter of a request
    RawConnection stranger(server.getPort());
    stranger.send(bytes + (i % 3 ? frame(content) : content));
  }
  server.set("still", std::string("works"));
  EXPECT_EQ(server.get_to_str("still"), "works");
}

/// A value grows beyond the largest answer while another client waits for it.
TEST(Stores, ValuesThatAreTooLargeForAnAnswerAreAnError) {
  dist::TCPStore server("127.0.0.1", server_options());
  std::string error;
  std::thread waits([&] {
    auto options = client_options(server);
    options.timeout = milliseconds(30'000);
    dist::TCPStore client("127.0.0.1", options);
    error = error_of([&] { client.get("grows"); });
  });
  std::this_thread::sleep_for(milliseconds(100));
  const std::string part = frame("p" + text("grows") + text(std::string(40 << 20, 'x')));
  RawConnection writer(server.getPort());
  writer.send(hello() + part + part);  // at once
  waits.join();
  EXPECT_TRUE(error == "no error" || error.find("too large for the store") != std::string::npos)
      << error;
  server.setTimeout(milliseconds(30'000));
  EXPECT_ERROR(server.get("grows"), "too large for the store");
  server.set("still", std::string("works"));
  EXPECT_EQ(server.get_to_str("still"), "works");
}

TEST(Stores, AGivenSocketNeedNotListenYet) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  auto options = server_options();
  options.masterListenFd = descriptor;
  options.timeout = milliseconds(1000);
  dist::TCPStore store("127.0.0.1", options);
  store.set("a", std::string("b"));
  EXPECT_EQ(store.get_to_str("a"), "b");
  options.masterListenFd = 987;
  EXPECT_ERROR(dist::TCPStore("127.0.0.1", options), "masterListenFd");
}

}  // namespace
}  // namespace hearth::testing
