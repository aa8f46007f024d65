target datalayout = "e-p3:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile_shared = external addrspace(3) global [0 x i8], align 128

define ptx_kernel void @softmax(ptr addrspace(1) %0, i32 %1, i32 %2, i32 %3, ptr addrspace(1) %4, i32 %5, i32 %6, i32 %7) #0 !dbg !3 {
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %10 = lshr i32 %9, 5, !dbg !6
  %11 = and i32 %10, 3, !dbg !6
  %12 = shl nuw nsw i32 %9, 2, !dbg !6
  %13 = and i32 %12, 124, !dbg !6
  %14 = shl nuw nsw i32 %11, 7, !dbg !6
  %15 = or disjoint i32 %13, %14, !dbg !6
  %16 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !7
  %17 = icmp ult i32 %16, %1, !dbg !8
  %18 = icmp ult i32 %15, %2, !dbg !8
  %19 = and i1 %17, %18, !dbg !8
  %20 = icmp ne i32 %2, 0, !dbg !8
  %21 = and i1 %17, %20, !dbg !8
  %22 = mul i32 %16, %3, !dbg !8
  %23 = add i32 %22, %15, !dbg !8
  %24 = sext i32 %23 to i64, !dbg !8
  %25 = getelementptr i32, ptr addrspace(1) %0, i64 %24, !dbg !8
  %26 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %25, i1 %21) #6, !dbg !8
  %27 = extractvalue { i32, i32, i32, i32 } %26, 0, !dbg !8
  %28 = extractvalue { i32, i32, i32, i32 } %26, 1, !dbg !8
  %29 = extractvalue { i32, i32, i32, i32 } %26, 2, !dbg !8
  %30 = extractvalue { i32, i32, i32, i32 } %26, 3, !dbg !8
  %31 = bitcast i32 %27 to float, !dbg !8
  %32 = bitcast i32 %28 to float, !dbg !8
  %33 = bitcast i32 %29 to float, !dbg !8
  %34 = bitcast i32 %30 to float, !dbg !8
  %35 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+2048];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %25, i1 %21) #6, !dbg !8
  %36 = extractvalue { i32, i32, i32, i32 } %35, 0, !dbg !8
  %37 = extractvalue { i32, i32, i32, i32 } %35, 1, !dbg !8
  %38 = extractvalue { i32, i32, i32, i32 } %35, 2, !dbg !8
  %39 = extractvalue { i32, i32, i32, i32 } %35, 3, !dbg !8
  %40 = bitcast i32 %36 to float, !dbg !8
  %41 = bitcast i32 %37 to float, !dbg !8
  %42 = bitcast i32 %38 to float, !dbg !8
  %43 = bitcast i32 %39 to float, !dbg !8
  %44 = select i1 %19, float %31, float 0xFFF0000000000000, !dbg !8
  %45 = select i1 %19, float %32, float 0xFFF0000000000000, !dbg !8
  %46 = select i1 %19, float %33, float 0xFFF0000000000000, !dbg !8
  %47 = select i1 %19, float %34, float 0xFFF0000000000000, !dbg !8
  %48 = select i1 %19, float %40, float 0xFFF0000000000000, !dbg !8
  %49 = select i1 %19, float %41, float 0xFFF0000000000000, !dbg !8
  %50 = select i1 %19, float %42, float 0xFFF0000000000000, !dbg !8
  %51 = select i1 %19, float %43, float 0xFFF0000000000000, !dbg !8
  %52 = call float @llvm.maxnum.f32(float %44, float %45), !dbg !9
  %53 = call float @llvm.maxnum.f32(float %52, float %46), !dbg !9
  %54 = call float @llvm.maxnum.f32(float %53, float %47), !dbg !9
  %55 = call float @llvm.maxnum.f32(float %54, float %48), !dbg !9
  %56 = call float @llvm.maxnum.f32(float %55, float %49), !dbg !9
  %57 = call float @llvm.maxnum.f32(float %56, float %50), !dbg !9
  %58 = call float @llvm.maxnum.f32(float %57, float %51), !dbg !9
  %59 = bitcast float %58 to i32, !dbg !9
  %60 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %59, i32 1, i32 31), !dbg !9
  %61 = bitcast i32 %60 to float, !dbg !9
  %62 = call float @llvm.maxnum.f32(float %58, float %61), !dbg !9
  %63 = bitcast float %62 to i32, !dbg !9
  %64 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %63, i32 2, i32 31), !dbg !9
  %65 = bitcast i32 %64 to float, !dbg !9
  %66 = call float @llvm.maxnum.f32(float %62, float %65), !dbg !9
  %67 = bitcast float %66 to i32, !dbg !9
  %68 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %67, i32 4, i32 31), !dbg !9
  %69 = bitcast i32 %68 to float, !dbg !9
  %70 = call float @llvm.maxnum.f32(float %66, float %69), !dbg !9
  %71 = bitcast float %70 to i32, !dbg !9
  %72 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %71, i32 8, i32 31), !dbg !9
  %73 = bitcast i32 %72 to float, !dbg !9
  %74 = call float @llvm.maxnum.f32(float %70, float %73), !dbg !9
  %75 = bitcast float %74 to i32, !dbg !9
  %76 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %75, i32 16, i32 31), !dbg !9
  %77 = bitcast i32 %76 to float, !dbg !9
  %78 = call float @llvm.maxnum.f32(float %74, float %77), !dbg !9
  %79 = shl nuw nsw i32 %11, 2, !dbg !9
  %80 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %79, !dbg !6
  store float %78, ptr addrspace(3) %80, align 4, !dbg !9
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !9
  %81 = load <4 x float>, ptr addrspace(3) @tile_shared, align 16, !dbg !9
  %82 = extractelement <4 x float> %81, i64 0, !dbg !9
  %83 = extractelement <4 x float> %81, i64 1, !dbg !9
  %84 = extractelement <4 x float> %81, i64 2, !dbg !9
  %85 = extractelement <4 x float> %81, i64 3, !dbg !9
  %86 = call float @llvm.maxnum.f32(float %82, float %83), !dbg !9
  %87 = call float @llvm.maxnum.f32(float %86, float %84), !dbg !9
  %88 = call float @llvm.maxnum.f32(float %87, float %85), !dbg !9
  %89 = fsub float %44, %88, !dbg !9
  %90 = fsub float %45, %88, !dbg !9
  %91 = fsub float %46, %88, !dbg !9
  %92 = fsub float %47, %88, !dbg !9
  %93 = fsub float %48, %88, !dbg !9
  %94 = fsub float %49, %88, !dbg !9
  %95 = fsub float %50, %88, !dbg !9
  %96 = fsub float %51, %88, !dbg !9
  %97 = fmul float %89, 0x3FF7154760000000, !dbg !9
  %98 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %97), !dbg !9
  %99 = fmul float %90, 0x3FF7154760000000, !dbg !9
  %100 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %99), !dbg !9
  %101 = fmul float %91, 0x3FF7154760000000, !dbg !9
  %102 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %101), !dbg !9
  %103 = fmul float %92, 0x3FF7154760000000, !dbg !9
  %104 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %103), !dbg !9
  %105 = fmul float %93, 0x3FF7154760000000, !dbg !9
  %106 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %105), !dbg !9
  %107 = fmul float %94, 0x3FF7154760000000, !dbg !9
  %108 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %107), !dbg !9
  %109 = fmul float %95, 0x3FF7154760000000, !dbg !9
  %110 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %109), !dbg !9
  %111 = fmul float %96, 0x3FF7154760000000, !dbg !9
  %112 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %111), !dbg !9
  %113 = fadd float %98, %100, !dbg !10
  %114 = fadd float %113, %102, !dbg !10
  %115 = fadd float %114, %104, !dbg !10
  %116 = fadd float %115, %106, !dbg !10
  %117 = fadd float %116, %108, !dbg !10
  %118 = fadd float %117, %110, !dbg !10
  %119 = fadd float %118, %112, !dbg !10
  %120 = call float asm "mov.b32 $0, $1;", "=f,f"(float %119) #7, !dbg !10
  %121 = bitcast float %120 to i32, !dbg !10
  %122 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %121, i32 1, i32 31), !dbg !10
  %123 = bitcast i32 %122 to float, !dbg !10
  %124 = fadd float %120, %123, !dbg !10
  %125 = bitcast float %124 to i32, !dbg !10
  %126 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %125, i32 2, i32 31), !dbg !10
  %127 = bitcast i32 %126 to float, !dbg !10
  %128 = fadd float %124, %127, !dbg !10
  %129 = bitcast float %128 to i32, !dbg !10
  %130 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %129, i32 4, i32 31), !dbg !10
  %131 = bitcast i32 %130 to float, !dbg !10
  %132 = fadd float %128, %131, !dbg !10
  %133 = bitcast float %132 to i32, !dbg !10
  %134 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %133, i32 8, i32 31), !dbg !10
  %135 = bitcast i32 %134 to float, !dbg !10
  %136 = fadd float %132, %135, !dbg !10
  %137 = bitcast float %136 to i32, !dbg !10
  %138 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %137, i32 16, i32 31), !dbg !10
  %139 = bitcast i32 %138 to float, !dbg !10
  %140 = fadd float %136, %139, !dbg !10
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !10
  store float %140, ptr addrspace(3) %80, align 4, !dbg !10
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !10
  %141 = load <4 x float>, ptr addrspace(3) @tile_shared, align 16, !dbg !10
  %142 = extractelement <4 x float> %141, i64 0, !dbg !10
  %143 = extractelement <4 x float> %141, i64 1, !dbg !10
  %144 = extractelement <4 x float> %141, i64 2, !dbg !10
  %145 = extractelement <4 x float> %141, i64 3, !dbg !10
  %146 = fadd float %142, %143, !dbg !10
  %147 = fadd float %146, %144, !dbg !10
  %148 = fadd float %147, %145, !dbg !10
  %149 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %98, float %148) #7, !dbg !10
  %150 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %100, float %148) #7, !dbg !10
  %151 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %102, float %148) #7, !dbg !10
  %152 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %104, float %148) #7, !dbg !10
  %153 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %106, float %148) #7, !dbg !10
  %154 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %108, float %148) #7, !dbg !10
  %155 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %110, float %148) #7, !dbg !10
  %156 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %112, float %148) #7, !dbg !10
  %157 = icmp ult i32 %16, %5, !dbg !10
  %158 = icmp ne i32 %6, 0, !dbg !10
  %159 = and i1 %157, %158, !dbg !10
  %160 = mul i32 %16, %7, !dbg !10
  %161 = add i32 %160, %15, !dbg !10
  %162 = sext i32 %161 to i64, !dbg !10
  %163 = getelementptr i32, ptr addrspace(1) %4, i64 %162, !dbg !10
  %164 = bitcast float %149 to i32, !dbg !10
  %165 = bitcast float %150 to i32, !dbg !10
  %166 = bitcast float %151 to i32, !dbg !10
  %167 = bitcast float %152 to i32, !dbg !10
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %163, i1 %159, i32 %164, i32 %165, i32 %166, i32 %167) #6, !dbg !10
  %168 = bitcast float %153 to i32, !dbg !10
  %169 = bitcast float %154 to i32, !dbg !10
  %170 = bitcast float %155 to i32, !dbg !10
  %171 = bitcast float %156 to i32, !dbg !10
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+2048], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %163, i1 %159, i32 %168, i32 %169, i32 %170, i32 %171) #6, !dbg !10
  ret void, !dbg !6
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maxnum.f32(float, float) #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #3

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.ftz.f32(float) #5

attributes #0 = { "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #4 = { convergent nocallback nounwind }
attributes #5 = { nocallback nofree nosync nounwind willreturn memory(none) }
attributes #6 = { convergent nounwind }
attributes #7 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "MLIR", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "KernelsTest.cpp", directory: "kernels")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "softmax", linkageName: "softmax", scope: !1, file: !1, line: _, type: !4, scopeLine: _, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!4 = !DISubroutineType(cc: DW_CC_normal, types: !5)
!5 = !{}
!6 = !DILocation(line: _, scope: !3)
!7 = !DILocation(line: _, scope: !3)
!8 = !DILocation(line: _, scope: !3)
!9 = !DILocation(line: _, scope: !3)
!10 = !DILocation(line: _, scope: !3)
