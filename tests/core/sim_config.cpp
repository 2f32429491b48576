#include "kernels/sim/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/byte_size.h"
#include "hearth/cuda.h"
#include "hearth/error.h"
#include "tests/core/mebibytes.h"

namespace hearth {
namespace {

/// Unsets the environment variables of simulated GPUs for a test and restores them after it.
class SimConfig : public ::testing::Test {
 protected:
  SimConfig() {
    for (const char* name : kNames) {
      const char* const value = std::getenv(name);
      former_.push_back(value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  ~SimConfig() override {
    for (size_t i = 0; i < former_.size(); ++i) {
      unsetenv(kNames[i]);
      if (former_[i]) set(kNames[i], former_[i]->c_str());
    }
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }

 private:
  static constexpr const char* kNames[] = {"HEARTH_SIM_GPUS", "HEARTH_SIM_GPU_MEMORY",
                                           "HEARTH_SIM_LAZY"};
  std::vector<std::optional<std::string>> former_;
};

TEST_F(SimConfig, IsReadFromTheEnvironment) {
  set("HEARTH_SIM_GPUS", "3");
  set("HEARTH_SIM_GPU_MEMORY", "512MiB");
  set("HEARTH_SIM_LAZY", "1");
  const sim::Config config = sim::config_from_environment();
  EXPECT_EQ(config.devices, 3);
  EXPECT_EQ(config.memory, 512 * kMiB);
  EXPECT_TRUE(config.lazy);
}

TEST_F(SimConfig, ChecksTheNumberOfGpus) {
  for (const char* count : {"17", "-1", "two", "2x", "1 "}) {
    set("HEARTH_SIM_GPUS", count);
    EXPECT_THROW(sim::config_from_environment(), Error) << count;
  }
  for (const char* none : {"", "0"}) {
    set("HEARTH_SIM_GPUS", none);
    EXPECT_EQ(sim::config_from_environment().devices, 0);
  }
}

TEST_F(SimConfig, ParsesSizes) {
  EXPECT_EQ(parse_bytes("X", "8GiB"), size_t{8} << 30);
  EXPECT_EQ(parse_bytes("X", "64 KiB"), size_t{64} << 10);
  EXPECT_EQ(parse_bytes("X", "1000000"), 1000000U);
  for (const char* size : {"", "GiB", "8GB", "-1", "0", "99999999999GiB", "1.5GiB"})
    EXPECT_THROW(parse_bytes("X", size), Error) << size;
}

}  // namespace
}  // namespace hearth
