#include "hearth/io/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "hearth/io/from_file.h"
#include "hearth/io/tensors.h"
#include "tests/support/files.h"

namespace hearth::io {
namespace {

using testing::bytes_of;
using testing::TempFolder;

TEST(AtomicFile, AppearsAtCommit) {
  const TempFolder folder;
  const std::string path = folder.path("a.txt");
  AtomicFile file(path);
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit();
  EXPECT_EQ(bytes_of(path), "one two");
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_ERROR(file.write("three"), "it was committed already");
  EXPECT_ERROR(file.commit(), "it was committed already");
}

TEST(AtomicFile, KeepsTheOldFileWithoutCommit) {
  const TempFolder folder;
  const std::string path = folder.path("a.txt");
  write_file(path, "old");
  { AtomicFile(path).write("new"); }
  EXPECT_EQ(bytes_of(path), "old");
  EXPECT_EQ(folder.count(), 1U);
  write_file(path, "new");
  EXPECT_EQ(bytes_of(path), "new");
}

TEST(AtomicFile, KeepsPermissionsAndLinks) {
  const TempFolder folder;
  const std::string path = folder.path("a.txt"), link = folder.path("link");
  write_file(path, "old");
  chmod(path.c_str(), 0640);
  std::filesystem::create_symlink(path, link);
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(bytes_of(path), "new");
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(AtomicFile, ErrorsStateTheReason) {
  const TempFolder folder;
  EXPECT_ERROR(write_file(folder.path("no/where.txt"), "x"), "no/where.txt': No such file");
  EXPECT_ERROR(write_file(folder.str(), "x"), "Is a directory");
  EXPECT_ERROR(write_file("", "x"), "it names no file");
  EXPECT_ERROR(write_file("/proc/here.txt", "x"), "cannot write '/proc/here.txt'");
  EXPECT_ERROR(write_file("/dev/full", "x"), "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(folder.count(), 0U);
}

TEST(AtomicFile, WritesThroughDanglingLinks) {
  const TempFolder folder;
  const std::string link = folder.path("link"), loop = folder.path("loop");
  std::filesystem::create_symlink("between", link);
  std::filesystem::create_symlink("target.txt", folder.path("between"));
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(bytes_of(folder.path("target.txt")), "new");
  std::filesystem::create_symlink("loop", loop);
  EXPECT_ERROR(write_file(loop, "new"), "Too many levels of symbolic links");
  EXPECT_TRUE(std::filesystem::is_symlink(loop));
}

TEST(AtomicFile, DeletesTemporaryFilesOfKilledWriters) {
  const TempFolder folder;
  const std::string path = folder.path("a.txt");
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write("half");
    std::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(folder.count(), 1U);
  AtomicFile slow(folder.path("b.txt"));  // a living writer's file is kept
  slow.write("b");
  write_file(path, "whole");
  EXPECT_EQ(folder.count(), 2U);
  slow.commit();
  EXPECT_EQ(bytes_of(path), "whole");
  EXPECT_EQ(bytes_of(folder.path("b.txt")), "b");
  EXPECT_EQ(folder.count(), 2U);
}

TEST(MappedFile, RefusesAPipeWithoutWaiting) {
  const TempFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_ERROR(load_tensors(path), "it is not a regular file");
}

/// In a separate process, because limits on file sizes apply to processes.
TEST(AtomicFile, KeepsTheOldFileIfWritingFails) {
  const TempFolder folder;
  const std::string path = folder.path("a.txt");
  write_file(path, "old");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = testing::error_of([&] { write_file(path, std::string(5000, 'x')); });
    _exit(text.find("File too large") != std::string::npos ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(bytes_of(path), "old");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(FromFile, NamesBadSizesAndKeepsNoMemoryAfterAnError) {
  const TempFolder folder;
  const std::string path = folder.path("numbers");
  EXPECT_ERROR(from_file(path, true, -1, kInt), "from_file: size must not be negative, got -1");
  EXPECT_ERROR(from_file(path, true, int64_t{1} << 62, kInt), "is too large");
  EXPECT_ERROR(from_file(path, true, 4, TensorOptions(kInt).requires_grad(true)),
               "can require gradients");
  EXPECT_EQ(bytes_of("/proc/self/maps").find(path), std::string::npos);
}

}  // namespace
}  // namespace hearth::io
