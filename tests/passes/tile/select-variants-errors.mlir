// RUN: tile-opt %s -pass-pipeline='builtin.module(func.func(tile-select-variants{target=sm_42}))' -verify-diagnostics

// expected-error @+1 {{unknown target 'sm_42'; known: sm_80, sm_86, sm_89, sm_90, sm_90a}}
func.func @kernel() { return }
