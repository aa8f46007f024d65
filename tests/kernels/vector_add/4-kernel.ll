target datalayout = "e-p3:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile_shared = external addrspace(3) global [0 x i8], align 128

define ptx_kernel void @vector_add(ptr addrspace(1) %0, i32 %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) %4, i32 %5) #0 !dbg !3 {
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %8 = shl nuw nsw i32 %7, 2, !dbg !6
  %9 = and i32 %8, 508, !dbg !6
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !7
  %11 = shl i32 %10, 10, !dbg !8
  %12 = or disjoint i32 %11, %9, !dbg !8
  %13 = icmp ult i32 %11, %1, !dbg !8
  %14 = sext i32 %12 to i64, !dbg !8
  %15 = getelementptr i32, ptr addrspace(1) %0, i64 %14, !dbg !8
  %16 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %15, i1 %13) #2, !dbg !8
  %17 = extractvalue { i32, i32, i32, i32 } %16, 0, !dbg !8
  %18 = extractvalue { i32, i32, i32, i32 } %16, 1, !dbg !8
  %19 = extractvalue { i32, i32, i32, i32 } %16, 2, !dbg !8
  %20 = extractvalue { i32, i32, i32, i32 } %16, 3, !dbg !8
  %21 = bitcast i32 %17 to float, !dbg !8
  %22 = bitcast i32 %18 to float, !dbg !8
  %23 = bitcast i32 %19 to float, !dbg !8
  %24 = bitcast i32 %20 to float, !dbg !8
  %25 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+2048];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %15, i1 %13) #2, !dbg !8
  %26 = extractvalue { i32, i32, i32, i32 } %25, 0, !dbg !8
  %27 = extractvalue { i32, i32, i32, i32 } %25, 1, !dbg !8
  %28 = extractvalue { i32, i32, i32, i32 } %25, 2, !dbg !8
  %29 = extractvalue { i32, i32, i32, i32 } %25, 3, !dbg !8
  %30 = bitcast i32 %26 to float, !dbg !8
  %31 = bitcast i32 %27 to float, !dbg !8
  %32 = bitcast i32 %28 to float, !dbg !8
  %33 = bitcast i32 %29 to float, !dbg !8
  %34 = icmp ult i32 %11, %3, !dbg !8
  %35 = getelementptr i32, ptr addrspace(1) %2, i64 %14, !dbg !8
  %36 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %35, i1 %34) #2, !dbg !8
  %37 = extractvalue { i32, i32, i32, i32 } %36, 0, !dbg !8
  %38 = extractvalue { i32, i32, i32, i32 } %36, 1, !dbg !8
  %39 = extractvalue { i32, i32, i32, i32 } %36, 2, !dbg !8
  %40 = extractvalue { i32, i32, i32, i32 } %36, 3, !dbg !8
  %41 = bitcast i32 %37 to float, !dbg !8
  %42 = bitcast i32 %38 to float, !dbg !8
  %43 = bitcast i32 %39 to float, !dbg !8
  %44 = bitcast i32 %40 to float, !dbg !8
  %45 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+2048];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %35, i1 %34) #2, !dbg !8
  %46 = extractvalue { i32, i32, i32, i32 } %45, 0, !dbg !8
  %47 = extractvalue { i32, i32, i32, i32 } %45, 1, !dbg !8
  %48 = extractvalue { i32, i32, i32, i32 } %45, 2, !dbg !8
  %49 = extractvalue { i32, i32, i32, i32 } %45, 3, !dbg !8
  %50 = bitcast i32 %46 to float, !dbg !8
  %51 = bitcast i32 %47 to float, !dbg !8
  %52 = bitcast i32 %48 to float, !dbg !8
  %53 = bitcast i32 %49 to float, !dbg !8
  %54 = fadd float %21, %41, !dbg !8
  %55 = fadd float %22, %42, !dbg !8
  %56 = fadd float %23, %43, !dbg !8
  %57 = fadd float %24, %44, !dbg !8
  %58 = fadd float %30, %50, !dbg !8
  %59 = fadd float %31, %51, !dbg !8
  %60 = fadd float %32, %52, !dbg !8
  %61 = fadd float %33, %53, !dbg !8
  %62 = icmp ult i32 %11, %5, !dbg !8
  %63 = getelementptr i32, ptr addrspace(1) %4, i64 %14, !dbg !8
  %64 = bitcast float %54 to i32, !dbg !8
  %65 = bitcast float %55 to i32, !dbg !8
  %66 = bitcast float %56 to i32, !dbg !8
  %67 = bitcast float %57 to i32, !dbg !8
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %63, i1 %62, i32 %64, i32 %65, i32 %66, i32 %67) #2, !dbg !8
  %68 = bitcast float %58 to i32, !dbg !8
  %69 = bitcast float %59 to i32, !dbg !8
  %70 = bitcast float %60 to i32, !dbg !8
  %71 = bitcast float %61 to i32, !dbg !8
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+2048], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %63, i1 %62, i32 %68, i32 %69, i32 %70, i32 %71) #2, !dbg !8
  ret void, !dbg !6
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

attributes #0 = { "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "MLIR", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "KernelsTest.cpp", directory: "kernels")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "vector_add", linkageName: "vector_add", scope: !1, file: !1, line: _, type: !4, scopeLine: _, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!4 = !DISubroutineType(cc: DW_CC_normal, types: !5)
!5 = !{}
!6 = !DILocation(line: _, scope: !3)
!7 = !DILocation(line: _, scope: !3)
!8 = !DILocation(line: _, scope: !3)
