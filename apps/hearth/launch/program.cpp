#include "program.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "../names.h"
#include "../quotes.h"

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_executable(const fs::path& path) {
  return is_file(path) && access(path.c_str(), X_OK) == 0;
}

/// The names of the executable files in a folder.
std::vector<std::string> executables_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error))
    if (is_executable(entry->path())) names.push_back(entry->path().filename());
  return names;
}

std::string suggestion(const std::string& name) {
  return name.empty() ? "" : "; did you mean '" + printable(name) + "'?";
}

/// The error for a file that exists and cannot be run.
std::string not_executable(const std::string& name) {
  const std::string word = shell_word(name);
  return "the program '" + printable(name) + "' is not executable; use 'chmod +x " +
         printable(word) + "'" +
         (name.ends_with(".py") ? ", or 'python3 " + printable(word) + "' as the program" : "");
}

ProgramFile find_by_path(const std::string& name, const fs::path& directory) {
  const fs::path path = directory / name;
  if (is_executable(path)) return {path, ""};
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return {"", "the program '" + printable(name) + "' is a folder"};
  if (is_file(path)) return {"", not_executable(name)};
  const fs::path folder = fs::path(name).parent_path();
  const std::string near = nearest(fs::path(name).filename(), executables_in(directory / folder));
  return {"", "the program '" + printable(name) + "' does not exist" +
                  suggestion(near.empty() ? "" : (folder / near).string())};
}

std::vector<fs::path> folders_of_path() {
  const char* path = std::getenv("PATH");
  std::istringstream list(path ? path : "/usr/local/bin:/usr/bin:/bin");
  std::vector<fs::path> folders;
  for (std::string folder; std::getline(list, folder, ':');)
    folders.push_back(folder.empty() ? "." : folder);
  return folders;
}

ProgramFile find_in_path(const std::string& name, const fs::path& directory) {
  const std::vector<fs::path> folders = folders_of_path();
  for (const fs::path& folder : folders)
    if (is_executable(directory / folder / name)) return {directory / folder / name, ""};
  const std::string missing = "the program '" + printable(name) + "' was not found in PATH";
  if (is_executable(directory / name)) return {"", missing + suggestion("./" + name)};
  if (is_file(directory / name)) return {"", not_executable("./" + name)};
  const std::string here = nearest(name, executables_in(directory));
  if (!here.empty()) return {"", missing + suggestion("./" + here)};
  std::vector<std::string> known;
  for (const fs::path& folder : folders)
    for (std::string& program : executables_in(directory / folder))
      known.push_back(std::move(program));
  return {"", missing + suggestion(nearest(name, known))};
}

}  // namespace

ProgramFile find_program(const std::string& name, const std::string& directory) {
  if (name.empty()) return {"", "the name of the program is empty"};
  return name.find('/') != std::string::npos ? find_by_path(name, directory)
                                             : find_in_path(name, directory);
}

std::string fingerprint(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer), file.gcount() > 0)
    for (std::streamsize i = 0; i < file.gcount(); ++i)
      hash = (hash ^ static_cast<unsigned char>(buffer[i])) * 0x100000001b3;
  return file.is_open() ? std::to_string(hash) : "";
}

}  // namespace hearth::app
