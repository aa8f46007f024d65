// A loop over several passes becomes a loop round one over the iterations of a pass: what a pass ends with stands behind that.
// RUN: tile-opt --tile-nest-loops --split-input-file %s | FileCheck %s

// The inner loop hands on the next index and variables, then what the end takes of the last iteration: a variable as it was, and
// a value of the body.
// CHECK-LABEL: func.func @passes(
// CHECK-SAME: %[[N:.+]]: i32, %[[LAST:.+]]: i32, %[[P:.+]]: !llvm.ptr)
// CHECK: %[[ALL:.+]]:3 = scf.while (%[[I:.+]] = %c0_i32, %[[STEP:.+]] = %c0_i32, %[[SUM:.+]] = %c1_i32)
// CHECK-NEXT: %[[MORE:.+]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]], %[[STEP]], %[[SUM]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[I1:.+]]: i32, %[[STEP1:.+]]: i32, %[[SUM1:.+]]: i32):
// CHECK-NEXT: %[[PASS:.+]]:5 = scf.while (%[[I2:.+]] = %[[I1]], %[[STEP2:.+]] = %[[STEP1]], %[[SUM2:.+]] = %[[SUM1]])
// CHECK-NEXT: %[[ADDED:.+]] = arith.addi %[[SUM2]], %[[I2]]
// CHECK-NEXT: %[[ISLAST:.+]] = arith.cmpi eq, %[[STEP2]], %[[LAST]]
// CHECK-NEXT: %[[NEXT:.+]] = arith.addi %[[STEP2]], %c1_i32
// CHECK-NEXT: %[[AGAIN:.+]] = arith.select %[[ISLAST]], %c0_i32, %[[NEXT]]
// CHECK-NEXT: %[[INDEX:.+]] = arith.addi %[[I2]], %c1_i32
// CHECK: %[[GOESON:.+]] = arith.xori %[[ISLAST]], %true
// CHECK-NEXT: scf.condition(%[[GOESON]]) %[[INDEX]], %[[AGAIN]], %[[ADDED]], %[[ADDED]], %[[STEP2]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[A:.+]]: i32, %[[B:.+]]: i32, %[[C:.+]]: i32, %{{.+}}: i32, %{{.+}}: i32):
// CHECK-NEXT: scf.yield %[[A]], %[[B]], %[[C]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[RESULT:.+]] = arith.muli %[[PASS]]#3, %[[PASS]]#4
// CHECK-NEXT: llvm.store %[[RESULT]], %[[P]]
// CHECK-NEXT: scf.yield %[[PASS]]#0, %[[PASS]]#1, %[[PASS]]#2
// CHECK-NEXT: }
// CHECK-NEXT: return %[[ALL]]#2
func.func @passes(%n: i32, %last: i32, %p: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%step = %c0, %sum = %c1) -> (i32, i32) : i32 {
    %added = arith.addi %sum, %i : i32
    %isLast = arith.cmpi eq, %step, %last : i32
    scf.if %isLast {
      %x = arith.muli %added, %step : i32
      llvm.store %x, %p : i32, !llvm.ptr
    } {tilegpu.tile_step = #tilegpu.tile_step<last>}
    %next = arith.addi %step, %c1 : i32
    %again = arith.select %isLast, %c0, %next : i32
    scf.yield %again, %added : i32, i32
  }
  return %r#1 : i32
}

// -----

// What has effects behind the end would change places with it.
// CHECK-LABEL: func.func @effects_behind
// CHECK-NOT: scf.while
func.func @effects_behind(%n: i32, %last: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %isLast = arith.cmpi eq, %i, %last : i32
    scf.if %isLast {
      llvm.store %i, %p : i32, !llvm.ptr
    } {tilegpu.tile_step = #tilegpu.tile_step<last>}
    llvm.store %n, %p : i32, !llvm.ptr
  }
  return
}

// -----

// A branch that may come in any iteration stays.
// CHECK-LABEL: func.func @any_branch
// CHECK-NOT: scf.while
func.func @any_branch(%n: i32, %last: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %isLast = arith.cmpi eq, %i, %last : i32
    scf.if %isLast {
      llvm.store %i, %p : i32, !llvm.ptr
    }
  }
  return
}

// -----

// What a pass begins with comes before its iterations.
// CHECK-LABEL: func.func @begins(
// CHECK-SAME: %[[N:.+]]: i32, %[[LAST:.+]]: i32, %[[P:.+]]: !llvm.ptr)
// CHECK: scf.while
// CHECK: } do {
// CHECK: llvm.store %[[N]], %[[P]]
// CHECK-NEXT: scf.while
// CHECK-NOT: scf.if
// CHECK: } do {
// CHECK: llvm.store %{{.+}}, %[[P]]
func.func @begins(%n: i32, %last: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%step = %c0) -> (i32) : i32 {
    %isFirst = arith.cmpi eq, %step, %c0 : i32
    scf.if %isFirst {
      llvm.store %n, %p : i32, !llvm.ptr
    } {tilegpu.tile_step = #tilegpu.tile_step<first>}
    %isLast = arith.cmpi eq, %step, %last : i32
    scf.if %isLast {
      llvm.store %i, %p : i32, !llvm.ptr
    } {tilegpu.tile_step = #tilegpu.tile_step<last>}
    %next = arith.addi %step, %c1 : i32
    %again = arith.select %isLast, %c0, %next : i32
    scf.yield %again : i32
  }
  return
}

// -----

// It stays where it takes something of the iteration, or something with effects comes before it.
// CHECK-LABEL: func.func @begins_with_index
// CHECK: scf.while
// CHECK: scf.while
// CHECK: scf.if
func.func @begins_with_index(%n: i32, %last: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %isFirst = arith.cmpi eq, %i, %c0 : i32
    scf.if %isFirst {
      llvm.store %i, %p : i32, !llvm.ptr
    } {tilegpu.tile_step = #tilegpu.tile_step<first>}
    %isLast = arith.cmpi eq, %i, %last : i32
    scf.if %isLast {
      llvm.store %n, %p : i32, !llvm.ptr
    } {tilegpu.tile_step = #tilegpu.tile_step<last>}
  }
  return
}
