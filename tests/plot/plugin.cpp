// Plugins that were built from another version of the headers of charts are refused.
#include "plot/plugin.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace hearth::testing {
namespace {

TEST(PlotPlugin, RefusesACoreWithAnotherHash) {
  void* const library = dlopen(HEARTH_PLOT_FILE, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  using namespace utils::plot::detail;
  const auto draw = reinterpret_cast<PlotEntry>(dlsym(library, kPlotSymbol));
  ASSERT_NE(draw, nullptr);
  for (const uint64_t hash : {uint64_t{0}, uint64_t{1}, uint64_t{0x123456789abcdef0}})
    EXPECT_FALSE(draw(hash, nullptr, nullptr)) << hash;
  EXPECT_TRUE(utils::plot::is_available()) << utils::plot::why_not();  // with the core's hash
}

/// Prints why the file cannot be used, and ends the process with 0 if it cannot.
[[noreturn]] void open_plugin(const char* file) {
  setenv("HEARTH_PLOT_PLUGIN", file, 1);
  std::fputs(utils::plot::why_not().c_str(), stderr);
  std::exit(utils::plot::is_available() ? 1 : 0);
}

TEST(PlotPlugin, StaleOnesAreNotUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which has opened no plugin
  EXPECT_EXIT(open_plugin(HEARTH_STALE_PLOT), ::testing::ExitedWithCode(0),
              "was built for another version of Hearth");
}

}  // namespace
}  // namespace hearth::testing
