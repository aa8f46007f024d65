// Products by wgmma: operands stay in shared memory, in the order of their views.
// RUN: %to_ptx_sm90 %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas_sm90 %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

