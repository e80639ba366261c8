// SPDX-License-Identifier: Apache-2.0
#include "cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <locale>
#include <sstream>
#include <stdexcept>

namespace npuforge {
namespace {

constexpr const char* kWidths[4] = {"b8", "b16", "b32", "b64"};

unsigned width_index(unsigned dtype_bytes) {
  if (dtype_bytes <= 1) return 0;
  return std::min(3u, static_cast<unsigned>(std::bit_width(dtype_bytes) - 1));
}

uint32_t whole_cycles(double cycles) {
  return static_cast<uint32_t>(std::clamp(std::round(cycles), 0.0, 4294967295.0));
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

ConstantsFile ConstantsFile::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read the constants file " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str(), path);
}

ConstantsFile ConstantsFile::parse(std::string_view text, const std::string& origin) {
  ConstantsFile result;
  result.origin_ = origin;
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const size_t gap = line.find(' ');
    if (gap == std::string_view::npos)
      throw std::runtime_error(origin + ":" + std::to_string(number) + ": expected `key value`");
    result.values_[std::string(line.substr(0, gap))] = std::string(trimmed(line.substr(gap)));
  }
  return result;
}

const std::string& ConstantsFile::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw std::runtime_error(origin_ + ": no value for " + key);
  return found->second;
}

double ConstantsFile::number(const std::string& key) const {
  const std::string& value = text(key);
  std::istringstream stream(value);
  stream.imbue(std::locale::classic());
  double result = 0;
  if (!(stream >> result) || !stream.eof())
    throw std::runtime_error(origin_ + ": " + key + " is not a number: " + value);
  return result;
}

double ConstantsFile::number(const std::string& key, double otherwise) const {
  return has(key) ? number(key) : otherwise;
}

CostTable CostTable::load(const std::string& path) { return CostTable(ConstantsFile::load(path)); }

CostTable::CostTable(const ConstantsFile& constants) : constants_(constants) {
  counter_tail_ = constants_.number("vector.counter_tail");
  mmad_start_ = constants_.number("cube.mmad.start");
  // Id 0 is the row that unnamed records use, so a zeroed Record has a name in traces.
  op_id("default");
}

uint16_t CostTable::op_id(std::string_view name) {
  const std::string key(name);
  if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
  if (names_.size() >= 65535) throw std::runtime_error("too many operation names");
  const auto id = static_cast<uint16_t>(names_.size());
  ids_.emplace(key, id);
  names_.push_back(key);
  ops_.push_back(describe(key));
  return id;
}

CostTable::Op CostTable::describe(const std::string& name) const {
  Op op;
  const std::string prefix = "cost." + name + ".";
  op.library = constants_.has(prefix + "base.b32");
  op.known = op.library || constants_.has(prefix + "fixed");
  const auto value = [&](const std::string& field) {
    return constants_.number(prefix + field, constants_.number("cost.default." + field, 0.0));
  };
  op.fixed = value("fixed");
  op.issue = whole_cycles(value("issue"));
  op.bytes_per_cycle = value("bytes_per_cycle");
  const std::string recipe = "recipe." + name + ".";
  const auto steps = [&](const std::string& field) {
    return constants_.has(recipe + field) ? words(constants_.text(recipe + field))
                                          : std::vector<std::string>();
  };
  op.over_elements = steps("elements");
  op.over_rows = steps("rows");
  op.widened = constants_.has(recipe + "widened");
  for (int w = 0; w < 4; ++w) {
    op.per_repeat[w] = value(kWidths[w]);
    op.base[w] = constants_.number(prefix + "base." + kWidths[w], 0.0);
    op.per_element[w] = constants_.number(prefix + "per_element." + kWidths[w], 0.0);
  }
  return op;
}

uint32_t CostTable::vector_cycles(uint16_t op, unsigned dtype_bytes, uint32_t repeats,
                                  double conflict) const {
  const Op& row = ops_[op];
  return whole_cycles(row.fixed + repeats * row.per_repeat[width_index(dtype_bytes)] * conflict);
}

uint32_t CostTable::counter_cycles(uint16_t op, unsigned dtype_bytes, uint32_t repeats,
                                   double conflict, bool partial_tail) const {
  return vector_cycles(op, dtype_bytes, repeats, conflict) +
         (partial_tail ? whole_cycles(counter_tail_) : 0);
}

uint32_t CostTable::library_cycles(uint16_t op, unsigned dtype_bytes, uint64_t elements) const {
  const Op& row = ops_[op];
  const unsigned w = width_index(dtype_bytes);
  return whole_cycles(row.base[w] + static_cast<double>(elements) * row.per_element[w]);
}

RecipeCost CostTable::recipe_cycles(uint16_t op, unsigned dtype_bytes, uint64_t elements,
                                    uint64_t rows) {
  const Op recipe = ops_[op];  // a copy: interning the steps' names below may move the table
  const unsigned width = recipe.widened && dtype_bytes == 2 ? 4 : dtype_bytes;
  const auto repeats = [](uint64_t bytes) { return static_cast<uint32_t>((bytes + 255) / 256); };
  RecipeCost cost;
  const auto add = [&](const std::string& name, uint64_t bytes) {
    const uint16_t step = op_id(name);
    cost.cycles += vector_cycles(step, width, repeats(bytes));
    cost.issue += ops_[step].issue;
  };
  for (const std::string& step : recipe.over_elements) add(step, elements * width);
  for (const std::string& step : recipe.over_rows) add(step, rows * 32);
  if (width != dtype_bytes) {
    add("Cast", elements * width);
    add("Cast", elements * width);
  }
  if (recipe.over_elements.empty() && recipe.over_rows.empty())
    cost.cycles = vector_cycles(op, dtype_bytes, repeats(elements * dtype_bytes));
  return cost;
}

uint32_t CostTable::mmad_cycles(uint32_t m, uint32_t n, uint32_t k, double operand_bytes) const {
  // 32 B of k per step for up to 16 bit, and fp32 runs at half of what its width suggests.
  const double k0 = operand_bytes >= 4 ? 4 : 32 / operand_bytes;
  return whole_cycles(std::ceil(m / 16.0) * std::ceil(n / 16.0) * std::ceil(k / k0) + mmad_start_);
}

uint32_t CostTable::move_cycles(uint16_t op, uint64_t bytes) const {
  const Op& row = ops_[op];
  const double moving = row.bytes_per_cycle > 0 ? static_cast<double>(bytes) / row.bytes_per_cycle
                                                : 0.0;
  return whole_cycles(row.fixed + moving);
}

}  // namespace npuforge
