// hearth: devices and versions, measurements, training, from the command line.
#include <CLI/CLI.hpp>
#include <iostream>

#include "bench.h"
#include "hearth/error.h"
#include "info.h"
#include "train/command.h"

namespace {

using namespace hearth;

constexpr int kUsageError = 2;

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
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench->add_option("--transfer-size", options->transfer_size, "Rows and columns to move")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench->add_option("--repeats", options->repeats, "Small transfers, and training steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench->add_option("--gpu", options->gpu, "Which GPU")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  bench->add_flag("--json", options->as_json, "Print JSON");
  bench->footer("Example: HEARTH_SIM_GPUS=1 hearth bench --size 500 --transfer-size 1000");
  bench->callback([options] { app::run_bench(*options, std::cout); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Deep learning in native C++: see what is there, measure it, train.", "hearth");
  app.require_subcommand(1);
  app.footer("Example: hearth info");
  add_info(app);
  add_bench(app);
  app::add_train(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  } catch (const Error& error) {
    std::cerr << "hearth: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
