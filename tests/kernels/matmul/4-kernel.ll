target datalayout = "e-p3:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile_shared = external addrspace(3) global [0 x i8], align 128

define ptx_kernel void @matmul(ptr addrspace(1) %0, i32 %1, i32 %2, i32 %3, ptr addrspace(1) %4, i32 %5, i32 %6, i32 %7, ptr addrspace(1) %8, i32 %9, i32 %10, i32 %11) #0 !dbg !3 {
  %13 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %14 = and i32 %13, 31, !dbg !6
  %15 = lshr i32 %13, 5, !dbg !6
  %16 = and i32 %13, 16, !dbg !6
  %17 = and i32 %13, 3, !dbg !6
  %18 = and i32 %15, 3, !dbg !6
  %19 = shl nuw nsw i32 %18, 8, !dbg !6
  %20 = and i32 %15, 2, !dbg !6
  %21 = shl nuw nsw i32 %20, 3, !dbg !6
  %22 = shl nuw nsw i32 %15, 9, !dbg !6
  %23 = and i32 %22, 512, !dbg !6
  %24 = shl nuw nsw i32 %13, 2, !dbg !6
  %25 = and i32 %24, 24, !dbg !6
  %26 = shl nuw nsw i32 %14, 5, !dbg !6
  %27 = or disjoint i32 %25, %26, !dbg !6
  %28 = xor i32 %27, %21, !dbg !6
  %29 = lshr exact i32 %16, 1, !dbg !6
  %30 = xor i32 %29, %25, !dbg !6
  %31 = shl nuw nsw i32 %13, 5, !dbg !6
  %32 = and i32 %31, 480, !dbg !6
  %33 = or disjoint i32 %30, %32, !dbg !6
  %34 = or disjoint i32 %33, %23, !dbg !6
  %35 = and i32 %13, 24, !dbg !6
  %36 = shl nuw nsw i32 %14, 3, !dbg !6
  %37 = xor i32 %35, %36, !dbg !6
  %38 = or disjoint i32 %37, %19, !dbg !6
  %39 = shl nuw nsw i32 %17, 3, !dbg !6
  %40 = lshr i32 %13, 2, !dbg !6
  %41 = and i32 %40, 7, !dbg !6
  %42 = shl nuw nsw i32 %18, 3, !dbg !6
  %43 = or disjoint i32 %41, %42, !dbg !6
  %44 = add i32 %2, 31, !dbg !7
  %45 = sdiv i32 %44, 32, !dbg !7
  %46 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !8
  %47 = add i32 %10, 31, !dbg !8
  %48 = lshr i32 %47, 5, !dbg !8
  %49 = call i32 @llvm.smax.i32(i32 %48, i32 1), !dbg !8
  %50 = udiv i32 %46, %49, !dbg !8
  %51 = urem i32 %46, %49, !dbg !8
  %52 = shl i32 %50, 5, !dbg !9
  %53 = shl nuw i32 %51, 5, !dbg !9
  %54 = or disjoint i32 %52, %43
  %55 = icmp ult i32 %52, %1
  %56 = mul i32 %54, %3
  %57 = or disjoint i32 %53, %39
  %58 = icmp ult i32 %53, %6
  %59 = shl nuw nsw i32 %38, 1
  %60 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %59
  %61 = getelementptr i8, ptr addrspace(3) %60, i32 2048
  %62 = shl nuw nsw i32 %34, 1
  %63 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %62
  %64 = getelementptr i8, ptr addrspace(3) %63, i32 2048
  %65 = xor i32 %62, 32
  %66 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %65
  %67 = getelementptr i8, ptr addrspace(3) %66, i32 2048
  %68 = shl nuw nsw i32 %28, 1
  %69 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %68
  %70 = xor i32 %68, 16
  %71 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %70
  br label %72, !dbg !7

72:                                               ; preds = %83, %12
  %73 = phi i32 [ 0, %12 ], [ %156, %83 ], !dbg !7
  %74 = phi float [ 0.000000e+00, %12 ], [ %147, %83 ], !dbg !10
  %75 = phi float [ 0.000000e+00, %12 ], [ %148, %83 ], !dbg !10
  %76 = phi float [ 0.000000e+00, %12 ], [ %149, %83 ], !dbg !10
  %77 = phi float [ 0.000000e+00, %12 ], [ %150, %83 ], !dbg !10
  %78 = phi float [ 0.000000e+00, %12 ], [ %152, %83 ], !dbg !10
  %79 = phi float [ 0.000000e+00, %12 ], [ %153, %83 ], !dbg !10
  %80 = phi float [ 0.000000e+00, %12 ], [ %154, %83 ], !dbg !10
  %81 = phi float [ 0.000000e+00, %12 ], [ %155, %83 ], !dbg !10
  %82 = icmp slt i32 %73, %45, !dbg !7
  br i1 %82, label %83, label %157, !dbg !7

83:                                               ; preds = %72
  %84 = shl i32 %73, 5, !dbg !9
  %85 = or disjoint i32 %84, %39, !dbg !9
  %86 = icmp ult i32 %84, %2, !dbg !9
  %87 = and i1 %55, %86, !dbg !9
  %88 = add i32 %56, %85, !dbg !9
  %89 = sext i32 %88 to i64, !dbg !9
  %90 = getelementptr i16, ptr addrspace(1) %0, i64 %89, !dbg !9
  %91 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %90, i1 %87) #5, !dbg !9
  %92 = extractvalue { i32, i32, i32, i32 } %91, 0, !dbg !9
  %93 = extractvalue { i32, i32, i32, i32 } %91, 1, !dbg !9
  %94 = extractvalue { i32, i32, i32, i32 } %91, 2, !dbg !9
  %95 = extractvalue { i32, i32, i32, i32 } %91, 3, !dbg !9
  %96 = or disjoint i32 %84, %43, !dbg !9
  %97 = icmp ult i32 %84, %5, !dbg !9
  %98 = and i1 %97, %58, !dbg !9
  %99 = mul i32 %96, %7, !dbg !9
  %100 = add i32 %99, %57, !dbg !9
  %101 = sext i32 %100 to i64, !dbg !9
  %102 = getelementptr i16, ptr addrspace(1) %4, i64 %101, !dbg !9
  %103 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %102, i1 %98) #5, !dbg !9
  %104 = extractvalue { i32, i32, i32, i32 } %103, 0, !dbg !9
  %105 = extractvalue { i32, i32, i32, i32 } %103, 1, !dbg !9
  %106 = extractvalue { i32, i32, i32, i32 } %103, 2, !dbg !9
  %107 = extractvalue { i32, i32, i32, i32 } %103, 3, !dbg !9
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !9
  %108 = insertelement <4 x i32> poison, i32 %92, i64 0, !dbg !9
  %109 = insertelement <4 x i32> %108, i32 %93, i64 1, !dbg !9
  %110 = insertelement <4 x i32> %109, i32 %94, i64 2, !dbg !9
  %111 = insertelement <4 x i32> %110, i32 %95, i64 3, !dbg !9
  store <4 x i32> %111, ptr addrspace(3) %61, align 16, !dbg !9
  %112 = insertelement <4 x i32> poison, i32 %104, i64 0, !dbg !9
  %113 = insertelement <4 x i32> %112, i32 %105, i64 1, !dbg !9
  %114 = insertelement <4 x i32> %113, i32 %106, i64 2, !dbg !9
  %115 = insertelement <4 x i32> %114, i32 %107, i64 3, !dbg !9
  store <4 x i32> %115, ptr addrspace(3) %60, align 16, !dbg !9
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !9
  %116 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %64), !dbg !9
  %117 = extractvalue { i32, i32, i32, i32 } %116, 0, !dbg !9
  %118 = extractvalue { i32, i32, i32, i32 } %116, 1, !dbg !9
  %119 = extractvalue { i32, i32, i32, i32 } %116, 2, !dbg !9
  %120 = extractvalue { i32, i32, i32, i32 } %116, 3, !dbg !9
  %121 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %67), !dbg !9
  %122 = extractvalue { i32, i32, i32, i32 } %121, 0, !dbg !9
  %123 = extractvalue { i32, i32, i32, i32 } %121, 1, !dbg !9
  %124 = extractvalue { i32, i32, i32, i32 } %121, 2, !dbg !9
  %125 = extractvalue { i32, i32, i32, i32 } %121, 3, !dbg !9
  %126 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %69), !dbg !9
  %127 = extractvalue { i32, i32, i32, i32 } %126, 0, !dbg !9
  %128 = extractvalue { i32, i32, i32, i32 } %126, 1, !dbg !9
  %129 = extractvalue { i32, i32, i32, i32 } %126, 2, !dbg !9
  %130 = extractvalue { i32, i32, i32, i32 } %126, 3, !dbg !9
  %131 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %71), !dbg !9
  %132 = extractvalue { i32, i32, i32, i32 } %131, 0, !dbg !9
  %133 = extractvalue { i32, i32, i32, i32 } %131, 1, !dbg !9
  %134 = extractvalue { i32, i32, i32, i32 } %131, 2, !dbg !9
  %135 = extractvalue { i32, i32, i32, i32 } %131, 3, !dbg !9
  %136 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %117, i32 %118, i32 %119, i32 %120, i32 %127, i32 %128, float %74, float %75, float %76, float %77) #5, !dbg !9
  %137 = extractvalue { float, float, float, float } %136, 0, !dbg !9
  %138 = extractvalue { float, float, float, float } %136, 1, !dbg !9
  %139 = extractvalue { float, float, float, float } %136, 2, !dbg !9
  %140 = extractvalue { float, float, float, float } %136, 3, !dbg !9
  %141 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %117, i32 %118, i32 %119, i32 %120, i32 %132, i32 %133, float %78, float %79, float %80, float %81) #5, !dbg !9
  %142 = extractvalue { float, float, float, float } %141, 0, !dbg !9
  %143 = extractvalue { float, float, float, float } %141, 1, !dbg !9
  %144 = extractvalue { float, float, float, float } %141, 2, !dbg !9
  %145 = extractvalue { float, float, float, float } %141, 3, !dbg !9
  %146 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %122, i32 %123, i32 %124, i32 %125, i32 %129, i32 %130, float %137, float %138, float %139, float %140) #5, !dbg !9
  %147 = extractvalue { float, float, float, float } %146, 0, !dbg !9
  %148 = extractvalue { float, float, float, float } %146, 1, !dbg !9
  %149 = extractvalue { float, float, float, float } %146, 2, !dbg !9
  %150 = extractvalue { float, float, float, float } %146, 3, !dbg !9
  %151 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %122, i32 %123, i32 %124, i32 %125, i32 %134, i32 %135, float %142, float %143, float %144, float %145) #5, !dbg !9
  %152 = extractvalue { float, float, float, float } %151, 0, !dbg !9
  %153 = extractvalue { float, float, float, float } %151, 1, !dbg !9
  %154 = extractvalue { float, float, float, float } %151, 2, !dbg !9
  %155 = extractvalue { float, float, float, float } %151, 3, !dbg !9
  %156 = add i32 %73, 1, !dbg !7
  br label %72, !dbg !7

157:                                              ; preds = %72
  %158 = and i32 %13, 18, !dbg !6
  %159 = and i32 %24, 36, !dbg !6
  %160 = or disjoint i32 %158, %159, !dbg !6
  %161 = shl nuw nsw i32 %13, 1, !dbg !6
  %162 = and i32 %161, 8, !dbg !6
  %163 = or disjoint i32 %160, %162, !dbg !6
  %164 = shl nuw nsw i32 %20, 5, !dbg !6
  %165 = or disjoint i32 %21, %164, !dbg !6
  %166 = or disjoint i32 %165, %23, !dbg !6
  %167 = xor i32 %163, %166, !dbg !6
  %168 = and i32 %24, 32, !dbg !6
  %169 = or disjoint i32 %162, %168, !dbg !6
  %170 = or disjoint i32 %169, %16, !dbg !6
  %171 = shl nuw nsw i32 %13, 3, !dbg !6
  %172 = and i32 %171, 16, !dbg !6
  %173 = xor i32 %170, %172, !dbg !6
  %174 = shl nuw nsw i32 %17, 5, !dbg !6
  %175 = xor i32 %173, %174, !dbg !6
  %176 = shl nuw nsw i32 %13, 7, !dbg !6
  %177 = and i32 %176, 128, !dbg !6
  %178 = or disjoint i32 %175, %177, !dbg !6
  %179 = xor i32 %178, %19, !dbg !6
  %180 = fptrunc float %74 to half, !dbg !11
  %181 = fptrunc float %75 to half, !dbg !11
  %182 = fptrunc float %76 to half, !dbg !11
  %183 = fptrunc float %77 to half, !dbg !11
  %184 = fptrunc float %78 to half, !dbg !11
  %185 = fptrunc float %79 to half, !dbg !11
  %186 = fptrunc float %80 to half, !dbg !11
  %187 = fptrunc float %81 to half, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %188 = shl nuw nsw i32 %167, 1, !dbg !11
  %189 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %188, !dbg !6
  %190 = insertelement <2 x half> poison, half %180, i64 0, !dbg !11
  %191 = insertelement <2 x half> %190, half %181, i64 1, !dbg !11
  store <2 x half> %191, ptr addrspace(3) %189, align 4, !dbg !11
  %192 = getelementptr i8, ptr addrspace(3) %189, i32 512, !dbg !11
  %193 = insertelement <2 x half> poison, half %182, i64 0, !dbg !11
  %194 = insertelement <2 x half> %193, half %183, i64 1, !dbg !11
  store <2 x half> %194, ptr addrspace(3) %192, align 4, !dbg !11
  %195 = xor i32 %188, 64, !dbg !11
  %196 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %195, !dbg !6
  %197 = getelementptr i8, ptr addrspace(3) %196, i32 256, !dbg !11
  %198 = insertelement <2 x half> poison, half %184, i64 0, !dbg !11
  %199 = insertelement <2 x half> %198, half %185, i64 1, !dbg !11
  store <2 x half> %199, ptr addrspace(3) %197, align 4, !dbg !11
  %200 = getelementptr i8, ptr addrspace(3) %196, i32 768, !dbg !11
  %201 = insertelement <2 x half> poison, half %186, i64 0, !dbg !11
  %202 = insertelement <2 x half> %201, half %187, i64 1, !dbg !11
  store <2 x half> %202, ptr addrspace(3) %200, align 4, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %203 = shl i32 %179, 1, !dbg !11
  %204 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %203, !dbg !6
  %205 = load <4 x i32>, ptr addrspace(3) %204, align 16, !dbg !11
  %206 = extractelement <4 x i32> %205, i64 0, !dbg !11
  %207 = extractelement <4 x i32> %205, i64 1, !dbg !11
  %208 = extractelement <4 x i32> %205, i64 2, !dbg !11
  %209 = extractelement <4 x i32> %205, i64 3, !dbg !11
  %210 = icmp ult i32 %52, %9, !dbg !11
  %211 = icmp ult i32 %53, %10, !dbg !11
  %212 = and i1 %210, %211, !dbg !11
  %213 = mul i32 %54, %11, !dbg !11
  %214 = add i32 %213, %57, !dbg !11
  %215 = sext i32 %214 to i64, !dbg !11
  %216 = getelementptr i16, ptr addrspace(1) %8, i64 %215, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %216, i1 %212, i32 %206, i32 %208, i32 %207, i32 %209) #5, !dbg !11
  ret void, !dbg !6
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: convergent nocallback nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) readonly captures(none)) #4

; Function Attrs: convergent nocallback nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) readonly captures(none)) #4

attributes #0 = { "nvvm.minctasm"="1" "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nocallback nounwind memory(argmem: read) }
attributes #5 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "MLIR", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "KernelsTest.cpp", directory: "kernels")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "matmul", linkageName: "matmul", scope: !1, file: !1, line: _, type: !4, scopeLine: _, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!4 = !DISubroutineType(cc: DW_CC_normal, types: !5)
!5 = !{}
!6 = !DILocation(line: _, scope: !3)
!7 = !DILocation(line: _, scope: !3)
!8 = !DILocation(line: _, scope: !3)
!9 = !DILocation(line: _, scope: !3)
!10 = !DILocation(line: _, scope: !3)
!11 = !DILocation(line: _, scope: !3)
