// Helpers of tests of `hearth train`: small runs, their results, small files of images.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/files.h"

namespace hearth::testing {

/// Tests run in parallel, so each program gets one thread.
inline const std::vector<std::string> kOneThread{"OMP_NUM_THREADS=1"};

/// Runs `hearth train` on synthetic images with one thread.
inline RunResult train(const std::vector<std::string>& arguments,
                       std::vector<std::string> environment = {}) {
  std::vector<std::string> command{"train", "--data", "synthetic"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  environment.insert(environment.end(), kOneThread.begin(), kOneThread.end());
  return run(command, environment);
}

/// The cells of a row by column name.
using Row = std::map<std::string, std::string>;

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

inline std::vector<Row> rows_of_csv(const std::string& path) {
  std::istringstream text(bytes_of(path));
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<Row> rows;
  while (std::getline(text, line)) {
    const std::vector<std::string> cells = cells_of(line);
    Row& row = rows.emplace_back();
    for (size_t i = 0; i < cells.size() && i < names.size(); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

/// The rows of results.csv in the folder of --out: one for each epoch of each run.
inline std::vector<Row> rows_of(const std::string& out) {
  return rows_of_csv(out + "/results.csv");
}

/// rows_of() without durations.
inline std::vector<Row> results_of(const std::string& out) {
  std::vector<Row> rows = rows_of(out);
  for (Row& row : rows) row.erase("epoch_duration"), row.erase("run_duration");
  return rows;
}

inline double number(const Row& row, const std::string& column) {
  return std::stod(row.at(column));
}

/// The arguments of a run with many small steps, which leave time to stop the program.
inline std::vector<std::string> long_run(const std::string& out, const std::string& epochs = "4") {
  return {"train",        "--data", "synthetic", "--out", out,    "--limit", "600",
          "--batch-size", "4",      "--epochs",  epochs,  "--lr", ".001"};
}

/// Waits for the ends of `count` epochs; throws if they do not end in a minute.
inline void wait_for_epochs(const std::string& out, size_t count) {
  for (int i = 0; i < 60000; ++i) {
    if (rows_of(out).size() >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw std::runtime_error("the training in " + out + " has not ended epoch " +
                           std::to_string(count) + " after a minute");
}

/// Expects this exit code and an error on stderr that contains the text.
inline void expect_failure(const RunResult& ran, int status, const std::string& text) {
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_NE(("\n" + ran.err).find("\nhearth: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(text), std::string::npos) << ran.err;
}

/// Makes a folder the current folder during its lifetime.
class InFolder {
 public:
  explicit InFolder(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~InFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

/// The content of a file in MNIST's format, all ones.
inline std::string idx_ones(const std::vector<unsigned char>& sizes) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  size_t bytes = 1;
  for (const unsigned char size : sizes) {
    text += std::string(3, '\0') + static_cast<char>(size);
    bytes *= size;
  }
  return text + std::string(bytes, '\x01');
}

/// Writes five training and five test images, which are square.
inline void write_images(const std::string& folder, unsigned char train_size,
                         unsigned char test_size) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& set, unsigned char size) {
    write_bytes(folder + "/" + set + "-images-idx3-ubyte", idx_ones({5, size, size}));
    write_bytes(folder + "/" + set + "-labels-idx1-ubyte", idx_ones({5}));
  };
  write("train", train_size);
  write("t10k", test_size);
}

}  // namespace hearth::testing
