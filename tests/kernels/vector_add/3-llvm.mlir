module {
  llvm.mlir.global external @tile_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @vector_add(%arg0: !llvm.ptr<1>, %arg1: i32, %arg2: !llvm.ptr<1>, %arg3: i32, %arg4: !llvm.ptr<1>, %arg5: i32) attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 128>} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = llvm.mlir.constant(31 : i32) : i32
    %2 = llvm.and %0, %1 : i32
    %3 = llvm.mlir.constant(5 : i32) : i32
    %4 = llvm.lshr %0, %3 : i32
    %5 = llvm.mlir.constant(31 : i32) : i32
    %6 = llvm.and %2, %5 : i32
    %7 = llvm.mlir.constant(2 : i32) : i32
    %8 = llvm.shl %6, %7 : i32
    %9 = llvm.mlir.constant(3 : i32) : i32
    %10 = llvm.and %4, %9 : i32
    %11 = llvm.mlir.constant(7 : i32) : i32
    %12 = llvm.shl %10, %11 : i32
    %13 = llvm.xor %8, %12 : i32
    %14 = llvm.mlir.constant(1024 : i32) : i32
    %15 = llvm.mlir.constant(1 : i32) : i32
    %16 = nvvm.read.ptx.sreg.ctaid.x : i32
    %17 = llvm.mul %16, %14 : i32
    %18 = llvm.add %17, %13 : i32
    %19 = llvm.icmp "ult" %17, %arg1 : i32
    %20 = llvm.sext %18 : i32 to i64
    %21 = llvm.getelementptr %arg0[%20] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %22 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %23 = llvm.bitcast %22 : f32 to i32
    %24 = llvm.bitcast %22 : f32 to i32
    %25 = llvm.bitcast %22 : f32 to i32
    %26 = llvm.bitcast %22 : f32 to i32
    %27 = llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}" %23, %24, %25, %26, %21, %19 : (i32, i32, i32, i32, !llvm.ptr<1>, i1) -> !llvm.struct<(i32, i32, i32, i32)>
    %28 = llvm.extractvalue %27[0] : !llvm.struct<(i32, i32, i32, i32)> 
    %29 = llvm.extractvalue %27[1] : !llvm.struct<(i32, i32, i32, i32)> 
    %30 = llvm.extractvalue %27[2] : !llvm.struct<(i32, i32, i32, i32)> 
    %31 = llvm.extractvalue %27[3] : !llvm.struct<(i32, i32, i32, i32)> 
    %32 = llvm.bitcast %28 : i32 to f32
    %33 = llvm.bitcast %29 : i32 to f32
    %34 = llvm.bitcast %30 : i32 to f32
    %35 = llvm.bitcast %31 : i32 to f32
    %36 = llvm.bitcast %22 : f32 to i32
    %37 = llvm.bitcast %22 : f32 to i32
    %38 = llvm.bitcast %22 : f32 to i32
    %39 = llvm.bitcast %22 : f32 to i32
    %40 = llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+2048];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}" %36, %37, %38, %39, %21, %19 : (i32, i32, i32, i32, !llvm.ptr<1>, i1) -> !llvm.struct<(i32, i32, i32, i32)>
    %41 = llvm.extractvalue %40[0] : !llvm.struct<(i32, i32, i32, i32)> 
    %42 = llvm.extractvalue %40[1] : !llvm.struct<(i32, i32, i32, i32)> 
    %43 = llvm.extractvalue %40[2] : !llvm.struct<(i32, i32, i32, i32)> 
    %44 = llvm.extractvalue %40[3] : !llvm.struct<(i32, i32, i32, i32)> 
    %45 = llvm.bitcast %41 : i32 to f32
    %46 = llvm.bitcast %42 : i32 to f32
    %47 = llvm.bitcast %43 : i32 to f32
    %48 = llvm.bitcast %44 : i32 to f32
    %49 = llvm.add %17, %13 : i32
    %50 = llvm.icmp "ult" %17, %arg3 : i32
    %51 = llvm.sext %49 : i32 to i64
    %52 = llvm.getelementptr %arg2[%51] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %53 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %54 = llvm.bitcast %53 : f32 to i32
    %55 = llvm.bitcast %53 : f32 to i32
    %56 = llvm.bitcast %53 : f32 to i32
    %57 = llvm.bitcast %53 : f32 to i32
    %58 = llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}" %54, %55, %56, %57, %52, %50 : (i32, i32, i32, i32, !llvm.ptr<1>, i1) -> !llvm.struct<(i32, i32, i32, i32)>
    %59 = llvm.extractvalue %58[0] : !llvm.struct<(i32, i32, i32, i32)> 
    %60 = llvm.extractvalue %58[1] : !llvm.struct<(i32, i32, i32, i32)> 
    %61 = llvm.extractvalue %58[2] : !llvm.struct<(i32, i32, i32, i32)> 
    %62 = llvm.extractvalue %58[3] : !llvm.struct<(i32, i32, i32, i32)> 
    %63 = llvm.bitcast %59 : i32 to f32
    %64 = llvm.bitcast %60 : i32 to f32
    %65 = llvm.bitcast %61 : i32 to f32
    %66 = llvm.bitcast %62 : i32 to f32
    %67 = llvm.bitcast %53 : f32 to i32
    %68 = llvm.bitcast %53 : f32 to i32
    %69 = llvm.bitcast %53 : f32 to i32
    %70 = llvm.bitcast %53 : f32 to i32
    %71 = llvm.inline_asm has_side_effects "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+2048];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}" %67, %68, %69, %70, %52, %50 : (i32, i32, i32, i32, !llvm.ptr<1>, i1) -> !llvm.struct<(i32, i32, i32, i32)>
    %72 = llvm.extractvalue %71[0] : !llvm.struct<(i32, i32, i32, i32)> 
    %73 = llvm.extractvalue %71[1] : !llvm.struct<(i32, i32, i32, i32)> 
    %74 = llvm.extractvalue %71[2] : !llvm.struct<(i32, i32, i32, i32)> 
    %75 = llvm.extractvalue %71[3] : !llvm.struct<(i32, i32, i32, i32)> 
    %76 = llvm.bitcast %72 : i32 to f32
    %77 = llvm.bitcast %73 : i32 to f32
    %78 = llvm.bitcast %74 : i32 to f32
    %79 = llvm.bitcast %75 : i32 to f32
    %80 = llvm.fadd %32, %63 : f32
    %81 = llvm.fadd %33, %64 : f32
    %82 = llvm.fadd %34, %65 : f32
    %83 = llvm.fadd %35, %66 : f32
    %84 = llvm.fadd %45, %76 : f32
    %85 = llvm.fadd %46, %77 : f32
    %86 = llvm.fadd %47, %78 : f32
    %87 = llvm.fadd %48, %79 : f32
    %88 = llvm.add %17, %13 : i32
    %89 = llvm.icmp "ult" %17, %arg5 : i32
    %90 = llvm.sext %88 : i32 to i64
    %91 = llvm.getelementptr %arg4[%90] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %92 = llvm.bitcast %80 : f32 to i32
    %93 = llvm.bitcast %81 : f32 to i32
    %94 = llvm.bitcast %82 : f32 to i32
    %95 = llvm.bitcast %83 : f32 to i32
    %96 = llvm.inline_asm has_side_effects "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}" %91, %89, %92, %93, %94, %95 : (!llvm.ptr<1>, i1, i32, i32, i32, i32) -> !llvm.void
    %97 = llvm.bitcast %84 : f32 to i32
    %98 = llvm.bitcast %85 : f32 to i32
    %99 = llvm.bitcast %86 : f32 to i32
    %100 = llvm.bitcast %87 : f32 to i32
    %101 = llvm.inline_asm has_side_effects "@$1 st.global.v4.b32 [$0+2048], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}" %91, %89, %97, %98, %99, %100 : (!llvm.ptr<1>, i1, i32, i32, i32, i32) -> !llvm.void
    llvm.return
  }
}
