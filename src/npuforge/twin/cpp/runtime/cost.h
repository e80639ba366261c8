// SPDX-License-Identifier: Apache-2.0
// What an instruction costs on its pipe: the recorder's view of the architecture's cost table.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace npuforge {

// The flat `key value` file that npuforge.soc.write_constants produces.
class ConstantsFile {
 public:
  static ConstantsFile load(const std::string& path);  // throws std::runtime_error, one line
  static ConstantsFile parse(std::string_view text, const std::string& origin);

  bool has(const std::string& key) const { return values_.contains(key); }
  const std::string& text(const std::string& key) const;   // throws when absent
  double number(const std::string& key) const;             // throws when absent or no number
  double number(const std::string& key, double otherwise) const;
  const std::map<std::string, std::string>& all() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
  std::string origin_;
};

// A library call priced by the instructions it consists of.
struct RecipeCost {
  uint32_t cycles = 0;
  uint32_t issue = 0;  // scalar-unit cycles beyond those of the call itself
};

// cycles = fixed + repeats x per_repeat[dtype width] x conflict, for instructions;
// cycles = base[width] + elements x per_element[width], for library calls fitted as a whole.
class CostTable {
 public:
  static CostTable load(const std::string& path);
  explicit CostTable(const ConstantsFile& constants);

  // Interns a name. Names without a cost of their own get the table's `default` row.
  uint16_t op_id(std::string_view name);
  const std::string& op_name(uint16_t op) const { return names_[op]; }
  const std::vector<std::string>& op_names() const { return names_; }
  bool known(uint16_t op) const { return ops_[op].known; }
  bool is_library(uint16_t op) const { return ops_[op].library; }

  // `repeats` counts 256 B repeats of the wider operand; `conflict` comes from bank_conflict().
  uint32_t vector_cycles(uint16_t op, unsigned dtype_bytes, uint32_t repeats,
                         double conflict = 1.0) const;
  // The same in counter mode; a partial last repeat costs extra there.
  uint32_t counter_cycles(uint16_t op, unsigned dtype_bytes, uint32_t repeats,
                          double conflict = 1.0, bool partial_tail = false) const;
  // A library call as one block; only for ops with is_library().
  uint32_t library_cycles(uint16_t op, unsigned dtype_bytes, uint64_t elements) const;
  // A library call without a fit: its recipe's instructions, each over `elements` elements or over
  // one 32 B block for each of `rows`; without a recipe, one instruction of the op itself.
  RecipeCost recipe_cycles(uint16_t op, unsigned dtype_bytes, uint64_t elements, uint64_t rows);
  // Scalar-unit cycles to issue one instruction of this op (address setup, mask writes, API body).
  uint32_t issue_cycles(uint16_t op) const { return ops_[op].issue; }

  // Cube: ceil(m/16) ceil(n/16) ceil(k/k0) + start, with k0 by operand width.
  uint32_t mmad_cycles(uint32_t m, uint32_t n, uint32_t k, double operand_bytes) const;
  // On-chip moves (L1 -> L0A/L0B/BT, L0C -> L1): start plus bytes over the row's bandwidth.
  uint32_t move_cycles(uint16_t op, uint64_t bytes) const;

 private:
  struct Op {
    bool known = false;
    bool library = false;
    double fixed = 0;
    uint32_t issue = 0;
    double per_repeat[4] = {};   // by log2 of the width in bytes
    double base[4] = {};
    double per_element[4] = {};
    double bytes_per_cycle = 0;
    std::vector<std::string> over_elements, over_rows;  // recipe
    bool widened = false;                               // recipe: 16 bit is worked on as 32 bit
  };
  Op describe(const std::string& name) const;

  ConstantsFile constants_;
  double counter_tail_ = 0;
  double mmad_start_ = 0;
  std::unordered_map<std::string, uint16_t> ids_;
  std::vector<std::string> names_;
  std::vector<Op> ops_;
};

// One operand of a vector instruction in the unified buffer.
struct UbStream {
  uint32_t address = 0;        // bytes from the start of the unified buffer
  uint32_t block_stride = 1;   // in 32 B blocks, within a repeat
  uint32_t repeat_stride = 8;  // in 32 B blocks, between repeats
  uint32_t blocks = 8;         // 32 B blocks touched per repeat

  bool operator==(const UbStream&) const = default;
};

// Average cycles per repeat that the unified buffer's ports need, 1 without any conflict.
double bank_conflict(std::span<const UbStream> reads, std::span<const UbStream> writes,
                     uint32_t repeats);

}  // namespace npuforge
