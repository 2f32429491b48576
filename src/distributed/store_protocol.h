#pragma once

// The protocol of TCPStore.
//
// Both sides send frames: a little-endian 32-bit length, then that many bytes. A client's first
// frame is kHello, the name of the protocol, the token, the launch and the round; the server
// answers kOk, or kRefused, kOtherLaunch or kOtherRound and closes. Each later frame of a client is
// a command with its arguments; the server answers each by kOk and the results, or by kFailed and a
// reason. A command that has to wait, such as kGet of a missing key, is answered when it can be; at
// its time-out, the client closes the connection. After kJoin, the server also sends events, and
// the client sends only kAnnounce and kLeave, which have no answer.
//
// A number is 8 bytes, little-endian. A text is its length as a number, and its bytes. A list is
// its length, and its items. A frame from an unknown client may have 1 KiB, from a known one 64
// MiB; a client that breaks a rule is disconnected.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::distributed::protocol {

/// Its number changes with the commands, so that different versions refuse each other at once.
inline constexpr char kName[] = "hearth-store-4";
inline constexpr size_t kMaxHello = 1024;
inline constexpr size_t kMaxFrame = size_t(64) << 20;
inline constexpr size_t kHeader = 4;  // the bytes of a frame's length

/// By which a server knows the clients of its job.
struct Greeting {
  std::string token;
  std::string launch_id;  // empty: unknown, fits every launch
  int64_t round = -1;     // of a job that is started again; negative: unknown, fits every round
};

enum Command : uint8_t {
  kHello = 'H',
  kSet = 's',         // key, value
  kGet = 'g',         // key; waits
  kAdd = 'a',         // key, number
  kCompareSet = 'c',  // key, expected value, new value
  kDelete = 'd',      // key
  kCheck = 'k',       // keys
  kWait = 'w',        // keys; waits
  kNumKeys = 'n',
  kListKeys = 'l',
  kReadAll = 'r',   // text; all keys that begin with it, each followed by its value
  kAppend = 'p',    // key, value
  kPush = 'u',      // queue, value
  kPop = 'o',       // queue, whether to wait
  kLength = 'q',    // queue
  kJoin = 'J',      // rank, description: this connection stands for a rank
  kAnnounce = 'A',  // text, for all ranks that have joined
  kLeave = 'L',     // the rank ends without a failure
};

enum Answer : uint8_t {
  kOk = 0,
  kFailed = 1,      // text
  kRefused = 2,     // the token is wrong
  kOtherRound = 3,  // the server's round
  kOtherLaunch = 4
};

enum Event : uint8_t {
  kAnnounced = 16,  // text
  kLeft = 17,       // rank, description
  kLost = 18,       // rank, description: its connection ended without kLeave
  kClosing = 19,    // the server ends without a failure
};

/// Builds a frame.
class Writer {
 public:
  explicit Writer(uint8_t kind);
  Writer& number(int64_t value);
  Writer& text(std::string_view value);
  Writer& list(const std::vector<std::string>& values);
  /// The finished frame; throws if it is too large.
  std::string frame();

 private:
  std::string data_;
};

/// Reads a frame's content; throws DistStoreError if it is not as expected.
class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}
  uint8_t kind();
  int64_t number();
  std::string text();
  std::vector<std::string> list();
  void expect_end() const;

 private:
  std::string_view take(size_t size);
  std::string_view data_;
};

/// The length in a frame's header.
size_t frame_size(const char* header);

}  // namespace hearth::distributed::protocol
