#include <cstdlib>
#include <fstream>
#include <sstream>

#include "hearth/tensor_literal.h"
#include "tests/nn/cases.h"
#include "tests/support/fixtures.h"

namespace hearth::testing {

namespace {

/// Parses "2x3", or "-" for no dimensions.
std::vector<int64_t> sizes_in(const std::string& text) {
  std::vector<int64_t> sizes;
  std::istringstream stream(text);
  for (std::string part; text != "-" && std::getline(stream, part, 'x');)
    sizes.push_back(std::stoll(part));
  return sizes;
}

/// Parses "float32 2x3 0.5 …".
Tensor tensor_in(std::istream& line) {
  std::string dtype, sizes, number;
  line >> dtype >> sizes;
  std::vector<double> values;
  while (line >> number) values.push_back(std::strtod(number.c_str(), nullptr));
  const ScalarType type = dtype == "int64" ? kLong : dtype == "bool" ? kBool : kFloat;
  return tensor(values, kDouble).to(type).reshape(sizes_in(sizes));
}

}  // namespace

std::vector<NnCase> read_nn_cases() {
  std::ifstream file(fixture_path("nn_cases.txt"));
  std::vector<NnCase> cases;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string key;
    line >> key;
    if (key == "end") continue;
    if (key == "case") {
      cases.emplace_back();
      line >> cases.back().name >> cases.back().seed;
    } else {
      cases.back().tensors.insert(key, tensor_in(line));
    }
  }
  return cases;
}

}  // namespace hearth::testing
