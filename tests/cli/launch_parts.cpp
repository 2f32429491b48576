// Parts of hearth launch: its event loop and its connections.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "apps/hearth/launch/address.h"
#include "apps/hearth/launch/event_loop.h"
#include "tests/support/listener.h"

namespace hearth::testing {
namespace {

using std::chrono::milliseconds;

struct Pipe {
  int ends[2];
  Pipe() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void write_byte() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
};

TEST(LaunchParts, AFileThatTakesOverANumberIsNotReadyYet) {
  app::EventLoop loop;
  const Pipe first, second, third;
  first.write_byte();
  second.write_byte();
  int calls = 0;
  loop.watch(second.ends[0], POLLIN, [] { FAIL() << "the file is forgotten"; });
  loop.watch(first.ends[0], POLLIN, [&] {
    loop.forget(first.ends[0]);
    loop.forget(second.ends[0]);
    dup2(third.ends[0], second.ends[0]);
    loop.watch(second.ends[0], POLLIN, [&] { ++calls; });
  });
  ASSERT_LT(first.ends[0], second.ends[0]);  // the loop calls the first file's function first
  loop.run_once();
  EXPECT_EQ(calls, 0);
  third.write_byte();
  loop.run_once();
  EXPECT_EQ(calls, 1);
}

TEST(LaunchParts, ASignalDoesNotEndAnAttemptToConnect) {
  const Listener listener(0);
  std::string problem;
  const int in_queue = app::open_connection("127.0.0.1", listener.port(), problem);
  ASSERT_GE(in_queue, 0) << problem;  // now the queue is full, and nobody answers
  struct sigaction action {};
  struct sigaction former {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &former);
  const auto begin = std::chrono::steady_clock::now();
  std::thread connects(
      [&] { EXPECT_EQ(app::open_connection("127.0.0.1", listener.port(), problem), -1); });
  std::this_thread::sleep_for(milliseconds(200));
  pthread_kill(connects.native_handle(), SIGUSR1);
  connects.join();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(900));
  EXPECT_NE(problem.find("': Connection timed out"), std::string::npos) << problem;
  sigaction(SIGUSR1, &former, nullptr);
  close(in_queue);
}

}  // namespace
}  // namespace hearth::testing
