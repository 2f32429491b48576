#include "command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

#include "../choices.h"
#include "../text_table.h"
#include "job_source.h"
#include "rank_table.h"

namespace hearth::app {

namespace {

constexpr std::chrono::seconds kRedrawInterval{1};

struct TopOptions {
  std::string target, token;
  bool once = false, as_json = false;
};

/// The lines of a text that fit on the terminal, cut at its width.
std::vector<std::string> fitting_lines(const std::string& text) {
  winsize size{};
  const bool has_size = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const size_t width = has_size ? size.ws_col : 80, height = has_size ? size.ws_row : 24;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(cut_to_width(line, width));
  if (height < 3 || lines.size() < height) return lines;
  const size_t shown = height - 2, rest = lines.size() - shown;
  lines.resize(shown);
  lines.push_back("... and " + std::to_string(rest) + " more lines");
  return lines;
}

/// Shows a table on the terminal in the place of the one before.
class LiveTable {
 public:
  void show(const std::string& text) {
    if (num_lines_ > 0) std::cout << "\033[" << num_lines_ << "A\r";
    const std::vector<std::string> lines = fitting_lines(text);
    for (const std::string& line : lines) std::cout << line << "\033[K\n";
    std::cout << "\033[J" << std::flush;
    num_lines_ = lines.size();
  }

 private:
  size_t num_lines_ = 0;
};

void show_live(JobSource& source, std::vector<RankReport> ranks) {
  LiveTable table;
  try {
    while (true) {
      const std::string remark = source.remark();
      table.show(source.title() + (remark.empty() ? "" : ": " + remark) + "\n" + rank_table(ranks));
      std::this_thread::sleep_for(kRedrawInterval);
      ranks = source.look();
    }
  } catch (const JobEnded& ended) {
    std::cout << ended.what() << "\n";
  }
}

void run_top(const TopOptions& options) {
  const auto source = open_job(options.target, options.token);
  std::vector<RankReport> ranks = source->look();
  if (options.as_json)
    std::cout << ranks_json(source->title(), ranks);
  else if (options.once || isatty(STDOUT_FILENO) != 1)
    std::cout << rank_table(ranks);
  else
    show_live(*source, std::move(ranks));
}

}  // namespace

void add_top(CLI::App& app) {
  CLI::App* command = app.add_subcommand("top", "Show the ranks of a running job");
  auto options = std::make_shared<TopOptions>();
  suggest_values(
      command->add_option("job", options->target,
                          "HOST:PORT (MASTER_ADDR and MASTER_PORT), or the folder of a hearth "
                          "train (default: the job that runs on this machine)"),
      {{}, Values::Paths::kFolders});
  command->add_option("--rdzv-token", options->token, "The secret of the job")
      ->check([](const std::string& text) {
        return std::string(text.empty() ? "the value is empty" : "");
      });
  command->add_flag("--once", options->once,
                    "Print once; the default if the output is not a terminal");
  command->add_flag("--json", options->as_json, "Print JSON, once");
  command->footer("Examples: hearth top\n          hearth top 10.0.0.1:29500");
  command->callback([options] { run_top(*options); });
}

}  // namespace hearth::app
