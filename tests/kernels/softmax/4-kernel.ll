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
  %18 = or disjoint i32 %15, 1, !dbg !6
  %19 = or disjoint i32 %15, 2, !dbg !6
  %20 = or disjoint i32 %15, 3, !dbg !6
  %21 = or disjoint i32 %15, 512, !dbg !6
  %22 = or disjoint i32 %15, 513, !dbg !6
  %23 = or disjoint i32 %15, 514, !dbg !6
  %24 = or disjoint i32 %15, 515, !dbg !6
  %25 = icmp ult i32 %15, %2, !dbg !8
  %26 = icmp ult i32 %18, %2, !dbg !8
  %27 = icmp ult i32 %19, %2, !dbg !8
  %28 = icmp ult i32 %20, %2, !dbg !8
  %29 = icmp ult i32 %21, %2, !dbg !8
  %30 = icmp ult i32 %22, %2, !dbg !8
  %31 = icmp ult i32 %23, %2, !dbg !8
  %32 = icmp ult i32 %24, %2, !dbg !8
  %33 = and i1 %17, %25, !dbg !8
  %34 = and i1 %17, %26, !dbg !8
  %35 = and i1 %17, %27, !dbg !8
  %36 = and i1 %17, %28, !dbg !8
  %37 = and i1 %17, %29, !dbg !8
  %38 = and i1 %17, %30, !dbg !8
  %39 = and i1 %17, %31, !dbg !8
  %40 = and i1 %17, %32, !dbg !8
  %41 = icmp ne i32 %2, 0, !dbg !8
  %42 = and i1 %17, %41, !dbg !8
  %43 = mul i32 %16, %3, !dbg !8
  %44 = add i32 %43, %15, !dbg !8
  %45 = sext i32 %44 to i64, !dbg !8
  %46 = getelementptr i32, ptr addrspace(1) %0, i64 %45, !dbg !8
  %47 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %46, i1 %42) #5, !dbg !8
  %48 = extractvalue { i32, i32, i32, i32 } %47, 0, !dbg !8
  %49 = extractvalue { i32, i32, i32, i32 } %47, 1, !dbg !8
  %50 = extractvalue { i32, i32, i32, i32 } %47, 2, !dbg !8
  %51 = extractvalue { i32, i32, i32, i32 } %47, 3, !dbg !8
  %52 = bitcast i32 %48 to float, !dbg !8
  %53 = bitcast i32 %49 to float, !dbg !8
  %54 = bitcast i32 %50 to float, !dbg !8
  %55 = bitcast i32 %51 to float, !dbg !8
  %56 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+2048];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %46, i1 %42) #5, !dbg !8
  %57 = extractvalue { i32, i32, i32, i32 } %56, 0, !dbg !8
  %58 = extractvalue { i32, i32, i32, i32 } %56, 1, !dbg !8
  %59 = extractvalue { i32, i32, i32, i32 } %56, 2, !dbg !8
  %60 = extractvalue { i32, i32, i32, i32 } %56, 3, !dbg !8
  %61 = bitcast i32 %57 to float, !dbg !8
  %62 = bitcast i32 %58 to float, !dbg !8
  %63 = bitcast i32 %59 to float, !dbg !8
  %64 = bitcast i32 %60 to float, !dbg !8
  %65 = select i1 %33, float %52, float 0xFFF0000000000000, !dbg !8
  %66 = select i1 %34, float %53, float 0xFFF0000000000000, !dbg !8
  %67 = select i1 %35, float %54, float 0xFFF0000000000000, !dbg !8
  %68 = select i1 %36, float %55, float 0xFFF0000000000000, !dbg !8
  %69 = select i1 %37, float %61, float 0xFFF0000000000000, !dbg !8
  %70 = select i1 %38, float %62, float 0xFFF0000000000000, !dbg !8
  %71 = select i1 %39, float %63, float 0xFFF0000000000000, !dbg !8
  %72 = select i1 %40, float %64, float 0xFFF0000000000000, !dbg !8
  %73 = call float @llvm.maxnum.f32(float %65, float %66), !dbg !9
  %74 = call float @llvm.maxnum.f32(float %73, float %67), !dbg !9
  %75 = call float @llvm.maxnum.f32(float %74, float %68), !dbg !9
  %76 = call float @llvm.maxnum.f32(float %75, float %69), !dbg !9
  %77 = call float @llvm.maxnum.f32(float %76, float %70), !dbg !9
  %78 = call float @llvm.maxnum.f32(float %77, float %71), !dbg !9
  %79 = call float @llvm.maxnum.f32(float %78, float %72), !dbg !9
  %80 = bitcast float %79 to i32, !dbg !9
  %81 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %80, i32 1, i32 31), !dbg !9
  %82 = bitcast i32 %81 to float, !dbg !9
  %83 = call float @llvm.maxnum.f32(float %79, float %82), !dbg !9
  %84 = bitcast float %83 to i32, !dbg !9
  %85 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %84, i32 2, i32 31), !dbg !9
  %86 = bitcast i32 %85 to float, !dbg !9
  %87 = call float @llvm.maxnum.f32(float %83, float %86), !dbg !9
  %88 = bitcast float %87 to i32, !dbg !9
  %89 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %88, i32 4, i32 31), !dbg !9
  %90 = bitcast i32 %89 to float, !dbg !9
  %91 = call float @llvm.maxnum.f32(float %87, float %90), !dbg !9
  %92 = bitcast float %91 to i32, !dbg !9
  %93 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %92, i32 8, i32 31), !dbg !9
  %94 = bitcast i32 %93 to float, !dbg !9
  %95 = call float @llvm.maxnum.f32(float %91, float %94), !dbg !9
  %96 = bitcast float %95 to i32, !dbg !9
  %97 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %96, i32 16, i32 31), !dbg !9
  %98 = bitcast i32 %97 to float, !dbg !9
  %99 = call float @llvm.maxnum.f32(float %95, float %98), !dbg !9
  %100 = shl nuw nsw i32 %11, 2, !dbg !9
  %101 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %100, !dbg !6
  store float %99, ptr addrspace(3) %101, align 4, !dbg !9
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !9
  %102 = load <4 x float>, ptr addrspace(3) @tile_shared, align 16, !dbg !9
  %103 = extractelement <4 x float> %102, i64 0, !dbg !9
  %104 = extractelement <4 x float> %102, i64 1, !dbg !9
  %105 = extractelement <4 x float> %102, i64 2, !dbg !9
  %106 = extractelement <4 x float> %102, i64 3, !dbg !9
  %107 = call float @llvm.maxnum.f32(float %103, float %104), !dbg !9
  %108 = call float @llvm.maxnum.f32(float %107, float %105), !dbg !9
  %109 = call float @llvm.maxnum.f32(float %108, float %106), !dbg !9
  %110 = fsub float %65, %109, !dbg !9
  %111 = fsub float %66, %109, !dbg !9
  %112 = fsub float %67, %109, !dbg !9
  %113 = fsub float %68, %109, !dbg !9
  %114 = fsub float %69, %109, !dbg !9
  %115 = fsub float %70, %109, !dbg !9
  %116 = fsub float %71, %109, !dbg !9
  %117 = fsub float %72, %109, !dbg !9
  %118 = fmul float %110, 0x3FF7154760000000, !dbg !9
  %119 = call float @llvm.exp2.f32(float %118), !dbg !9
  %120 = fmul float %111, 0x3FF7154760000000, !dbg !9
  %121 = call float @llvm.exp2.f32(float %120), !dbg !9
  %122 = fmul float %112, 0x3FF7154760000000, !dbg !9
  %123 = call float @llvm.exp2.f32(float %122), !dbg !9
  %124 = fmul float %113, 0x3FF7154760000000, !dbg !9
  %125 = call float @llvm.exp2.f32(float %124), !dbg !9
  %126 = fmul float %114, 0x3FF7154760000000, !dbg !9
  %127 = call float @llvm.exp2.f32(float %126), !dbg !9
  %128 = fmul float %115, 0x3FF7154760000000, !dbg !9
  %129 = call float @llvm.exp2.f32(float %128), !dbg !9
  %130 = fmul float %116, 0x3FF7154760000000, !dbg !9
  %131 = call float @llvm.exp2.f32(float %130), !dbg !9
  %132 = fmul float %117, 0x3FF7154760000000, !dbg !9
  %133 = call float @llvm.exp2.f32(float %132), !dbg !9
  %134 = fadd float %119, %121, !dbg !10
  %135 = fadd float %134, %123, !dbg !10
  %136 = fadd float %135, %125, !dbg !10
  %137 = fadd float %136, %127, !dbg !10
  %138 = fadd float %137, %129, !dbg !10
  %139 = fadd float %138, %131, !dbg !10
  %140 = fadd float %139, %133, !dbg !10
  %141 = call float asm "mov.b32 $0, $1;", "=f,f"(float %140) #5, !dbg !10
  %142 = bitcast float %141 to i32, !dbg !10
  %143 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %142, i32 1, i32 31), !dbg !10
  %144 = bitcast i32 %143 to float, !dbg !10
  %145 = fadd float %141, %144, !dbg !10
  %146 = bitcast float %145 to i32, !dbg !10
  %147 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %146, i32 2, i32 31), !dbg !10
  %148 = bitcast i32 %147 to float, !dbg !10
  %149 = fadd float %145, %148, !dbg !10
  %150 = bitcast float %149 to i32, !dbg !10
  %151 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %150, i32 4, i32 31), !dbg !10
  %152 = bitcast i32 %151 to float, !dbg !10
  %153 = fadd float %149, %152, !dbg !10
  %154 = bitcast float %153 to i32, !dbg !10
  %155 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %154, i32 8, i32 31), !dbg !10
  %156 = bitcast i32 %155 to float, !dbg !10
  %157 = fadd float %153, %156, !dbg !10
  %158 = bitcast float %157 to i32, !dbg !10
  %159 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %158, i32 16, i32 31), !dbg !10
  %160 = bitcast i32 %159 to float, !dbg !10
  %161 = fadd float %157, %160, !dbg !10
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !10
  store float %161, ptr addrspace(3) %101, align 4, !dbg !10
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !10
  %162 = load <4 x float>, ptr addrspace(3) @tile_shared, align 16, !dbg !10
  %163 = extractelement <4 x float> %162, i64 0, !dbg !10
  %164 = extractelement <4 x float> %162, i64 1, !dbg !10
  %165 = extractelement <4 x float> %162, i64 2, !dbg !10
  %166 = extractelement <4 x float> %162, i64 3, !dbg !10
  %167 = fadd float %163, %164, !dbg !10
  %168 = fadd float %167, %165, !dbg !10
  %169 = fadd float %168, %166, !dbg !10
  %170 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %119, float %169) #5, !dbg !10
  %171 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %121, float %169) #5, !dbg !10
  %172 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %123, float %169) #5, !dbg !10
  %173 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %125, float %169) #5, !dbg !10
  %174 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %127, float %169) #5, !dbg !10
  %175 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %129, float %169) #5, !dbg !10
  %176 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %131, float %169) #5, !dbg !10
  %177 = call float asm "div.full.f32 $0, $1, $2;", "=f,f,f"(float %133, float %169) #5, !dbg !10
  %178 = icmp ult i32 %16, %5, !dbg !10
  %179 = icmp ne i32 %6, 0, !dbg !10
  %180 = and i1 %178, %179, !dbg !10
  %181 = mul i32 %16, %7, !dbg !10
  %182 = add i32 %181, %15, !dbg !10
  %183 = sext i32 %182 to i64, !dbg !10
  %184 = getelementptr i32, ptr addrspace(1) %4, i64 %183, !dbg !10
  %185 = bitcast float %170 to i32, !dbg !10
  %186 = bitcast float %171 to i32, !dbg !10
  %187 = bitcast float %172 to i32, !dbg !10
  %188 = bitcast float %173 to i32, !dbg !10
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %184, i1 %180, i32 %185, i32 %186, i32 %187, i32 %188) #5, !dbg !10
  %189 = bitcast float %174 to i32, !dbg !10
  %190 = bitcast float %175 to i32, !dbg !10
  %191 = bitcast float %176 to i32, !dbg !10
  %192 = bitcast float %177 to i32, !dbg !10
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+2048], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %184, i1 %180, i32 %189, i32 %190, i32 %191, i32 %192) #5, !dbg !10
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

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.exp2.f32(float) #2

attributes #0 = { "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #4 = { convergent nocallback nounwind }
attributes #5 = { nounwind }

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
