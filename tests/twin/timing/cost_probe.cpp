// SPDX-License-Identifier: Apache-2.0
// Prints what the cost table and the bank model say for the cases of test_cost.py.
#include <cstdio>
#include <exception>

#include "cost.h"

using npuforge::UbStream;

namespace {

struct Scenario {
  uint32_t src0, src1, dst, src0_block_stride, src0_repeat_stride;
};

// The eight published address layouts of a 4096-element float Add.
constexpr Scenario kScenarios[] = {
    {0x0, 0x10100, 0x20000, 1, 8}, {0x0, 0x4000, 0x10000, 1, 8},  {0x0, 0x10000, 0x14100, 1, 8},
    {0x0, 0x10100, 0x4000, 1, 8},  {0x0, 0x10100, 0x4020, 1, 8},  {0x0, 0x10100, 0x10100, 1, 8},
    {0x0, 0x10100, 0x10100, 0, 1}, {0x0, 0x10100, 0x10100, 0, 8},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    npuforge::CostTable table = npuforge::CostTable::load(argv[1]);
    const auto add = table.op_id("Add");
    for (const Scenario& s : kScenarios) {
      const UbStream reads[] = {{s.src0, s.src0_block_stride, s.src0_repeat_stride, 8},
                                {s.src1, 1, 8, 8}};
      const UbStream writes[] = {{s.dst, 1, 8, 8}};
      std::printf("%u\n", table.vector_cycles(add, 4, 64, bank_conflict(reads, writes, 64)));
    }
    const UbStream spread[] = {{0, 8, 64, 8}}, same_group[] = {{0, 16, 128, 8}};
    const UbStream out[] = {{0x10000, 1, 8, 8}};
    std::printf("%.2f\n%.2f\n", bank_conflict(spread, out, 8), bank_conflict(same_group, out, 8));
    std::printf("%u\n", table.vector_cycles(table.op_id("Exp"), 4, 128));
    std::printf("%u\n", table.library_cycles(table.op_id("Tanh"), 4, 1000));
    std::printf("%u\n", table.mmad_cycles(128, 256, 64, 2));
    std::printf("%u\n", table.counter_cycles(add, 2, 32, 1.0, true) -
                            table.counter_cycles(add, 2, 32, 1.0, false));
    std::printf("%d\n", table.known(table.op_id("NoSuchOperation")));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
