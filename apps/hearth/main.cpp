// hearth: devices and versions, measurements, training, from the command line.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "bench.h"
#include "choices.h"
#include "completion.h"
#include "hearth/about.h"
#include "hearth/error.h"
#include "info.h"
#include "train/command.h"
#include "usage.h"

namespace {

using namespace hearth;

void add_info(CLI::App& app) {
  CLI::App* info = app.add_subcommand("info", "Show devices, memory, libraries and versions");
  auto as_json = std::make_shared<bool>(false);
  info->add_flag("--json", *as_json, "Print JSON");
  info->footer("Example: hearth info --json");
  info->callback([as_json] { app::print_info(std::cout, *as_json); });
}

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure the CPU against a GPU");
  auto options = std::make_shared<app::BenchOptions>();
  bench->add_option("--size", options->sizes, "Sizes of the square matrices to multiply")
      ->delimiter(',')
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench->add_option("--transfer-size", options->transfer_size, "Rows and columns to move")
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench->add_option("--repeats", options->repeats, "How often 1000 x 1000 numbers are moved")
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench->add_option("--steps", options->steps, "Training steps")
      ->check(app::whole_number(1))
      ->capture_default_str();
  bench->add_option("--gpu", options->gpu, "Which GPU")
      ->check(app::whole_number(0))
      ->capture_default_str();
  bench->add_flag("--json", options->as_json, "Print JSON");
  bench->footer("Example: HEARTH_SIM_GPUS=1 hearth bench --size 500,1000 --transfer-size 1000");
  bench->callback([options] { app::run_bench(*options, std::cout); });
}

void add_completion(CLI::App& app) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script for a shell's completion");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "The shell")
      ->required()
      ->check(app::one_of("shell", app::shells()));
  completion->footer("Example: source <(hearth completion bash)");
  completion->callback([shell, &app] { std::cout << app::completion_script(app, *shell); });
}

void check_output() {
  std::cout.flush();
  HEARTH_CHECK(std::cout, "the output could not be written: ", std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Deep learning in native C++: see what is there, measure it, train.", "hearth");
  app.require_subcommand(1);
  app.formatter(std::make_shared<app::HelpFormatter>());
  app.set_version_flag(
      "--version", [] { return "hearth " + about().version; }, "Print the version and exit");
  app.footer("Example: hearth info");
  add_info(app);
  add_bench(app);
  app::add_train(app);
  add_completion(app);
  try {
    app.parse(argc, argv);
    check_output();
  } catch (const CLI::ParseError& error) {
    return app::finish_parsing(app, error);
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
