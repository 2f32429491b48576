#include "hearth/about.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/backends.h"
#include "core/system_memory.h"
#include "core/threads.h"

namespace hearth {

namespace {

constexpr const char* kFeatures[] = {"sse4_2",      "avx",         "f16c",     "fma",
                                     "avx2",        "avx512f",     "avx512bw", "avx512_vnni",
                                     "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8",
                                     "asimd",       "asimdhp",     "bf16",     "sve"};

/// Returns the value of the first line "name : value" of /proc/cpuinfo; empty if there is none.
std::string processor_fact(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0) continue;
    if (line.find_first_not_of(" \t", name.size()) != colon) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

std::vector<std::string> features() {
  std::string flags = processor_fact("flags");
  if (flags.empty()) flags = processor_fact("Features");
  std::vector<std::string> found;
  std::istringstream words(flags);
  for (std::string word; words >> word;)
    if (std::find(std::begin(kFeatures), std::end(kFeatures), word) != std::end(kFeatures))
      found.push_back(word);
  return found;
}

}  // namespace

About about() {
  About result;
  result.version = HEARTH_VERSION;
  result.processor = processor_fact("model name");
  result.features = features();
  result.instruction_set = cpu_backend().instruction_set();
  result.cores = usable_cores();
  result.memory_total = system_memory_total();
  result.memory_available = system_memory_available();
  result.libraries = cpu_backend().libraries();
  if (const Backend* gpus = cuda_backend())
    for (auto& library : gpus->libraries()) result.libraries.push_back(std::move(library));
  return result;
}

std::vector<std::pair<std::string, int64_t>> library_calls() {
  const Backend* const gpus = cuda_backend();
  return gpus ? gpus->library_calls() : std::vector<std::pair<std::string, int64_t>>();
}

}  // namespace hearth
