target datalayout = "e-p3:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile_shared = external addrspace(3) global [0 x i8], align 128

define ptx_kernel void @matmul(ptr addrspace(1) %0, i32 %1, i32 %2, i32 %3, ptr addrspace(1) %4, i32 %5, i32 %6, i32 %7, ptr addrspace(1) %8, i32 %9, i32 %10, i32 %11) #0 !dbg !3 {
  %13 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %14 = lshr i32 %13, 5, !dbg !6
  %15 = and i32 %13, 16, !dbg !6
  %16 = and i32 %13, 3, !dbg !6
  %17 = and i32 %14, 3, !dbg !6
  %18 = shl nuw nsw i32 %17, 8, !dbg !6
  %19 = and i32 %14, 2, !dbg !6
  %20 = shl nuw nsw i32 %19, 3, !dbg !6
  %21 = shl nuw nsw i32 %14, 9, !dbg !6
  %22 = and i32 %21, 512, !dbg !6
  %23 = lshr exact i32 %15, 1, !dbg !6
  %24 = shl nuw nsw i32 %13, 2, !dbg !6
  %25 = and i32 %24, 24, !dbg !6
  %26 = xor i32 %23, %25, !dbg !6
  %27 = shl nuw nsw i32 %13, 5, !dbg !6
  %28 = and i32 %27, 480, !dbg !6
  %29 = or disjoint i32 %26, %28, !dbg !6
  %30 = xor i32 %29, %20, !dbg !6
  %31 = or disjoint i32 %29, %22, !dbg !6
  %32 = and i32 %13, 24, !dbg !6
  %33 = shl nuw nsw i32 %13, 3, !dbg !6
  %34 = and i32 %33, 248, !dbg !6
  %35 = xor i32 %32, %34, !dbg !6
  %36 = or disjoint i32 %35, %18, !dbg !6
  %37 = shl nuw nsw i32 %16, 3, !dbg !6
  %38 = lshr i32 %13, 2, !dbg !6
  %39 = and i32 %38, 7, !dbg !6
  %40 = shl nuw nsw i32 %17, 3, !dbg !6
  %41 = or disjoint i32 %39, %40, !dbg !6
  %42 = add i32 %2, 31, !dbg !7
  %43 = sdiv i32 %42, 32, !dbg !7
  %44 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !8
  %45 = add i32 %10, 31, !dbg !8
  %46 = lshr i32 %45, 5, !dbg !8
  %47 = call i32 @llvm.smax.i32(i32 %46, i32 1), !dbg !8
  %48 = udiv i32 %44, %47, !dbg !8
  %49 = urem i32 %44, %47, !dbg !8
  %50 = shl i32 %48, 5, !dbg !9
  %51 = shl nuw i32 %49, 5, !dbg !9
  %52 = icmp sgt i32 %42, 31, !dbg !7
  %53 = or disjoint i32 %50, %41, !dbg !9
  %54 = icmp ult i32 %50, %1, !dbg !9
  %55 = icmp ne i32 %2, 0, !dbg !9
  %56 = and i1 %54, %55, !dbg !9
  %57 = mul i32 %53, %3, !dbg !9
  %58 = add i32 %57, %37, !dbg !9
  %59 = sext i32 %58 to i64, !dbg !9
  %60 = getelementptr i16, ptr addrspace(1) %0, i64 %59, !dbg !9
  %61 = shl nuw nsw i32 %36, 1, !dbg !9
  %62 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %61, !dbg !6
  %63 = ptrtoint ptr addrspace(3) %62 to i32, !dbg !9
  %64 = xor i1 %56, true, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+0], [$1+0], 16, $2;", "r,l,b,b,~{memory}"(i32 %63, ptr addrspace(1) %60, i1 %64, i1 %52) #6, !dbg !9
  %65 = icmp ne i32 %5, 0, !dbg !9
  %66 = or disjoint i32 %51, %37, !dbg !9
  %67 = icmp ult i32 %51, %6, !dbg !9
  %68 = and i1 %65, %67, !dbg !9
  %69 = mul i32 %41, %7, !dbg !9
  %70 = add i32 %69, %66, !dbg !9
  %71 = sext i32 %70 to i64, !dbg !9
  %72 = getelementptr i16, ptr addrspace(1) %4, i64 %71, !dbg !9
  %73 = xor i1 %68, true, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+6144], [$1+0], 16, $2;", "r,l,b,b,~{memory}"(i32 %63, ptr addrspace(1) %72, i1 %73, i1 %52) #6, !dbg !9
  call void @llvm.nvvm.cp.async.commit.group(), !dbg !7
  %74 = icmp sgt i32 %42, 63, !dbg !7
  %75 = or disjoint i32 %37, 32, !dbg !9
  %76 = icmp ugt i32 %2, 32, !dbg !9
  %77 = and i1 %54, %76, !dbg !9
  %78 = add i32 %57, %75, !dbg !9
  %79 = sext i32 %78 to i64, !dbg !9
  %80 = getelementptr i16, ptr addrspace(1) %0, i64 %79, !dbg !9
  %81 = xor i1 %77, true, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+2048], [$1+0], 16, $2;", "r,l,b,b,~{memory}"(i32 %63, ptr addrspace(1) %80, i1 %81, i1 %74) #6, !dbg !9
  %82 = or disjoint i32 %41, 32, !dbg !9
  %83 = icmp ugt i32 %5, 32, !dbg !9
  %84 = and i1 %83, %67, !dbg !9
  %85 = mul i32 %82, %7, !dbg !9
  %86 = add i32 %85, %66, !dbg !9
  %87 = sext i32 %86 to i64, !dbg !9
  %88 = getelementptr i16, ptr addrspace(1) %4, i64 %87, !dbg !9
  %89 = xor i1 %84, true, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+8192], [$1+0], 16, $2;", "r,l,b,b,~{memory}"(i32 %63, ptr addrspace(1) %88, i1 %89, i1 %74) #6, !dbg !9
  call void @llvm.nvvm.cp.async.commit.group(), !dbg !7
  %90 = add nsw i32 %43, -2
  %91 = shl nuw nsw i32 %31, 1
  %92 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %91
  %93 = xor i32 %91, 32
  %94 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %93
  %95 = shl nuw nsw i32 %30, 1
  %96 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %95
  br label %97, !dbg !7

97:                                               ; preds = %110, %12
  %98 = phi i32 [ 0, %12 ], [ %179, %110 ], !dbg !7
  %99 = phi float [ 0.000000e+00, %12 ], [ %167, %110 ], !dbg !10
  %100 = phi float [ 0.000000e+00, %12 ], [ %168, %110 ], !dbg !10
  %101 = phi float [ 0.000000e+00, %12 ], [ %169, %110 ], !dbg !10
  %102 = phi float [ 0.000000e+00, %12 ], [ %170, %110 ], !dbg !10
  %103 = phi float [ 0.000000e+00, %12 ], [ %172, %110 ], !dbg !10
  %104 = phi float [ 0.000000e+00, %12 ], [ %173, %110 ], !dbg !10
  %105 = phi float [ 0.000000e+00, %12 ], [ %174, %110 ], !dbg !10
  %106 = phi float [ 0.000000e+00, %12 ], [ %175, %110 ], !dbg !10
  %107 = phi i32 [ 0, %12 ], [ %178, %110 ], !dbg !7
  %108 = phi i32 [ 4096, %12 ], [ %107, %110 ], !dbg !7
  %109 = icmp slt i32 %98, %43, !dbg !7
  br i1 %109, label %110, label %180, !dbg !7

110:                                              ; preds = %97
  call void @llvm.nvvm.cp.async.wait.group(i32 1), !dbg !7
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !7
  %111 = icmp slt i32 %98, %90, !dbg !7
  %112 = shl i32 %98, 5, !dbg !9
  %113 = add i32 %112, 64, !dbg !9
  %114 = or disjoint i32 %113, %37, !dbg !9
  %115 = icmp ult i32 %113, %2, !dbg !9
  %116 = and i1 %54, %115, !dbg !9
  %117 = add i32 %57, %114, !dbg !9
  %118 = sext i32 %117 to i64, !dbg !9
  %119 = getelementptr i16, ptr addrspace(1) %0, i64 %118, !dbg !9
  %120 = getelementptr i8, ptr addrspace(3) %62, i32 %108, !dbg !9
  %121 = ptrtoint ptr addrspace(3) %120 to i32, !dbg !9
  %122 = xor i1 %116, true, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+0], [$1+0], 16, $2;", "r,l,b,b,~{memory}"(i32 %121, ptr addrspace(1) %119, i1 %122, i1 %111) #6, !dbg !9
  %123 = or disjoint i32 %113, %41, !dbg !9
  %124 = icmp ult i32 %113, %5, !dbg !9
  %125 = and i1 %124, %67, !dbg !9
  %126 = mul i32 %123, %7, !dbg !9
  %127 = add i32 %126, %66, !dbg !9
  %128 = sext i32 %127 to i64, !dbg !9
  %129 = getelementptr i16, ptr addrspace(1) %4, i64 %128, !dbg !9
  %130 = xor i1 %125, true, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+6144], [$1+0], 16, $2;", "r,l,b,b,~{memory}"(i32 %121, ptr addrspace(1) %129, i1 %130, i1 %111) #6, !dbg !9
  %131 = getelementptr i8, ptr addrspace(3) %92, i32 %107, !dbg !9
  %132 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %131), !dbg !9
  %133 = extractvalue { i32, i32, i32, i32 } %132, 0, !dbg !9
  %134 = extractvalue { i32, i32, i32, i32 } %132, 1, !dbg !9
  %135 = extractvalue { i32, i32, i32, i32 } %132, 2, !dbg !9
  %136 = extractvalue { i32, i32, i32, i32 } %132, 3, !dbg !9
  %137 = getelementptr i8, ptr addrspace(3) %94, i32 %107, !dbg !9
  %138 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %137), !dbg !9
  %139 = extractvalue { i32, i32, i32, i32 } %138, 0, !dbg !9
  %140 = extractvalue { i32, i32, i32, i32 } %138, 1, !dbg !9
  %141 = extractvalue { i32, i32, i32, i32 } %138, 2, !dbg !9
  %142 = extractvalue { i32, i32, i32, i32 } %138, 3, !dbg !9
  %143 = getelementptr i8, ptr addrspace(3) %96, i32 %107, !dbg !9
  %144 = getelementptr i8, ptr addrspace(3) %143, i32 6144, !dbg !9
  %145 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %144), !dbg !9
  %146 = extractvalue { i32, i32, i32, i32 } %145, 0, !dbg !9
  %147 = extractvalue { i32, i32, i32, i32 } %145, 1, !dbg !9
  %148 = extractvalue { i32, i32, i32, i32 } %145, 2, !dbg !9
  %149 = extractvalue { i32, i32, i32, i32 } %145, 3, !dbg !9
  %150 = getelementptr i8, ptr addrspace(3) %143, i32 7168, !dbg !9
  %151 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %150), !dbg !9
  %152 = extractvalue { i32, i32, i32, i32 } %151, 0, !dbg !9
  %153 = extractvalue { i32, i32, i32, i32 } %151, 1, !dbg !9
  %154 = extractvalue { i32, i32, i32, i32 } %151, 2, !dbg !9
  %155 = extractvalue { i32, i32, i32, i32 } %151, 3, !dbg !9
  %156 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %133, i32 %134, i32 %135, i32 %136, i32 %146, i32 %147, float %99, float %100, float %101, float %102) #6, !dbg !9
  %157 = extractvalue { float, float, float, float } %156, 0, !dbg !9
  %158 = extractvalue { float, float, float, float } %156, 1, !dbg !9
  %159 = extractvalue { float, float, float, float } %156, 2, !dbg !9
  %160 = extractvalue { float, float, float, float } %156, 3, !dbg !9
  %161 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %133, i32 %134, i32 %135, i32 %136, i32 %148, i32 %149, float %103, float %104, float %105, float %106) #6, !dbg !9
  %162 = extractvalue { float, float, float, float } %161, 0, !dbg !9
  %163 = extractvalue { float, float, float, float } %161, 1, !dbg !9
  %164 = extractvalue { float, float, float, float } %161, 2, !dbg !9
  %165 = extractvalue { float, float, float, float } %161, 3, !dbg !9
  %166 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %139, i32 %140, i32 %141, i32 %142, i32 %152, i32 %153, float %157, float %158, float %159, float %160) #6, !dbg !9
  %167 = extractvalue { float, float, float, float } %166, 0, !dbg !9
  %168 = extractvalue { float, float, float, float } %166, 1, !dbg !9
  %169 = extractvalue { float, float, float, float } %166, 2, !dbg !9
  %170 = extractvalue { float, float, float, float } %166, 3, !dbg !9
  %171 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %139, i32 %140, i32 %141, i32 %142, i32 %154, i32 %155, float %162, float %163, float %164, float %165) #6, !dbg !9
  %172 = extractvalue { float, float, float, float } %171, 0, !dbg !9
  %173 = extractvalue { float, float, float, float } %171, 1, !dbg !9
  %174 = extractvalue { float, float, float, float } %171, 2, !dbg !9
  %175 = extractvalue { float, float, float, float } %171, 3, !dbg !9
  call void @llvm.nvvm.cp.async.commit.group(), !dbg !7
  %176 = icmp eq i32 %107, 4096, !dbg !7
  %177 = add i32 %107, 2048, !dbg !7
  %178 = select i1 %176, i32 0, i32 %177, !dbg !7
  %179 = add i32 %98, 1, !dbg !7
  br label %97, !dbg !7

180:                                              ; preds = %97
  %181 = and i32 %13, 18, !dbg !6
  %182 = and i32 %24, 36, !dbg !6
  %183 = or disjoint i32 %181, %182, !dbg !6
  %184 = shl nuw nsw i32 %13, 1, !dbg !6
  %185 = and i32 %184, 8, !dbg !6
  %186 = or disjoint i32 %183, %185, !dbg !6
  %187 = shl nuw nsw i32 %19, 5, !dbg !6
  %188 = or disjoint i32 %20, %187, !dbg !6
  %189 = or disjoint i32 %188, %22, !dbg !6
  %190 = xor i32 %186, %189, !dbg !6
  %191 = and i32 %24, 32, !dbg !6
  %192 = or disjoint i32 %185, %191, !dbg !6
  %193 = or disjoint i32 %192, %15, !dbg !6
  %194 = and i32 %33, 16, !dbg !6
  %195 = xor i32 %193, %194, !dbg !6
  %196 = shl nuw nsw i32 %16, 5, !dbg !6
  %197 = xor i32 %195, %196, !dbg !6
  %198 = shl nuw nsw i32 %13, 7, !dbg !6
  %199 = and i32 %198, 128, !dbg !6
  %200 = or disjoint i32 %197, %199, !dbg !6
  %201 = xor i32 %200, %18, !dbg !6
  %202 = fptrunc float %99 to half, !dbg !11
  %203 = fptrunc float %100 to half, !dbg !11
  %204 = fptrunc float %101 to half, !dbg !11
  %205 = fptrunc float %102 to half, !dbg !11
  %206 = fptrunc float %103 to half, !dbg !11
  %207 = fptrunc float %104 to half, !dbg !11
  %208 = fptrunc float %105 to half, !dbg !11
  %209 = fptrunc float %106 to half, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %210 = shl nuw nsw i32 %190, 1, !dbg !11
  %211 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %210, !dbg !6
  %212 = insertelement <2 x half> poison, half %202, i64 0, !dbg !11
  %213 = insertelement <2 x half> %212, half %203, i64 1, !dbg !11
  store <2 x half> %213, ptr addrspace(3) %211, align 4, !dbg !11
  %214 = getelementptr i8, ptr addrspace(3) %211, i32 512, !dbg !11
  %215 = insertelement <2 x half> poison, half %204, i64 0, !dbg !11
  %216 = insertelement <2 x half> %215, half %205, i64 1, !dbg !11
  store <2 x half> %216, ptr addrspace(3) %214, align 4, !dbg !11
  %217 = xor i32 %210, 64, !dbg !11
  %218 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %217, !dbg !6
  %219 = getelementptr i8, ptr addrspace(3) %218, i32 256, !dbg !11
  %220 = insertelement <2 x half> poison, half %206, i64 0, !dbg !11
  %221 = insertelement <2 x half> %220, half %207, i64 1, !dbg !11
  store <2 x half> %221, ptr addrspace(3) %219, align 4, !dbg !11
  %222 = getelementptr i8, ptr addrspace(3) %218, i32 768, !dbg !11
  %223 = insertelement <2 x half> poison, half %208, i64 0, !dbg !11
  %224 = insertelement <2 x half> %223, half %209, i64 1, !dbg !11
  store <2 x half> %224, ptr addrspace(3) %222, align 4, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %225 = shl i32 %201, 1, !dbg !11
  %226 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %225, !dbg !6
  %227 = load <4 x i32>, ptr addrspace(3) %226, align 16, !dbg !11
  %228 = extractelement <4 x i32> %227, i64 0, !dbg !11
  %229 = extractelement <4 x i32> %227, i64 1, !dbg !11
  %230 = extractelement <4 x i32> %227, i64 2, !dbg !11
  %231 = extractelement <4 x i32> %227, i64 3, !dbg !11
  %232 = icmp ult i32 %50, %9, !dbg !11
  %233 = icmp ult i32 %51, %10, !dbg !11
  %234 = and i1 %232, %233, !dbg !11
  %235 = mul i32 %53, %11, !dbg !11
  %236 = add i32 %235, %66, !dbg !11
  %237 = sext i32 %236 to i64, !dbg !11
  %238 = getelementptr i16, ptr addrspace(1) %8, i64 %237, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %238, i1 %234, i32 %228, i32 %230, i32 %229, i32 %231) #6, !dbg !11
  ret void, !dbg !6
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #2

; Function Attrs: nounwind
declare void @llvm.nvvm.cp.async.commit.group() #3

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #4

; Function Attrs: nounwind
declare void @llvm.nvvm.cp.async.wait.group(i32 immarg) #3

; Function Attrs: convergent nocallback nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) readonly captures(none)) #5

; Function Attrs: convergent nocallback nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) readonly captures(none)) #5

attributes #0 = { "nvvm.minctasm"="1" "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nounwind }
attributes #4 = { convergent nocallback nounwind }
attributes #5 = { convergent nocallback nounwind memory(argmem: read) }
attributes #6 = { convergent nounwind }

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
