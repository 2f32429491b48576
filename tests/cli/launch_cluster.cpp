// hearth launch --cluster: the cluster file, and machines reached by a script in place of ssh.
#include "apps/hearth/launch/cluster_file.h"
#include "tests/cli/launch_site.h"

namespace hearth::testing {
namespace {

TEST(LaunchCluster, RanksOfAllHostsGetTheirNumbers) {
  const Site site(R"(
[environment]
TEXT = "it's $HOME"
NUMBER = 5
[[host]]
name = "alpha"
address = "127.0.0.1"
gpus = [3, 1]
interface = "lo"
directory = "/tmp"
[[host]]
address = "127.0.0.2"
user = "somebody"
port = 2222
environment = { NUMBER = 6, OMP_NUM_THREADS = 4 }
)");
  const RunResult ran = site.launch(
      "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK/$GROUP_WORLD_SIZE "
      "$MASTER_ADDR $CUDA_VISIBLE_DEVICES $GLOO_SOCKET_IFNAME $HEARTH_SOCKET_IFNAME $TEXT $NUMBER "
      "$OMP_NUM_THREADS ${#HEARTH_RDZV_TOKEN} ${#HEARTH_LAUNCH_ID} \"$PWD\"; echo err >&2");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const std::string rest = " 127.0.0.1 3,1 lo lo it's $HOME 5 1 32 32 /tmp";
  EXPECT_EQ(sorted_lines(ran.out),
            (std::vector<std::string>{"[rank 0] 0/3 0/2 0/2" + rest, "[rank 1] 1/3 1/2 0/2" + rest,
                                      "[rank 2] 2/3 0/1 1/2 127.0.0.1 it's $HOME 6 4 32 32 " +
                                          std::filesystem::current_path().string()}));
  EXPECT_EQ(sorted_lines(ran.err),
            (std::vector<std::string>{"[rank 0] err", "[rank 1] err", "[rank 2] err"}));
}

TEST(LaunchCluster, ArgumentsArriveUnchangedAndTheCommandCanBeInTheEnvironment) {
  const Site site("[[host]]\naddress = \"127.0.0.1\"\n");
  std::vector<std::string> environment = site.environment();
  environment.insert(environment.begin(), "HEARTH_SSH=sh " + site.ssh);
  environment.erase(std::find(environment.begin(), environment.end(), "HEARTH_SSH"));
  const RunResult ran = run({"launch", "--no-prefix", "--cluster", site.file, "sh", "-c",
                             "printf '<%s>' \"$@\"", "sh", "", "it's", "a \"b\"", "$HOME", "é\\n"},
                            environment);
  EXPECT_EQ(ran.out, "<><it's><a \"b\"><$HOME><é\\n>\n") << ran.err;
}

TEST(LaunchCluster, AllProblemsOfAllHostsAreReportedTogether) {
  const Site site(R"(
[[host]]
address = "127.0.0.1"
interface = "no7"
directory = "/tmp"
[[host]]
name = "refuses"
address = "127.0.0.9"
[[host]]
name = "empty"
address = "127.0.0.8"
[[host]]
name = "old"
address = "127.0.0.7"
[[host]]
name = "folder"
address = "127.0.0.3"
directory = "/no/such/folder"
)");
  const RunResult ran = run({"launch", "--cluster", site.file, "--ssh", site.ssh, "--master-addr",
                             "192.0.2.1", "./trian"},
                            site.environment());
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  for (const char* problem :
       {"the machines of '", "' are not ready, no rank was started:\n",
        "\n  127.0.0.1: the program './trian' does not exist",
        "\n  127.0.0.1: there is no network interface 'no7' (there are lo",
        "\n  127.0.0.1: '192.0.2.1' is not an address of this machine\n",
        "\n  refuses (127.0.0.9): cannot connect: ssh: connect to host 127.0.0.9 port 22: "
        "Connection "
        "refused; 'ssh -o BatchMode=yes' to this machine must work without a password\n",
        "\n  empty (127.0.0.8): there is no program '", "; install it there, or set 'hearth' in",
        "\n  old (127.0.0.7): it has hearth 0.0.1, this machine has ",
        "\n  folder (127.0.0.3): there is no folder '/no/such/folder'\n"})
    EXPECT_NE(ran.err.find(problem), std::string::npos) << problem << "\n" << ran.err;
}

TEST(LaunchCluster, FailureEndsAllHostsAndRestarts) {
  const Site site;
  const RunResult ran = site.launch(
      "echo $$ >> $FILE; [ $RANK = 2 ] || exec sleep 60; [ $HEARTH_RESTART_COUNT = 1 ] && exit 6; "
      "echo dying >&2; exit 5",
      {"--max-restarts", "1"});
  EXPECT_EQ(ran.status, 6);
  EXPECT_NE(ran.err.find("hearth: rank 2 on beta failed with exit code 5, so all ranks were ended"),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("    dying\n"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("(restart 1 of 1)\n"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("failed with exit code 6"), std::string::npos) << ran.err;
  EXPECT_TRUE(all_gone(processes_in(site.record)));
}

TEST(LaunchCluster, SignalsReachAllHosts) {
  RunningCluster running(
      "trap 'echo ended; exit 0' INT; echo $$ >> $FILE; while :; do sleep 0.01; done");
  running.program.kill(SIGINT);
  const RunResult ran = running.program.wait();
  EXPECT_EQ(ran.status, 128 + SIGINT);
  EXPECT_EQ(sorted_lines(ran.out),
            (std::vector<std::string>{"[rank 0] ended", "[rank 1] ended", "[rank 2] ended"}));
  EXPECT_EQ(ran.err, "hearth: stopped by SIGINT\n");
}

TEST(LaunchCluster, KilledLauncherLeavesNoProcess) {
  RunningCluster running("echo $$ >> $FILE; sleep 60; :");
  running.program.kill(SIGKILL);
  EXPECT_EQ(running.program.wait().status, -SIGKILL);
  EXPECT_TRUE(comes_true([&] { return all_gone(processes_in(running.site.record)); }));
}

TEST(LaunchCluster, LostConnectionIsReportedAndEndsTheRanks) {
  RunningCluster running("echo $$ >> $FILE; sleep 60; :");
  const std::vector<pid_t> connections = processes_in(running.site.folder.path("ssh-record"));
  ASSERT_EQ(connections.size(), 2U);
  ::kill(connections[1], SIGKILL);
  const RunResult ran = running.program.wait();
  EXPECT_EQ(ran.status, 128 + SIGKILL);
  EXPECT_NE(ran.err.find("hearth: the connection to "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(" failed with "), std::string::npos) << ran.err;
  EXPECT_TRUE(comes_true([&] { return all_gone(processes_in(running.site.record)); }));
}

TEST(LaunchCluster, FileErrorsNameTheLine) {
  const auto fails = [](const std::string& text, int line, const std::string& error) {
    const Site site(text);
    const std::string expected = site.file + ":" + std::to_string(line) + ": " + error;
    try {
      app::read_cluster(site.file);
      ADD_FAILURE() << text;
    } catch (const std::exception& refusal) {
      EXPECT_EQ(std::string(refusal.what()).find(expected), 0U)
          << refusal.what() << "\nexpected " << error;
    }
  };
  const std::string host = "[[host]]\naddress = \"127.0.0.1\"\n";
  fails("proceses = 2\n" + host, 1,
        "unknown key 'proceses'; did you mean 'processes'? (known: host");
  fails(host + "adress = \"x\"\n", 3, "unknown key 'adress'; did you mean 'address'? (known: name");
  fails("[[host]]\nname = \"a\"\n", 1, "a host has no 'address'");
  fails("host = [3]\n", 1, "a host must be a table, [[host]]");
  fails(host + host, 3, "two hosts have the name '127.0.0.1'");
  fails(host + host + "name = \"b\"\n", 3, "two hosts have the address '127.0.0.1'");
  fails(host + "processes = 0\n", 3, "'processes': '0' is not a whole number from 1 to 4096");
  fails(host + "processes = \"many\"\n", 3, "'processes': 'many' is not a whole number from 1 to");
  fails(host + "processes = 1.5\n", 3,
        "'processes' must be a whole number, \"auto\", \"cpu\" or \"gpu\"");
  fails(host + "port = 0\n", 3, "'port' must be a whole number from 1 to 65535");
  fails(host + "port = \"22\"\n", 3, "'port' must be a whole number from 1 to 65535");
  fails("master-port = 65536\n" + host, 1, "'master-port' must be a whole number from 1 to 65535");
  fails(host + "gpus = 2\n", 3, "'gpus' must be a list, for example [0, 1]");
  fails(host + "gpus = [0, 0]\n", 3, "'gpus' has 0 twice");
  fails(host + "gpus = [-1]\n", 3, "a GPU must be a number (0, 1, ...) or a name such as");
  fails(host + "gpus = [0]\nprocesses = 2\n", 1,
        "127.0.0.1 has 2 processes, but 'gpus' lists only 1");
  fails(host + "user = \"-oProxyCommand=x\"\n", 3, "'user' must not begin with '-'");
  fails(host + "user = \"\"\n", 3, "'user' is empty");
  fails(host + "user = 5\n", 3, "'user' must be a string");
  fails(host + "interface = \"a b\"\n", 3, "'interface' must not contain spaces, quotes");
  fails(host + "directory = \"runs\"\n", 1,
        "'directory' must be an absolute path, which begins with '/'");
  fails(host + "hearth = \"\\u001b\"\n", 3, "'hearth' has control characters");
  fails(host + "environment = 3\n", 3, "'environment' must be a table of variables");
  fails(host + "environment = { RANK = 3 }\n", 3, "'RANK' is set by hearth launch itself");
  fails(host + "environment = { A = [1] }\n", 3, "'A' must be a string or a whole number");
  fails(host + "environment = { \"A B\" = 1 }\n", 3, "'A B' is not a name of a variable");
}

TEST(LaunchCluster, UnusableFilesAreRefused) {
  const auto fails = [](const std::string& text, int status, const std::string& error) {
    const Site site(text);
    const RunResult ran = site.launch("echo started");
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(error), std::string::npos) << ran.err;
  };
  fails("processes = 2\n", 2, "/cluster.toml: the file has no [[host]], so there is no machine\n");
  EXPECT_EQ(Site()
                .launch("echo started", {"--nnodes", "3"})
                .err.find("hearth: --nnodes: the cluster file has only 2 machines, not 3\n"),
            0U);
  fails("[[host\n", 2, "/cluster.toml': line 1");
  fails("[[host]]\nadres = 3\n", 2,
        "/cluster.toml:2: unknown key 'adres'; did you mean 'address'?");
  const RunResult ran = run({"launch", "--cluster", "/no/file", "ls"}, clean_environment());
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "hearth: cannot read '/no/file': No such file or directory\n");
}

}  // namespace
}  // namespace hearth::testing
