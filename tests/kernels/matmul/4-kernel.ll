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
  %54 = icmp sgt i32 %44, 31, !dbg !7
  %55 = or disjoint i32 %52, %43, !dbg !9
  %56 = icmp ult i32 %52, %1, !dbg !9
  %57 = icmp ne i32 %2, 0, !dbg !9
  %58 = and i1 %56, %57, !dbg !9
  %59 = mul i32 %55, %3, !dbg !9
  %60 = add i32 %59, %39, !dbg !9
  %61 = sext i32 %60 to i64, !dbg !9
  %62 = getelementptr i16, ptr addrspace(1) %0, i64 %61, !dbg !9
  %63 = shl nuw nsw i32 %38, 1, !dbg !9
  %64 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %63, !dbg !6
  %65 = ptrtoint ptr addrspace(3) %64 to i32, !dbg !9
  %66 = select i1 %58, i32 16, i32 0, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+0], [$1+0], 16, $2;", "r,l,r,b,~{memory}"(i32 %65, ptr addrspace(1) %62, i32 %66, i1 %54) #5, !dbg !9
  %67 = icmp ne i32 %5, 0, !dbg !9
  %68 = or disjoint i32 %53, %39, !dbg !9
  %69 = icmp ult i32 %53, %6, !dbg !9
  %70 = and i1 %67, %69, !dbg !9
  %71 = mul i32 %43, %7, !dbg !9
  %72 = add i32 %71, %68, !dbg !9
  %73 = sext i32 %72 to i64, !dbg !9
  %74 = getelementptr i16, ptr addrspace(1) %4, i64 %73, !dbg !9
  %75 = select i1 %70, i32 16, i32 0, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+6144], [$1+0], 16, $2;", "r,l,r,b,~{memory}"(i32 %65, ptr addrspace(1) %74, i32 %75, i1 %54) #5, !dbg !9
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"() #5, !dbg !7
  %76 = icmp sgt i32 %44, 63, !dbg !7
  %77 = or disjoint i32 %39, 32, !dbg !9
  %78 = icmp ugt i32 %2, 32, !dbg !9
  %79 = and i1 %56, %78, !dbg !9
  %80 = add i32 %59, %77, !dbg !9
  %81 = sext i32 %80 to i64, !dbg !9
  %82 = getelementptr i16, ptr addrspace(1) %0, i64 %81, !dbg !9
  %83 = select i1 %79, i32 16, i32 0, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+2048], [$1+0], 16, $2;", "r,l,r,b,~{memory}"(i32 %65, ptr addrspace(1) %82, i32 %83, i1 %76) #5, !dbg !9
  %84 = or disjoint i32 %43, 32, !dbg !9
  %85 = icmp ugt i32 %5, 32, !dbg !9
  %86 = and i1 %85, %69, !dbg !9
  %87 = mul i32 %84, %7, !dbg !9
  %88 = add i32 %87, %68, !dbg !9
  %89 = sext i32 %88 to i64, !dbg !9
  %90 = getelementptr i16, ptr addrspace(1) %4, i64 %89, !dbg !9
  %91 = select i1 %86, i32 16, i32 0, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+8192], [$1+0], 16, $2;", "r,l,r,b,~{memory}"(i32 %65, ptr addrspace(1) %90, i32 %91, i1 %76) #5, !dbg !9
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"() #5, !dbg !7
  %92 = add nsw i32 %45, -2
  %93 = shl nuw nsw i32 %34, 1
  %94 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %93
  %95 = xor i32 %93, 32
  %96 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %95
  %97 = shl nuw nsw i32 %28, 1
  %98 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %97
  %99 = xor i32 %97, 16
  %100 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %99
  br label %101, !dbg !7

101:                                              ; preds = %114, %12
  %102 = phi i32 [ 0, %12 ], [ %185, %114 ], !dbg !7
  %103 = phi float [ 0.000000e+00, %12 ], [ %174, %114 ], !dbg !10
  %104 = phi float [ 0.000000e+00, %12 ], [ %175, %114 ], !dbg !10
  %105 = phi float [ 0.000000e+00, %12 ], [ %176, %114 ], !dbg !10
  %106 = phi float [ 0.000000e+00, %12 ], [ %177, %114 ], !dbg !10
  %107 = phi float [ 0.000000e+00, %12 ], [ %179, %114 ], !dbg !10
  %108 = phi float [ 0.000000e+00, %12 ], [ %180, %114 ], !dbg !10
  %109 = phi float [ 0.000000e+00, %12 ], [ %181, %114 ], !dbg !10
  %110 = phi float [ 0.000000e+00, %12 ], [ %182, %114 ], !dbg !10
  %111 = phi i32 [ 0, %12 ], [ %184, %114 ], !dbg !7
  %112 = phi i32 [ 2, %12 ], [ %111, %114 ], !dbg !7
  %113 = icmp slt i32 %102, %45, !dbg !7
  br i1 %113, label %114, label %186, !dbg !7

114:                                              ; preds = %101
  call void asm sideeffect "cp.async.wait_group 1;", "~{memory}"() #5, !dbg !7
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !7
  %115 = shl i32 %111, 11, !dbg !7
  %116 = icmp slt i32 %102, %92, !dbg !7
  %117 = shl i32 %102, 5, !dbg !9
  %118 = add i32 %117, 64, !dbg !9
  %119 = shl i32 %112, 11, !dbg !9
  %120 = or disjoint i32 %118, %39, !dbg !9
  %121 = icmp ult i32 %118, %2, !dbg !9
  %122 = and i1 %56, %121, !dbg !9
  %123 = add i32 %59, %120, !dbg !9
  %124 = sext i32 %123 to i64, !dbg !9
  %125 = getelementptr i16, ptr addrspace(1) %0, i64 %124, !dbg !9
  %126 = getelementptr i8, ptr addrspace(3) %64, i32 %119, !dbg !9
  %127 = ptrtoint ptr addrspace(3) %126 to i32, !dbg !9
  %128 = select i1 %122, i32 16, i32 0, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+0], [$1+0], 16, $2;", "r,l,r,b,~{memory}"(i32 %127, ptr addrspace(1) %125, i32 %128, i1 %116) #5, !dbg !9
  %129 = or disjoint i32 %118, %43, !dbg !9
  %130 = icmp ult i32 %118, %5, !dbg !9
  %131 = and i1 %130, %69, !dbg !9
  %132 = mul i32 %129, %7, !dbg !9
  %133 = add i32 %132, %68, !dbg !9
  %134 = sext i32 %133 to i64, !dbg !9
  %135 = getelementptr i16, ptr addrspace(1) %4, i64 %134, !dbg !9
  %136 = select i1 %131, i32 16, i32 0, !dbg !9
  call void asm sideeffect "@$3 cp.async.cg.shared.global [$0+6144], [$1+0], 16, $2;", "r,l,r,b,~{memory}"(i32 %127, ptr addrspace(1) %135, i32 %136, i1 %116) #5, !dbg !9
  %137 = getelementptr i8, ptr addrspace(3) %94, i32 %115, !dbg !9
  %138 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %137), !dbg !9
  %139 = extractvalue { i32, i32, i32, i32 } %138, 0, !dbg !9
  %140 = extractvalue { i32, i32, i32, i32 } %138, 1, !dbg !9
  %141 = extractvalue { i32, i32, i32, i32 } %138, 2, !dbg !9
  %142 = extractvalue { i32, i32, i32, i32 } %138, 3, !dbg !9
  %143 = getelementptr i8, ptr addrspace(3) %96, i32 %115, !dbg !9
  %144 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %143), !dbg !9
  %145 = extractvalue { i32, i32, i32, i32 } %144, 0, !dbg !9
  %146 = extractvalue { i32, i32, i32, i32 } %144, 1, !dbg !9
  %147 = extractvalue { i32, i32, i32, i32 } %144, 2, !dbg !9
  %148 = extractvalue { i32, i32, i32, i32 } %144, 3, !dbg !9
  %149 = getelementptr i8, ptr addrspace(3) %98, i32 %115, !dbg !9
  %150 = getelementptr i8, ptr addrspace(3) %149, i32 6144, !dbg !9
  %151 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %150), !dbg !9
  %152 = extractvalue { i32, i32, i32, i32 } %151, 0, !dbg !9
  %153 = extractvalue { i32, i32, i32, i32 } %151, 1, !dbg !9
  %154 = extractvalue { i32, i32, i32, i32 } %151, 2, !dbg !9
  %155 = extractvalue { i32, i32, i32, i32 } %151, 3, !dbg !9
  %156 = getelementptr i8, ptr addrspace(3) %100, i32 %115, !dbg !9
  %157 = getelementptr i8, ptr addrspace(3) %156, i32 6144, !dbg !9
  %158 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %157), !dbg !9
  %159 = extractvalue { i32, i32, i32, i32 } %158, 0, !dbg !9
  %160 = extractvalue { i32, i32, i32, i32 } %158, 1, !dbg !9
  %161 = extractvalue { i32, i32, i32, i32 } %158, 2, !dbg !9
  %162 = extractvalue { i32, i32, i32, i32 } %158, 3, !dbg !9
  %163 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %139, i32 %140, i32 %141, i32 %142, i32 %152, i32 %153, float %103, float %104, float %105, float %106) #5, !dbg !9
  %164 = extractvalue { float, float, float, float } %163, 0, !dbg !9
  %165 = extractvalue { float, float, float, float } %163, 1, !dbg !9
  %166 = extractvalue { float, float, float, float } %163, 2, !dbg !9
  %167 = extractvalue { float, float, float, float } %163, 3, !dbg !9
  %168 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %139, i32 %140, i32 %141, i32 %142, i32 %159, i32 %160, float %107, float %108, float %109, float %110) #5, !dbg !9
  %169 = extractvalue { float, float, float, float } %168, 0, !dbg !9
  %170 = extractvalue { float, float, float, float } %168, 1, !dbg !9
  %171 = extractvalue { float, float, float, float } %168, 2, !dbg !9
  %172 = extractvalue { float, float, float, float } %168, 3, !dbg !9
  %173 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %145, i32 %146, i32 %147, i32 %148, i32 %154, i32 %155, float %164, float %165, float %166, float %167) #5, !dbg !9
  %174 = extractvalue { float, float, float, float } %173, 0, !dbg !9
  %175 = extractvalue { float, float, float, float } %173, 1, !dbg !9
  %176 = extractvalue { float, float, float, float } %173, 2, !dbg !9
  %177 = extractvalue { float, float, float, float } %173, 3, !dbg !9
  %178 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %145, i32 %146, i32 %147, i32 %148, i32 %161, i32 %162, float %169, float %170, float %171, float %172) #5, !dbg !9
  %179 = extractvalue { float, float, float, float } %178, 0, !dbg !9
  %180 = extractvalue { float, float, float, float } %178, 1, !dbg !9
  %181 = extractvalue { float, float, float, float } %178, 2, !dbg !9
  %182 = extractvalue { float, float, float, float } %178, 3, !dbg !9
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"() #5, !dbg !7
  %183 = icmp ugt i32 %111, 1, !dbg !7
  %.v = select i1 %183, i32 -2, i32 1, !dbg !7
  %184 = add i32 %111, %.v, !dbg !7
  %185 = add i32 %102, 1, !dbg !7
  br label %101, !dbg !7

186:                                              ; preds = %101
  %187 = and i32 %13, 18, !dbg !6
  %188 = and i32 %24, 36, !dbg !6
  %189 = or disjoint i32 %187, %188, !dbg !6
  %190 = shl nuw nsw i32 %13, 1, !dbg !6
  %191 = and i32 %190, 8, !dbg !6
  %192 = or disjoint i32 %189, %191, !dbg !6
  %193 = shl nuw nsw i32 %20, 5, !dbg !6
  %194 = or disjoint i32 %21, %193, !dbg !6
  %195 = or disjoint i32 %194, %23, !dbg !6
  %196 = xor i32 %192, %195, !dbg !6
  %197 = and i32 %24, 32, !dbg !6
  %198 = or disjoint i32 %191, %197, !dbg !6
  %199 = or disjoint i32 %198, %16, !dbg !6
  %200 = shl nuw nsw i32 %13, 3, !dbg !6
  %201 = and i32 %200, 16, !dbg !6
  %202 = xor i32 %199, %201, !dbg !6
  %203 = shl nuw nsw i32 %17, 5, !dbg !6
  %204 = xor i32 %202, %203, !dbg !6
  %205 = shl nuw nsw i32 %13, 7, !dbg !6
  %206 = and i32 %205, 128, !dbg !6
  %207 = or disjoint i32 %204, %206, !dbg !6
  %208 = xor i32 %207, %19, !dbg !6
  %209 = fptrunc float %103 to half, !dbg !11
  %210 = fptrunc float %104 to half, !dbg !11
  %211 = fptrunc float %105 to half, !dbg !11
  %212 = fptrunc float %106 to half, !dbg !11
  %213 = fptrunc float %107 to half, !dbg !11
  %214 = fptrunc float %108 to half, !dbg !11
  %215 = fptrunc float %109 to half, !dbg !11
  %216 = fptrunc float %110 to half, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %217 = shl nuw nsw i32 %196, 1, !dbg !11
  %218 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %217, !dbg !6
  %219 = insertelement <2 x half> poison, half %209, i64 0, !dbg !11
  %220 = insertelement <2 x half> %219, half %210, i64 1, !dbg !11
  store <2 x half> %220, ptr addrspace(3) %218, align 4, !dbg !11
  %221 = getelementptr i8, ptr addrspace(3) %218, i32 512, !dbg !11
  %222 = insertelement <2 x half> poison, half %211, i64 0, !dbg !11
  %223 = insertelement <2 x half> %222, half %212, i64 1, !dbg !11
  store <2 x half> %223, ptr addrspace(3) %221, align 4, !dbg !11
  %224 = xor i32 %217, 64, !dbg !11
  %225 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %224, !dbg !6
  %226 = getelementptr i8, ptr addrspace(3) %225, i32 256, !dbg !11
  %227 = insertelement <2 x half> poison, half %213, i64 0, !dbg !11
  %228 = insertelement <2 x half> %227, half %214, i64 1, !dbg !11
  store <2 x half> %228, ptr addrspace(3) %226, align 4, !dbg !11
  %229 = getelementptr i8, ptr addrspace(3) %225, i32 768, !dbg !11
  %230 = insertelement <2 x half> poison, half %215, i64 0, !dbg !11
  %231 = insertelement <2 x half> %230, half %216, i64 1, !dbg !11
  store <2 x half> %231, ptr addrspace(3) %229, align 4, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %232 = shl i32 %208, 1, !dbg !11
  %233 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %232, !dbg !6
  %234 = load <4 x i32>, ptr addrspace(3) %233, align 16, !dbg !11
  %235 = extractelement <4 x i32> %234, i64 0, !dbg !11
  %236 = extractelement <4 x i32> %234, i64 1, !dbg !11
  %237 = extractelement <4 x i32> %234, i64 2, !dbg !11
  %238 = extractelement <4 x i32> %234, i64 3, !dbg !11
  %239 = icmp ult i32 %52, %9, !dbg !11
  %240 = icmp ult i32 %53, %10, !dbg !11
  %241 = and i1 %239, %240, !dbg !11
  %242 = mul i32 %55, %11, !dbg !11
  %243 = add i32 %242, %68, !dbg !11
  %244 = sext i32 %243 to i64, !dbg !11
  %245 = getelementptr i16, ptr addrspace(1) %8, i64 %244, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %245, i1 %241, i32 %235, i32 %237, i32 %236, i32 %238) #5, !dbg !11
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
attributes #5 = { convergent nounwind }

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
