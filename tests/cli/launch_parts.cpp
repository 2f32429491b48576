// Parts of hearth launch: its event loop and its connections.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "apps/hearth/launch/address.h"
#include "apps/hearth/launch/event_loop.h"
#include "tests/support/interrupted.h"
#include "tests/support/listener.h"

namespace hearth::testing {
namespace {

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

TEST(LaunchParts, AFileThatReusesADescriptorIsNotReadyYet) {
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
  const double seconds = seconds_of_interrupted(
      [&] { EXPECT_EQ(app::open_connection("127.0.0.1", listener.port(), problem), -1); });
  EXPECT_GE(seconds, 0.9);
  EXPECT_NE(problem.find("': Connection timed out"), std::string::npos) << problem;
  close(in_queue);
}

}  // namespace
}  // namespace hearth::testing
