#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/plugin.h"

namespace hearth {
namespace {

/// A system library that is not a plugin.
constexpr const char* kOtherLibrary = "libm.so.6";

/// Returns the reason why loading the plugin at `path` fails.
std::string loading_error(const std::string& path) {
  setenv("HEARTH_CUDA_PLUGIN", path.c_str(), 1);
  std::string reason;
  EXPECT_EQ(load_cuda_plugin(reason), nullptr);
  unsetenv("HEARTH_CUDA_PLUGIN");
  return reason;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PluginLoading : public ::testing::Test {
 protected:
  void SetUp() override { write("not a library"); }
  ~PluginLoading() override { std::filesystem::remove(path); }
  void write(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  /// Writes to `path` a copy of libm that depends on `library` instead of the dynamic linker;
  /// returns false if this system's libm cannot be patched like this.
  bool write_library_that_needs(std::string library) {
    void* const handle = dlopen(kOtherLibrary, RTLD_NOW);
    link_map* map = nullptr;
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return false;
    std::string bytes = contents_of(map->l_name);
    dlclose(handle);
    const std::string needed("ld-linux-x86-64.so.2");
    const auto offset = bytes.find(needed);
    if (offset == std::string::npos) return false;
    library.resize(needed.size());
    write(bytes.replace(offset, needed.size(), library));
    return true;
  }

  const std::string path =
      ::testing::TempDir() + "hearth_plugin_" + std::to_string(getpid()) + ".so";
};

TEST_F(PluginLoading, ReportsMissingPlugin) {
  EXPECT_EQ(loading_error("/nowhere/libhearth_cuda.so"),
            "Hearth's CUDA plugin /nowhere/libhearth_cuda.so, which HEARTH_CUDA_PLUGIN names, was "
            "not found.");
}

TEST_F(PluginLoading, ReportsMissingLibrary) {
  if (!write_library_that_needs("libnone.so.9")) GTEST_SKIP() << "needs glibc's libm on x86-64";
  EXPECT_EQ(loading_error(path),
            "Hearth's CUDA plugin " + path + " needs the library libnone.so.9, which is missing.");
}

TEST_F(PluginLoading, ReportsMissingDriver) {
  if (dlopen("libcuda.so.1", RTLD_LAZY)) GTEST_SKIP() << "a driver is installed";
  if (!write_library_that_needs("libcuda.so.1")) GTEST_SKIP() << "needs glibc's libm on x86-64";
  const std::string reason = loading_error(path);
  EXPECT_TRUE(reason.starts_with("Found no NVIDIA driver on your system: libcuda.so.1 is missing."))
      << reason;
}

TEST_F(PluginLoading, WithoutADriverThePluginIsNotLoaded) {
  if (dlopen("libcuda.so.1", RTLD_LAZY)) GTEST_SKIP() << "a driver is installed";
  std::string reason;
  EXPECT_EQ(load_cuda_plugin(reason), nullptr);
  if (reason.find("was not found") != std::string::npos) GTEST_SKIP() << "no plugin was built";
  EXPECT_TRUE(reason.starts_with("Found no NVIDIA driver on your system")) << reason;
  EXPECT_EQ(contents_of("/proc/self/maps").find("libcublasLt"), std::string::npos);
}

TEST_F(PluginLoading, ReportsLibraryWithoutEntryPoint) {
  EXPECT_EQ(loading_error(kOtherLibrary),
            "libm.so.6 is not a CUDA plugin of Hearth: it has no hearth_cuda_backend");
}

TEST_F(PluginLoading, ReportsLoaderError) {
  const std::string reason = loading_error(path);
  EXPECT_TRUE(reason.starts_with("Hearth's CUDA plugin " + path + " could not be loaded: "))
      << reason;
}

}  // namespace
}  // namespace hearth
