#include "plot_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "choices.h"
#include "hearth/error.h"
#include "names.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kBytesPerMiB = 1024.0 * 1024.0;

/// Reads the points of one device: all series have the same times, the first is the total.
Chart chart_of(const Json& device, const std::vector<std::string>& tags) {
  Chart chart{"memory of " + printable(device.at("device").get<std::string>()),
              "seconds",
              "MiB",
              {{"total", {}, {}}}};
  for (const std::string& tag : tags) chart.series.push_back({printable(tag), {}, {}});
  for (const Json& point : device.at("points")) {
    HEARTH_CHECK(point.size() == tags.size() + 1, "a point has ", point.size(), " numbers, not ",
                 tags.size() + 1);
    double total = 0;
    for (size_t i = 0; i < tags.size(); ++i) {
      const double mebibytes = point.at(i + 1).get<double>() / kBytesPerMiB;
      total += mebibytes;
      chart.series[i + 1].x.push_back(point.at(0).get<double>());
      chart.series[i + 1].y.push_back(mebibytes);
    }
    chart.series[0].x.push_back(point.at(0).get<double>());
    chart.series[0].y.push_back(total);
  }
  // Tags without memory would only crowd the legend.
  std::erase_if(chart.series, [](const Series& series) {
    return std::ranges::all_of(series.y, [](double y) { return y == 0; });
  });
  return chart;
}

struct PlotOptions {
  std::string from, to;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  HEARTH_CHECK(!std::filesystem::is_directory(path) && file && text, "cannot read '", path, "'");
  return std::move(text).str();
}

void plot_memory(PlotOptions options) {
  if (options.to.empty())
    options.to = std::filesystem::path(options.from).replace_extension(".png").string();
  std::error_code ignored;  // of a file that does not exist
  HEARTH_CHECK(!std::filesystem::equivalent(options.to, options.from, ignored),
               "the picture would overwrite the recording; name another file for it");
  write_png(options.to, memory_charts(content_of(options.from), options.from));
  std::cout << printable(options.to) << "\n";
}

}  // namespace

std::vector<Chart> memory_charts(const std::string& json, const std::string& source) {
  std::vector<Chart> charts;
  try {
    const Json snapshot = Json::parse(json);
    HEARTH_CHECK(snapshot.at("format") == 1, "its format is ", snapshot.at("format").dump(),
                 ", not 1");
    const auto tags = snapshot.at("tags").get<std::vector<std::string>>();
    for (const Json& device : snapshot.at("devices")) {
      Chart chart = chart_of(device, tags);
      if (!chart.series.empty()) charts.push_back(std::move(chart));
    }
  } catch (const std::exception& error) {
    throw Error(detail::str("'", printable(source),
                            "' is not a recording of memory_snapshot(): ", error.what()));
  }
  HEARTH_CHECK(!charts.empty(), "'", printable(source),
               "' has no memory in it: call record_memory_history() before the part of the program "
               "that memory_snapshot() is to show");
  return charts;
}

void add_plot_memory(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plot-memory", "Draw a recording of memory_snapshot(): memory over time, by tag");
  auto options = std::make_shared<PlotOptions>();
  suggest_values(command->add_option("from", options->from, "The recording, a JSON file"),
                 {{}, Values::Paths::kFiles})
      ->required();
  suggest_values(command->add_option("to", options->to,
                                     "The PNG file (default: the recording's name with "
                                     ".png)"),
                 {{}, Values::Paths::kFiles});
  command->footer("Example: hearth plot-memory memory.json");
  command->callback([options] { plot_memory(*options); });
}

}  // namespace hearth::app
