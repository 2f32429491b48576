#include "apps/hearth/completion.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "apps/hearth/choices.h"
#include "program.h"
#include "tests/support/files.h"

namespace hearth::testing {

namespace {

/// A program with each kind of option that completion distinguishes.
struct Sample {
  CLI::App app{"A sample", "sample"};
  std::string model, folder, text, shape;
  std::vector<std::string> kinds, folders;
  bool quiet = false;

  Sample() {
    CLI::App* train = app.add_subcommand("train", "Train: what's [best]");
    using Paths = app::Values::Paths;
    app::accept_only(train->add_option("--model", model, "The model"), "model", {"mlp", "lenet"});
    app::accept_only(train->add_option("--kind", kinds, "Kinds"), "kind", {"red", "green", "a:b"})
        ->delimiter(',');
    app::suggest_values(train->add_option("--out", folder, "A folder"), {{}, Paths::kFolders});
    app::suggest_values(train->add_option("--config", folder, "A file"), {{}, Paths::kFiles});
    app::suggest_values(train->add_option("--data", folder, "Data"),
                        {{"digits", "a:b"}, Paths::kFolders});
    train->add_option("--text", text, "Anything");
    train->add_flag("--quiet", quiet, "Say nothing");
    CLI::App* shape_of = app.add_subcommand("shape", "Shapes");
    app::accept_only(shape_of->add_option("shape", shape, "Which"), "shape", {"round", "a:b"});
    CLI::App* copy = app.add_subcommand("copy", "Copies");
    app::suggest_values(copy->add_option("from", text, "From"), {{}, Paths::kFiles});
    app::suggest_values(copy->add_option("to", text, "To"), {{}, Paths::kFiles});
    CLI::App* list = app.add_subcommand("list", "Lists");
    app::suggest_values(list->add_option("folders", folders, "The folders"), {{}, Paths::kFolders});
    CLI::App* run = app.add_subcommand("run", "Runs");
    app::suggest_values(run->add_option("program", text, "The program"),
                        {{}, Paths::kFiles, /*repeats=*/true});
  }
};

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  for (int character; (character = std::fgetc(pipe)) != EOF;) output += char(character);
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << output;
  return output;
}

/// The completions that bash offers for the last word.
std::string bash_completions(const std::string& words) {
  const TempFolder folder;
  write_bytes(folder.path("data.bin"), "");
  std::filesystem::create_directory(folder.path("day"));
  write_bytes(folder.path("script"), app::completion_script(Sample().app, "bash"));
  write_bytes(folder.path("ask"), "source ./script\nCOMP_WORDS=(" + words +
                                      ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_sample\n"
                                      "echo \"${COMPREPLY[*]}\"\n");
  const std::string answer = output_of("cd " + folder.str() + " && bash ask 2>&1");
  return answer.substr(0, answer.size() - 1);
}

TEST(Completion, BashCompletesCommandsFlagsAndValues) {
  EXPECT_EQ(bash_completions("sample ''"), "train shape copy list run --help");
  EXPECT_EQ(bash_completions("sample tr"), "train");
  EXPECT_EQ(bash_completions("sample train --"),
            "--help --model --kind --out --config --data --text --quiet");
  EXPECT_EQ(bash_completions("sample train --quiet --mo"), "--model");
  EXPECT_EQ(bash_completions("sample train --model ''"), "mlp lenet");
  EXPECT_EQ(bash_completions("sample train --model le"), "lenet");
  EXPECT_EQ(bash_completions("sample shape ''"), "round a:b --help");
  EXPECT_EQ(bash_completions("sample shape r"), "round");
}

TEST(Completion, BashCompletesFlagsWithEqualSigns) {
  EXPECT_EQ(bash_completions("sample train --model ="), "mlp lenet");
  EXPECT_EQ(bash_completions("sample train --model = m"), "mlp");
}

TEST(Completion, BashCompletesListItems) {
  EXPECT_EQ(bash_completions("sample train --kind red,g"), "red,green");
  EXPECT_EQ(bash_completions("sample train --model mlp,l"), "");
}

TEST(Completion, BashCompletesPathsOnlyForPathFlags) {
  EXPECT_EQ(bash_completions("sample train --out d"), "day");
  EXPECT_EQ(bash_completions("sample train --config dat"), "data.bin");
  EXPECT_EQ(bash_completions("sample train --data d"), "day digits");
  EXPECT_EQ(bash_completions("sample train --text d"), "");
  EXPECT_EQ(bash_completions("sample wrong d"), "");
  EXPECT_EQ(bash_completions("sample copy dat"), "data.bin");
  EXPECT_EQ(bash_completions("sample copy data.bin --h"), "--help");
  EXPECT_EQ(bash_completions("sample list da"), "day");
  EXPECT_EQ(bash_completions("sample list --h"), "--help");
}

TEST(Completion, FishCompletesCommandsFlagsAndValues) {
  if (!has_program("fish")) GTEST_SKIP() << "fish is not installed";
  const TempFolder folder;
  write_bytes(folder.path("script"), app::completion_script(Sample().app, "fish"));
  const auto completions = [&](const std::string& line) {
    return output_of("cd " + folder.str() + " && HOME=$PWD fish -c 'source script; complete -C \"" +
                     line + "\"'");
  };
  EXPECT_EQ(completions("sample "),
            "copy\tCopies\nlist\tLists\nrun\tRuns\nshape\tShapes\ntrain\tTrain: what's [best]\n");
  EXPECT_EQ(completions("sample train --m"), "--model\tThe model\n");
  EXPECT_EQ(completions("sample train --model le"), "lenet\tThe model\n");
  EXPECT_EQ(completions("sample shape r"), "round\tWhich\n");
  std::filesystem::create_directory(folder.path("day"));
  EXPECT_EQ(completions("sample train --data d"), "day/\tDirectory\ndigits\tData\n");
}

TEST(Completion, ZshGetsSpecifications) {
  const std::string script = app::completion_script(Sample().app, "zsh");
  EXPECT_EQ(script.find("#compdef sample\n"), 0);
  for (const char* part : {
           R"('train:Train\: what'\''s [best]')",
           "'--quiet[Say nothing]'",
           R"('--kind=[Kinds]:TEXT:_values -s , TEXT red green a\\\:b')",
           R"x(: _alternative "names\:name\:(digits a\:b)" "files\:file\:_files -/"')x",
           R"x('1:shape:(round a\:b)')x",
           "'1:from:_files' \\\n        '2:to:_files'",
           "'*:folders:_files -/'",
           "'*:program:_files'",
       })
    EXPECT_NE(script.find(part), std::string::npos) << part << "\n" << script;
}

TEST(Completion, ZshParsesItsScript) {
  if (!has_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  const TempFolder folder;
  write_bytes(folder.path("script"), app::completion_script(Sample().app, "zsh"));
  output_of("zsh -n " + folder.path("script"));
}

TEST(Completion, ProgramPrintsAScriptForItsCommands) {
  const RunResult ran = run({"completion", "bash"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* part :
       {"complete -F _hearth hearth\n", "'bench --size')", " completion ", "train"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << ran.out;
}

}  // namespace

}  // namespace hearth::testing
