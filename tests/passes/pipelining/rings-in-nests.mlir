// The order of rings in deep nests of loops is verified within seconds, or not at all.
// RUN: tile-opt %s -tile-split-rings -split-input-file -verify-diagnostics

// Loops vary one at a time, so that each ring's stages are used twice.
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<64 x !tilegpu.smem<32xf32, #s>>
func.func @three_loops(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r0 = tilegpu.ring_alloc : !ring
  %r1 = tilegpu.ring_alloc : !ring
  %r2 = tilegpu.ring_alloc : !ring
  scf.for %i0 = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r0[%i0] : !ring
    tilegpu.producer_commit %r0[%i0] : !ring
    %m0 = tilegpu.consumer_wait %r0[%i0] : !ring
    tilegpu.consumer_release %r0[%i0] : !ring
    scf.for %i1 = %c0 to %n step %c1 : i32 {
      tilegpu.producer_acquire %r1[%i1] : !ring
      tilegpu.producer_commit %r1[%i1] : !ring
      %m1 = tilegpu.consumer_wait %r1[%i1] : !ring
      tilegpu.consumer_release %r1[%i1] : !ring
      scf.for %i2 = %c0 to %n step %c1 : i32 {
        tilegpu.producer_acquire %r2[%i2] : !ring
        tilegpu.producer_commit %r2[%i2] : !ring
        %m2 = tilegpu.consumer_wait %r2[%i2] : !ring
        tilegpu.consumer_release %r2[%i2] : !ring
      }
    }
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<64 x !tilegpu.smem<32xf32, #s>>
func.func @three_loops_and_a_stage_that_is_not_freed(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r0 = tilegpu.ring_alloc : !ring
  %r1 = tilegpu.ring_alloc : !ring
  %r2 = tilegpu.ring_alloc : !ring
  scf.for %i0 = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r0[%i0] : !ring
    tilegpu.producer_commit %r0[%i0] : !ring
    %m0 = tilegpu.consumer_wait %r0[%i0] : !ring
    tilegpu.consumer_release %r0[%i0] : !ring
    scf.for %i1 = %c0 to %n step %c1 : i32 {
      tilegpu.producer_acquire %r1[%i1] : !ring
      tilegpu.producer_commit %r1[%i1] : !ring
      %m1 = tilegpu.consumer_wait %r1[%i1] : !ring
      tilegpu.consumer_release %r1[%i1] : !ring
      scf.for %i2 = %c0 to %n step %c1 : i32 {
        // expected-error @+1 {{acquires fill 64, whose stage holds fill 0, only committed}}
        tilegpu.producer_acquire %r2[%i2] : !ring
        tilegpu.producer_commit %r2[%i2] : !ring
      }
    }
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<64 x !tilegpu.smem<32xf32, #s>>
// expected-error @+1 {{rings of 64 stages in loops that are nested so deep cannot be verified; ask for fewer stages}}
func.func @too_many_loops(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r23 = tilegpu.ring_alloc : !ring
  scf.for %i0 = %c0 to %n step %c1 : i32 {
    scf.for %i1 = %c0 to %n step %c1 : i32 {
      scf.for %i2 = %c0 to %n step %c1 : i32 {
        scf.for %i3 = %c0 to %n step %c1 : i32 {
          scf.for %i4 = %c0 to %n step %c1 : i32 {
            scf.for %i5 = %c0 to %n step %c1 : i32 {
              scf.for %i6 = %c0 to %n step %c1 : i32 {
                scf.for %i7 = %c0 to %n step %c1 : i32 {
                  scf.for %i8 = %c0 to %n step %c1 : i32 {
                    scf.for %i9 = %c0 to %n step %c1 : i32 {
                      scf.for %i10 = %c0 to %n step %c1 : i32 {
                        scf.for %i11 = %c0 to %n step %c1 : i32 {
                          scf.for %i12 = %c0 to %n step %c1 : i32 {
                            scf.for %i13 = %c0 to %n step %c1 : i32 {
                              scf.for %i14 = %c0 to %n step %c1 : i32 {
                                scf.for %i15 = %c0 to %n step %c1 : i32 {
                                  scf.for %i16 = %c0 to %n step %c1 : i32 {
                                    scf.for %i17 = %c0 to %n step %c1 : i32 {
                                      scf.for %i18 = %c0 to %n step %c1 : i32 {
                                        scf.for %i19 = %c0 to %n step %c1 : i32 {
                                          scf.for %i20 = %c0 to %n step %c1 : i32 {
                                            scf.for %i21 = %c0 to %n step %c1 : i32 {
                                              scf.for %i22 = %c0 to %n step %c1 : i32 {
                                                scf.for %i23 = %c0 to %n step %c1 : i32 {
                                                  tilegpu.producer_acquire %r23[%i23] : !ring
                                                  tilegpu.producer_commit %r23[%i23] : !ring
                                                  %m23 = tilegpu.consumer_wait %r23[%i23] : !ring
                                                  tilegpu.consumer_release %r23[%i23] : !ring
                                                }
                                              }
                                            }
                                          }
                                        }
                                      }
                                    }
                                  }
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return
}
