// hearth launch on one machine: environment, output, failures, restarts.
#include <regex>
#include <set>

#include "tests/cli/launch_support.h"
#include "tests/support/listener.h"

namespace hearth::testing {
namespace {

TEST(Launch, RanksGetTheirNumbers) {
  const RunResult ran = launch({"--nproc-per-node", "4", "--master-port", own_port()},
                               "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE "
                               "$GROUP_RANK/$GROUP_WORLD_SIZE $MASTER_ADDR:$MASTER_PORT "
                               "$HEARTH_RESTART_COUNT $HEARTH_MAX_RESTARTS ${#HEARTH_RDZV_TOKEN}");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const std::string rest = "/4 0/1 127.0.0.1:" + own_port() + " 0 0 32";
  const std::vector<std::string> expected{"[rank 0] 0/4 0" + rest, "[rank 1] 1/4 1" + rest,
                                          "[rank 2] 2/4 2" + rest, "[rank 3] 3/4 3" + rest};
  EXPECT_EQ(sorted_lines(ran.out), expected);
}

TEST(Launch, TwoMachinesShareTheRanks) {
  const auto node = [](const std::string& rank) {
    const RunResult ran =
        launch({"--nproc_per_node=2", "--nnodes=2", "--node-rank", rank, "--rdzv-endpoint",
                "127.0.0.1:" + own_port(), "--rdzv-token", "secret"},
               "echo $RANK/$WORLD_SIZE $GROUP_RANK $MASTER_PORT $HEARTH_RDZV_TOKEN "
               "${HEARTH_RDZV_ROUND-each launcher counts its own restarts}${HEARTH_LAUNCH_ID-}",
               clean_environment({"HEARTH_RDZV_ROUND=7", "HEARTH_LAUNCH_ID=of-an-outer-launch"}));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return sorted_lines(ran.out);
  };
  const std::string rest = " " + own_port() + " secret each launcher counts its own restarts";
  using Lines = std::vector<std::string>;
  EXPECT_EQ(node("0"), (Lines{"[rank 0] 0/4 0" + rest, "[rank 1] 1/4 0" + rest}));
  EXPECT_EQ(node("1"), (Lines{"[rank 2] 2/4 1" + rest, "[rank 3] 3/4 1" + rest}));
}

TEST(Launch, ProgramsForTorchrunFindTheirVariables) {
  const RunResult ran = launch({"--nproc_per_node", "2", "--rdzv_id=run-7", "--no-python"},
                               "echo $ROLE_NAME $ROLE_RANK/$ROLE_WORLD_SIZE $TORCHELASTIC_RUN_ID");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(sorted_lines(ran.out),
            (std::vector<std::string>{"[rank 0] default 0/2 run-7", "[rank 1] default 1/2 run-7"}));
}

TEST(Launch, EachLaunchHasItsOwnId) {
  std::set<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    const RunResult ran = launch({"--nproc-per-node", "2", "--no-prefix", "--rdzv-id", "same",
                                  "--rdzv-token", "same", "--max-restarts", "1"},
                                 "echo $HEARTH_LAUNCH_ID; exit $((1 - HEARTH_RESTART_COUNT))");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::vector<std::string> lines = sorted_lines(ran.out);
    EXPECT_GE(lines.size(), 3U);
    EXPECT_EQ(lines.front(), lines.back());  // all ranks of both attempts
    EXPECT_EQ(lines.front().size(), 32U) << lines.front();
    ids.insert(lines.front());
  }
  EXPECT_EQ(ids.size(), 2U);
}

TEST(Launch, OutputCanBeLimitedToSomeRanks) {
  const RunResult ran =
      launch({"--nproc-per-node", "3", "--local-ranks-filter", "0,2"}, "echo out; echo err >&2");
  EXPECT_EQ(sorted_lines(ran.out), (std::vector<std::string>{"[rank 0] out", "[rank 2] out"}));
  EXPECT_EQ(sorted_lines(ran.err), (std::vector<std::string>{"[rank 0] err", "[rank 2] err"}));
}

TEST(Launch, ThreadsAreLimitedWithANotice) {
  const auto threads = [](const std::string& count, const std::string& variable) {
    return launch({"--nproc-per-node", count, "--no-prefix"}, "echo ${OMP_NUM_THREADS-unset}",
                  {variable});
  };
  EXPECT_EQ(threads("1", "OMP_NUM_THREADS").out, "unset\n");
  EXPECT_EQ(threads("2", "OMP_NUM_THREADS=3").out, "3\n3\n");
  const RunResult ran = threads("2", "OMP_NUM_THREADS");
  EXPECT_EQ(ran.out, "1\n1\n");
  EXPECT_EQ(ran.err.find("hearth: OMP_NUM_THREADS is not set, so it is 1 for each of the 2 ranks"),
            0U)
      << ran.err;
}

TEST(Launch, ArgumentsArriveUnchanged) {
  const std::vector<std::string> words{"", "[1,2]", "--lr=,", "--", "a b", "--help", "$HOME", "-n"};
  std::vector<std::string> line{"launch", "--no-prefix", "sh", "-c", "printf '<%s>' \"$@\"", "sh"};
  line.insert(line.end(), words.begin(), words.end());
  std::string expected;
  for (const std::string& word : words) expected += "<" + word + ">";
  EXPECT_EQ(run(line, clean_environment()).out, expected + "\n");
}

TEST(Launch, LinesAreNeverTorn) {
  const RunResult ran = launch({"--nproc-per-node", "4"},
                               "i=0; while [ $i -lt 200 ]; do printf 'from %s ' $RANK; "
                               "printf 'a long text %090d\\n' $i; i=$((i + 1)); done; printf end");
  ASSERT_EQ(ran.status, 0) << ran.err;
  int next[4] = {};
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_EQ(line.find("[rank "), 0U) << line;
    const std::string rank = line.substr(6, 1);
    int& number = next[std::stoi(rank)];
    const std::string digits = std::to_string(number);
    const std::string expected = number == 200 ? "end"
                                               : "from " + rank + " a long text " +
                                                     std::string(90 - digits.size(), '0') + digits;
    ASSERT_EQ(line, "[rank " + rank + "] " + expected);
    ++number;
  }
  for (const int count : next) EXPECT_EQ(count, 201);
}

TEST(Launch, LinesOfBothStreamsAreWholeInOneFile) {
  const TempFolder folder;
  const int file = open(folder.path("both").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  Program program(launch_line({"--nproc-per-node", "2"},
                              "i=0; while [ $i -lt 1000 ]; do echo \"a longer line $i of stdout\"; "
                              "echo \"a longer line $i of stderr\" >&2; i=$((i + 1)); done"),
                  clean_environment(), file, file);
  close(file);
  EXPECT_EQ(program.wait().status, 0);
  const std::vector<std::string> lines = sorted_lines(bytes_of(folder.path("both")));
  EXPECT_EQ(lines.size(), 4000U);
  const std::regex expected("\\[rank [01]\\] a longer line \\d+ of std(out|err)");
  for (const std::string& line : lines) ASSERT_TRUE(std::regex_match(line, expected)) << line;
}

TEST(Launch, StreamsStaySeparateAndPrefixesCanBeChosen) {
  const std::string script = "echo out; echo err >&2";
  const RunResult ran = launch({}, script);
  EXPECT_EQ(ran.out, "[rank 0] out\n");
  EXPECT_EQ(ran.err, "[rank 0] err\n");
  EXPECT_EQ(launch({"--no-prefix"}, script).out, "out\n");
  EXPECT_EQ(launch({"--log-line-prefix-template", "${rank}.${local_rank}: "}, script).out,
            "0.0: out\n");
}

TEST(Launch, MuchOutputOfASlowReaderIsComplete) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  Program program(launch_line({"--nproc-per-node", "2"}, "yes 0123456789 | head -n 50000"),
                  clean_environment(), ends[1]);
  close(ends[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  size_t bytes = 0;
  char buffer[1 << 16];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;) bytes += size_t(count);
  close(ends[0]);
  EXPECT_EQ(program.wait().status, 0);
  EXPECT_EQ(bytes, 2 * 50000 * std::string("[rank 0] 0123456789\n").size());
}

TEST(Launch, FirstFailureIsReportedAndEndsAll) {
  RunResult ran;
  const double seconds = seconds_of([&] {
    ran = launch({"--nproc-per-node", "4"},
                 "[ $RANK = 2 ] || exec sleep 60; echo one >&2; echo two >&2; exit 7");
  });
  EXPECT_EQ(ran.status, 7);
  EXPECT_LT(seconds, 20);
  EXPECT_NE(ran.err.find("hearth: rank 2 on "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(" failed with exit code 7, so all ranks were ended\n"), std::string::npos);
  EXPECT_NE(ran.err.find("\n  rank      : 2 (local rank: 2)\n  ended with: exit code 7 (process: "),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("  stderr    : its last lines were\n    one\n    two\n"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(ran.err.find("Other failures"), std::string::npos) << ran.err;
}

TEST(Launch, DeathBySignalIsReported) {
  const RunResult ran = launch({}, "kill -SEGV $$");
  EXPECT_EQ(ran.status, 128 + SIGSEGV);
  EXPECT_NE(ran.err.find(" failed with signal 11 (SIGSEGV), so"), std::string::npos) << ran.err;
}

TEST(Launch, RestartsAllRanks) {
  const std::string script =
      "echo $HEARTH_RESTART_COUNT $HEARTH_MAX_RESTARTS $TORCHELASTIC_RESTART_COUNT "
      "$HEARTH_RDZV_ROUND; "
      "[ $HEARTH_RESTART_COUNT = 2 ] || { [ $RANK = 0 ] && exit 3; exec sleep 60; }";
  const RunResult ran = launch({"--nproc-per-node", "2", "--max-restarts", "2"}, script);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("[rank 1] 2 2 2 2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("hearth: all ranks are started again (restart 2 of 2)\n"),
            std::string::npos)
      << ran.err;
  const RunResult failed = launch({"--nproc-per-node", "2", "--max-restarts", "1"}, script);
  EXPECT_EQ(failed.status, 3);
  EXPECT_EQ(failed.err.find("restart 2"), std::string::npos) << failed.err;
}

TEST(Launch, ARestartKeepsTheChosenPort) {
  const RunResult ran = launch({"--no-prefix", "--max-restarts", "2"}, "echo $MASTER_PORT; exit 1");
  const std::string first = ran.out.substr(0, ran.out.find('\n') + 1);
  EXPECT_GT(first.size(), 4U);
  EXPECT_EQ(ran.out, first + first + first);
}

TEST(Launch, LogFilesHaveTheChosenStreams) {
  const TempFolder folder;
  const std::string script = "echo out $RANK; echo err $RANK >&2";
  const auto logs = [&](const std::string& name, std::vector<std::string> flags) {
    const std::string parent = folder.path(name);
    flags.insert(flags.end(), {"--nproc-per-node", "2", "--log-dir", parent});
    const RunResult ran = launch(flags, script);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::vector<std::string> found = sorted_lines(ran.out + ran.err);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(parent))
      if (entry.is_regular_file()) {
        const std::filesystem::path path = std::filesystem::relative(entry.path(), parent);
        const std::string place = path.string().substr(path.string().find('/') + 1);
        found.push_back(place + ": " + bytes_of(entry.path()));
      }
    std::sort(found.begin(), found.end());
    return found;
  };
  using Lines = std::vector<std::string>;
  const Lines files{"attempt_0/rank_0/stderr.log: err 0\n", "attempt_0/rank_0/stdout.log: out 0\n",
                    "attempt_0/rank_1/stderr.log: err 1\n", "attempt_0/rank_1/stdout.log: out 1\n"};
  Lines all{"[rank 0] err 0", "[rank 0] out 0", "[rank 1] err 1", "[rank 1] out 1"};
  all.insert(all.end(), files.begin(), files.end());
  EXPECT_EQ(logs("all", {}), all);
  EXPECT_EQ(logs("redirects", {"--redirects", "3"}), files);
  EXPECT_EQ(logs("one", {"-t", "1:1", "-r", "0:2"}),
            (Lines{"[rank 0] out 0", "[rank 1] err 1", "[rank 1] out 1", files[0], files[3]}));
}

TEST(Launch, LogsThatCannotBeWrittenAreExplained) {
  const TempFolder folder;
  const std::string logs = folder.path("logs");
  const RunResult ran =
      launch({"--log-dir", logs}, "ln -s missing $(echo " + logs + "/*)/attempt_0; echo text");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err.find("hearth: the logs in '" + logs + "/"), 0U) << ran.err;
  EXPECT_NE(ran.err.find("' are not complete: File exists\n"), std::string::npos) << ran.err;
}

TEST(Launch, UnwritableOutputIsAnError) {
  const int full = open("/dev/full", O_WRONLY);
  Program program(launch_line({}, "echo text"), clean_environment(), full);
  close(full);
  const RunResult ran = program.wait();
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "hearth: the output could not be written: No space left on device\n");
}

TEST(Launch, MistakesAreExplained) {
  const auto fails = [](std::vector<std::string> flags, int status, const std::string& error) {
    const RunResult ran = launch(flags, "echo started");
    EXPECT_EQ(ran.status, status) << error;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.find("hearth: " + error), 0U) << ran.err;
  };
  fails({"--nproc-per-node", "0"}, 2,
        "--nproc-per-node: '0' is not a whole number from 1 to 4096, nor auto, cpu or gpu");
  fails({"--nproc-per-nod", "2"}, 2,
        "unknown flag '--nproc-per-nod'; did you mean '--nproc-per-node'?");
  fails({"--nnodes", "1:2"}, 2, "--nnodes: '1:2' needs --rdzv-endpoint HOST:PORT, the same on all");
  fails({"--nnodes", "1:2", "--rdzv-endpoint", "127.0.0.1", "--node-rank", "0"}, 2,
        "--node-rank: cannot be combined with --nnodes MIN:MAX");
  fails({"--nnodes", "1:2", "--rdzv-endpoint", "127.0.0.1:3000", "--master-port", "3000"}, 2,
        "--master-port: the launchers meet at this port");
  fails({"--nnodes", "1:2", "--rdzv-endpoint", "no.such.machine.invalid"}, 1,
        "the machine 'no.such.machine.invalid' is unknown: ");
  fails({"--nnodes", "1:2", "--rdzv-endpoint", "127.0.0.1", "--rdzv-token", "s\xe9same"}, 2,
        "--rdzv-token: the secret, also that in HEARTH_RDZV_TOKEN, must be valid UTF-8");
  fails({"--nnodes", "2:1"}, 2, "--nnodes: '2:1' must be MIN:MAX, the smaller number first");
  fails({"--nnodes", "1:x"}, 2, "--nnodes: 'x' is not a whole number from 1 to");
  fails({"--heartbeat-timeout", "0"}, 2,
        "--heartbeat-timeout: '0' is not a whole number from 1 to");
  fails({"--rdzv-backend", "c10d"}, 2,
        "--rdzv-backend: torchrun's flag has no counterpart: leave it out; the ranks meet at");
  fails({"-m", "train"}, 2,
        "-m,--module: torchrun's flag has no counterpart: use the program 'python3'");
  fails({"--local-ranks-filter", "a"}, 2, "--local-ranks-filter: 'a' is not a whole number from 0");
  fails({"--nnodes", "2"}, 2, "--nnodes: 2 machines need --rdzv-endpoint HOST:PORT");
  fails({"--nnodes", "2", "--rdzv-endpoint", "127.0.0.1"}, 2,
        "--nnodes: 2 machines need --node-rank");
  fails({"--nnodes", "2", "--node-rank", "2", "--rdzv-endpoint", "127.0.0.1"}, 2,
        "--node-rank: 2 must be below --nnodes, 2; machines are counted from 0");
  fails({"--rdzv-endpoint", "a:b"}, 2, "--rdzv-endpoint: 'a:b' must be HOST or HOST:PORT");
  fails({"--rdzv-endpoint", "a:70000"}, 2,
        "--rdzv-endpoint: the port of 'a:70000' must be from 1 to 65535");
  fails({"--rdzv-endpoint", "127.0.0.1:2950", "--master-port", "2951"}, 2,
        "--master-port: 2951 contradicts --rdzv-endpoint");
  fails({"--max-restarts", "-1"}, 2, "--max-restarts: '-1' is not a whole number from 0");
  fails({"--tee", "4"}, 2, "--tee: '4' must be 0 (nothing), 1 (stdout), 2 (stderr) or 3 (both)");
  fails({"--tee", "3"}, 2, "--tee: needs --log-dir");
  fails({"--log-dir", "x", "--tee", "1:1"}, 2, "--tee: there is no rank 1; ranks are from 0 to 0");
  fails({"--master-addr", "192.0.2.1"}, 1, "'192.0.2.1' is not an address of this machine");
  fails({"--master-addr", "no.such.machine.invalid"}, 1,
        "the machine 'no.such.machine.invalid' is unknown: ");
  fails({"--cluster", "x.toml", "--node-rank", "0"}, 2,
        "--node-rank: cannot be combined with --cluster");
  EXPECT_EQ(run({"launch", "--nproc-per-node", "2"}).err.find("hearth: program is required\n"), 0U);
}

TEST(Launch, MissingProgramsAreExplained) {
  const TempFolder folder;
  write_bytes(folder.path("train"), "#!/bin/sh\n");
  write_bytes(folder.path("train.py"), "");
  std::filesystem::permissions(folder.path("train"), std::filesystem::perms::owner_all);
  const auto fails = [](const std::string& program, const std::string& error) {
    const RunResult ran = run({"launch", "--", program}, clean_environment());
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.err, "hearth: the program '" + program + "' " + error + "\n");
  };
  fails(folder.path("trian"), "does not exist; did you mean '" + folder.path("train") + "'?");
  fails(folder.path("train.py"), "is not executable; use 'chmod +x " + folder.path("train.py") +
                                     "', or 'python3 " + folder.path("train.py") +
                                     "' as the program");
  fails(folder.str(), "is a folder");
  fails("no-such-program-anywhere", "was not found in PATH");
}

TEST(Launch, TakenPortsAreRefused) {
  const Listener other;
  const std::string port = std::to_string(other.port());
  const RunResult ran = launch({"--master-port", port}, "echo started");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "hearth: port " + port +
                         " of '127.0.0.1' is taken by another program; choose another port\n");
}

}  // namespace
}  // namespace hearth::testing
