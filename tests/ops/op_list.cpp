// Writes or checks docs/ops.md, the list of operators, with the dtypes, devices and derivatives
// that the op table tests and the forms that tests/ops/forms.cpp calls. `tools/write_op_list.sh`
// writes the list; the test fails if the list is out of date.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "ops/call.h"
#include "tests/ops/forms.h"
#include "tests/support/fixtures.h"

namespace hearth::testing {
namespace {

/// The dtypes and orders of derivatives that the rows of one op test.
struct Entry {
  DtypeSet dtypes = 0;
  int orders = 0;
};

/// Whether the function of this name is declared in this form.
bool has_form(const std::string& name, Kind kind) {
  for (const CallForm& form : call_forms())
    if (form.name == name && form.kind == kind) return true;
  return false;
}

std::map<std::string, Entry> entries() {
  std::map<std::string, Entry> result;
  for (const Row& row : rows())
    for (const std::string& op : row.covers) {
      Entry& entry = result[op];
      entry.dtypes |= row.of_complex ? dtypes::kComplex : row.dtypes;
      entry.orders = std::max(entry.orders, row.orders);
    }
  return result;
}

std::string dtype_list(DtypeSet set) {
  const std::pair<DtypeSet, const char*> groups[] = {{dtypes::kFloatAndDouble, "f32 f64"},
                                                     {dtypes::kHalfs, "f16 bf16"},
                                                     {dtypes::kIntegers, "ints"},
                                                     {dtypes::kLong, "i64"},
                                                     {dtypes::kBool, "bool"},
                                                     {dtypes::kComplex, "complex"}};
  std::string text;
  for (const auto& [group, name] : groups) {
    if ((set & group) != group) continue;
    text += (text.empty() ? "" : ", ") + std::string(name);
    set &= ~group;
  }
  return text;
}

const char* policy(Amp amp) {
  switch (amp) {
    case Amp::kLower: return "lower";
    case Amp::kFloat32: return "f32";
    case Amp::kWidest: return "widest";
    default: return "";
  }
}

std::string autocast(const OpInfo& info) {
  const std::string cuda = policy(info.amp), cpu = policy(info.amp_cpu);
  if (cuda == cpu) return cuda;
  return (cuda.empty() ? "keep" : cuda) + " / " + (cpu.empty() ? "keep" : cpu);
}

bool is_internal(const std::string& name) {
  return name[0] == '_' || name.find("_backward") != std::string::npos;
}

void write_line(std::ostream& text, const OpRecord& op, const Entry& entry) {
  const OpInfo& info = *op.info;
  const bool is_composed = !op.infer;
  const bool is_differentiable_op = is_composed || op.grad;
  text << "| " << full_name(info) << " | "
       << dtype_list(entry.dtypes & (info.dtypes | info.cpu_dtypes)) << " | "
       << (is_differentiable_op ? std::min(entry.orders, 2) : 0) << " | "
       << (info.effect == Effect::kView ? "view"
           : is_composed                ? "composed"
                                        : "kernel")
       << (has_form(info.name, Kind::kInplace) ? ", in-place" : "")
       << (has_form(info.name, Kind::kOut) ? ", out=" : "") << " | " << autocast(info) << " | "
       << (info.effect == Effect::kDynamicShape ? "CPU, CUDA" : "CPU, CUDA, meta") << " |\n";
}

std::string op_list() {
  const auto tested = entries();
  std::map<std::string, const OpRecord*> ops;
  for (const OpRecord* op : all_ops())
    if (!is_internal(op->info->name)) ops[full_name(*op->info)] = op;
  std::ostringstream text;
  text
      << "# Operators\n\nWritten by `tools/write_op_list.sh` from the op records and the rows that "
         "test them: dtypes on the CPU and on\nsimulated GPUs (an operator may accept more), "
         "orders "
         "of derivatives, forms, and autocast's policy (CUDA / CPU if they differ):\n`lower` casts "
         "to autocast's dtype, `f32` to float32, `widest` to the widest dtype of the inputs, "
         "`keep` "
         "or nothing leaves them.\n`gpu.md` says how far the CUDA kernels are tested. "
      << ops.size()
      << " operators; many more functions are built from them.\n\n"
         "| operator | dtypes | derivatives | form | autocast | devices |\n"
         "|---|---|---|---|---|---|\n";
  for (const auto& [name, op] : ops)
    if (const auto entry = tested.find(name); entry != tested.end())
      write_line(text, *op, entry->second);
  return text.str();
}

TEST(OpList, IsUpToDate) {
  const std::string path = fixture_path("../../docs/ops.md");
  if (std::getenv("HEARTH_WRITE_OP_LIST")) {
    std::ofstream(path) << op_list();
    return;
  }
  std::ifstream file(path);
  const std::string written((std::istreambuf_iterator<char>(file)), {});
  EXPECT_TRUE(written == op_list()) << "docs/ops.md is out of date: run tools/write_op_list.sh";
}

}  // namespace
}  // namespace hearth::testing
