#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/throws.h"

namespace hearth::testing {

/// The outcome of one process of a test.
struct RankResult {
  int exit_code = -1;  // -1 if a signal ended the process
  int signal = 0;      // the signal that ended the process, or 0
  std::string output;  // the standard output
  double seconds = 0;  // from the call of run_ranks to the end of the process
  bool timed_out = false;
};

/// Registers a function that processes of tests run: `const RankFunction name("name", [] {…});`.
class RankFunction {
 public:
  using Body = void (*)();
  RankFunction(const char* name, Body body);
  const char* name() const { return name_; }

 private:
  const char* name_;
};

/// Settings of a test's processes.
struct RankOptions {
  std::map<std::string, std::string> environment{};
  std::chrono::milliseconds timeout{60'000};
  /// Called with the process ids, as soon as all processes run.
  std::function<void(const std::vector<int>&)> meanwhile{};
  int endless_rank = -1;         // a rank that is killed when all others have ended
  bool sets_environment = true;  // RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT
};

/// Runs a function in `size` new processes of this program, and waits for them.
std::vector<RankResult> run_ranks(const RankFunction& function, int size,
                                  const RankOptions& options = {});
/// Like run_ranks, but fails the test unless all processes exit with code 0.
std::vector<RankResult> run_ranks_well(const RankFunction& function, int size,
                                       const RankOptions& options = {});

/// Throws, which ends the process with a failure, unless the condition holds.
void require(bool condition, const std::string& what);
/// In a rank's function: prints the error of f, or "no error", and the seconds that f took.
void print_error(const std::function<void()>& f);
/// The seconds that print_error has printed last.
double seconds_in(const std::string& output);
bool contains(const std::string& text, const std::string& part);

}  // namespace hearth::testing

/// In a rank's function: ends the process with a failure unless the condition holds.
#define REQUIRE(...) ::hearth::testing::require((__VA_ARGS__), #__VA_ARGS__)
/// In a rank's function: requires that the statement throws an error that contains the text.
#define REQUIRE_ERROR(statement, text)                                                     \
  do {                                                                                     \
    const std::string message_of_error_ = ::hearth::testing::error_of([&] { statement; }); \
    ::hearth::testing::require(message_of_error_.find(text) != std::string::npos,          \
                               std::string("wrong error: ") + message_of_error_);          \
  } while (false)
