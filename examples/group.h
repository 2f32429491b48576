#pragma once

#include <cstring>
#include <initializer_list>
#include <iostream>

/// One of several examples that are linked into one program (examples/CMakeLists.txt).
struct NamedExample {
  NamedExample(const char* example, int (*run)()) : name(example), main(run) {}
  NamedExample(const char* example, int (*run)(int, char**))
      : name(example), main_with_arguments(run) {}

  const char* name;
  int (*main)() = nullptr;
  int (*main_with_arguments)(int argc, char** argv) = nullptr;
};

/// Runs the example whose name is the program's file name, and returns its exit code.
inline int run_example(int argc, char** argv, std::initializer_list<NamedExample> examples) {
  const char* const slash = std::strrchr(argv[0], '/');
  const char* const name = slash ? slash + 1 : argv[0];
  for (const NamedExample& example : examples)
    if (std::strcmp(example.name, name) == 0)
      return example.main ? example.main() : example.main_with_arguments(argc, argv);
  std::cerr << name << " is not an example: call the program by the name of one\n";
  return 1;
}
