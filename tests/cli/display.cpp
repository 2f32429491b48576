#include "apps/hearth/train/display.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

using app::progress_text;

const app::Display::Status kStatus{"epoch 1/5", 30, 120, 0.5, 0.75, 12345.4, 61.5};

TEST(Progress, WideLinesHaveAllParts) {
  EXPECT_EQ(progress_text(kStatus, 119),
            "epoch 1/5  [#####---------------]  25 %  loss 0.5000  accuracy 0.7500  "
            "12,345 samples/s  1:02 left");
}

TEST(Progress, NarrowLinesDropTheLeastImportantParts) {
  EXPECT_EQ(progress_text(kStatus, 79),
            "epoch 1/5  [####---------------]  25 %  loss 0.5000  accuracy 0.7500  1:02 left");
  EXPECT_EQ(progress_text(kStatus, 55), "epoch 1/5  [###---------]  25 %  loss 0.5000  1:02 left");
  EXPECT_EQ(progress_text(kStatus, 30), "epoch 1/5  [#-----]  1:02 left");
  EXPECT_EQ(progress_text(kStatus, 25), "epoch 1/5  1:02 left");
  EXPECT_EQ(progress_text(kStatus, 5), "epoch");
  EXPECT_EQ(progress_text(kStatus, 0), "");
}

TEST(Progress, LinesFitAndDropTheTimeLast) {
  app::Display::Status status = kStatus;
  status.title = "run 1/8  epoch 2/5";
  for (size_t width = 0; width < 150; ++width) {
    const std::string text = progress_text(status, width);
    EXPECT_LE(text.size(), width);
    EXPECT_EQ(text.find("1:02 left") != std::string::npos, width >= 29) << width << text;
    EXPECT_EQ(text.find('[') != std::string::npos, width >= 38) << width << text;
  }
}

TEST(Progress, LinesAreCutBetweenCharacters) {
  app::Display::Status status = kStatus;
  status.title = "é 1/5";
  EXPECT_EQ(progress_text(status, 1), "é");
  EXPECT_EQ(progress_text(status, 26), "é 1/5  [#-----]  1:02 left");
}

/// A pseudo-terminal.
class Terminal {
 public:
  explicit Terminal(unsigned short width) : main_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (main_ < 0 || grantpt(main_) || unlockpt(main_)) return;
    program_ = open(ptsname(main_), O_RDWR | O_NOCTTY);
    const winsize size{24, width, 0, 0};
    ioctl(program_, TIOCSWINSZ, &size);
  }
  ~Terminal() { close(main_); }
  /// False on systems without /dev/pts.
  bool is_open() const { return program_ >= 0; }
  int program_side() const { return program_; }
  /// Everything that programs print until they have closed the terminal.
  std::string output() {
    close(program_);
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = read(main_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, size_t(count));
    return text;
  }

 private:
  int main_, program_ = -1;
};

TEST(Progress, TerminalShowsTheBarAndStdoutOnlyTheTable) {
  const TempFolder folder;
  Terminal terminal(80);
  if (!terminal.is_open()) GTEST_SKIP() << "the system has no pseudo-terminals";
  Program program({"train", "--data", "synthetic", "--batch-size", "10", "--epochs", "2", "--out",
                   folder.path("out")},
                  kOneThread, {}, terminal.program_side());
  const std::string shown = terminal.output();
  const RunResult ran = program.wait();
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out.find("run  epoch"), 0U) << ran.out;
  EXPECT_EQ(ran.out.find("Files are in"), std::string::npos) << ran.out;
  std::istringstream frames(shown);
  size_t bars = 0;
  for (std::string frame; std::getline(frames, frame, '\r');) {
    if (frame.find("[#") == std::string::npos && frame.find("[-") == std::string::npos) continue;
    ++bars;
    EXPECT_NE(frame.find(" left"), std::string::npos) << frame;
  }
  EXPECT_GT(bars, 0U) << shown;
  EXPECT_NE(shown.find("Files are in "), std::string::npos) << shown;
}

TEST(Progress, ClosedPipesDoNotStopTheTraining) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Program program({"train", "--data", "synthetic", "--limit", "300", "--epochs", "3", "--out", out},
                  kOneThread, ends[1], ends[1]);
  close(ends[1]);
  close(ends[0]);
  EXPECT_EQ(program.wait().status, 1);  // the table could not be printed
  EXPECT_EQ(rows_of(out).size(), 3U);
}

TEST(Progress, HeadingNamesTheDeviceAndWhyThereIsNoGpu) {
  const TempFolder folder;
  const auto heading = [&](std::vector<std::string> arguments, const std::string& variable) {
    static int run_number = 0;
    arguments.insert(arguments.end(), {"--limit", "100", "--epochs", "1", "--model", "mlp", "--out",
                                       folder.path(std::to_string(++run_number))});
    return train(arguments, {variable}).err;
  };
  const std::string chosen = heading({"--device", "cpu"}, "HEARTH_SIM_GPUS");
  EXPECT_EQ(chosen.find("cpu is "), 0U) << chosen;
  EXPECT_EQ(chosen.find("no GPU"), std::string::npos) << chosen;
  const std::string simulated = heading({}, "HEARTH_SIM_GPUS=1");
  EXPECT_EQ(simulated.find("cuda is Simulated GPU 0\n"), 0U) << simulated;
  const std::string automatic = heading({}, "HEARTH_SIM_GPUS");
  if (automatic.find("cuda is ") == 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(automatic.find("cpu is "), 0U) << automatic;
  EXPECT_NE(automatic.substr(0, automatic.find('\n')).find("; no GPU: "), std::string::npos)
      << automatic;
}

TEST(Signals, IgnoredSignalsStayIgnored) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const auto before = ::signal(SIGHUP, SIG_IGN);
  Program program({"train", "--data", "synthetic", "--limit", "500", "--batch-size", "5",
                   "--epochs", "3", "--out", out},
                  kOneThread);
  ::signal(SIGHUP, before);
  wait_for_epochs(out, 1);
  program.kill(SIGHUP);
  EXPECT_EQ(program.wait().status, 0);
  EXPECT_EQ(rows_of(out).size(), 3U);
}

}  // namespace
}  // namespace hearth::testing
