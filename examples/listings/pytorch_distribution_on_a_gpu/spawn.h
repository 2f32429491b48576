#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

/// Stands for torch.multiprocessing.spawn: calls train(rank, init_method) in new processes. Returns
/// the exit code of the program. Call it before anything else, because it forks.
template <class Train>
int spawn(int processes, const Train& train) {
  char path[] = "/tmp/listing-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return 1;
  close(file);
  unlink(path);  // the processes create it again, to meet in it
  for (int rank = 0; rank < processes; ++rank) {
    if (fork() != 0) continue;
    std::exit(run([&] { train(rank, "file://" + std::string(path)); }));
  }
  int code = 0;
  for (int status = 0; wait(&status) > 0;)
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) code = 1;
  return code;
}
