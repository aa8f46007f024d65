target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile_shared = external addrspace(3) global [0 x i8], align 128

define ptx_kernel void @matmul(ptr addrspace(1) %0, i32 %1, i32 %2, i32 %3, ptr addrspace(1) %4, i32 %5, i32 %6, i32 %7, ptr addrspace(1) %8, i32 %9, i32 %10, i32 %11) #0 !dbg !3 {
  %13 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %14 = and i32 %13, 31, !dbg !6
  %15 = lshr i32 %13, 5, !dbg !6
  %16 = and i32 %15, 3, !dbg !6
  %17 = and i32 %15, 2, !dbg !6
  %18 = and i32 %15, 1, !dbg !6
  %19 = shl nuw nsw i32 %13, 3, !dbg !6
  %20 = and i32 %19, 56, !dbg !6
  %21 = lshr i32 %13, 1, !dbg !6
  %22 = and i32 %21, 8, !dbg !6
  %23 = shl nuw nsw i32 %13, 2, !dbg !6
  %24 = and i32 %23, 24, !dbg !6
  %25 = xor i32 %22, %24, !dbg !6
  %26 = shl nuw nsw i32 %13, 5, !dbg !6
  %27 = and i32 %26, 480, !dbg !6
  %28 = or disjoint i32 %25, %27, !dbg !6
  %29 = and i32 %13, 24, !dbg !6
  %30 = shl nuw nsw i32 %14, 3, !dbg !6
  %31 = xor i32 %29, %30, !dbg !6
  %32 = shl nuw nsw i32 %18, 5, !dbg !6
  %33 = shl nuw nsw i32 %16, 8, !dbg !6
  %34 = or disjoint i32 %32, %33, !dbg !6
  %35 = xor i32 %31, %34, !dbg !6
  %36 = or disjoint i32 %31, %33, !dbg !6
  %37 = lshr exact i32 %29, 3, !dbg !6
  %38 = shl nuw nsw i32 %16, 2, !dbg !6
  %39 = or disjoint i32 %37, %38, !dbg !6
  %40 = and i32 %19, 24, !dbg !6
  %41 = lshr i32 %13, 2, !dbg !6
  %42 = and i32 %41, 7, !dbg !6
  %43 = shl nuw nsw i32 %16, 3, !dbg !6
  %44 = or disjoint i32 %42, %43, !dbg !6
  %45 = add i32 %2, 31, !dbg !7
  %46 = sdiv i32 %45, 32, !dbg !7
  %47 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !8
  %48 = add i32 %10, 63, !dbg !8
  %49 = lshr i32 %48, 6, !dbg !8
  %50 = call i32 @llvm.smax.i32(i32 %49, i32 1), !dbg !8
  %51 = udiv i32 %47, %50, !dbg !8
  %52 = urem i32 %47, %50, !dbg !8
  %53 = shl i32 %51, 6, !dbg !9
  %54 = shl nuw i32 %52, 6, !dbg !9
  %55 = or disjoint i32 %53, %44
  %56 = icmp ult i32 %53, %1
  %57 = mul i32 %55, %3
  %58 = shl i32 %3, 5
  %59 = sext i32 %58 to i64
  %60 = or disjoint i32 %54, %20
  %61 = icmp ult i32 %54, %6
  %62 = shl i32 %7, 4
  %63 = sext i32 %62 to i64
  %64 = shl nuw nsw i32 %36, 1
  %65 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %64
  %66 = getelementptr i8, ptr addrspace(3) %65, i32 4096
  %67 = getelementptr i8, ptr addrspace(3) %65, i32 6144
  %68 = shl nuw nsw i32 %35, 1
  %69 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %68
  %70 = getelementptr i8, ptr addrspace(3) %69, i32 2048
  %71 = shl nuw nsw i32 %18, 11
  %72 = shl nuw nsw i32 %28, 1
  %73 = or disjoint i32 %71, %72
  %74 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %73
  %75 = getelementptr i8, ptr addrspace(3) %74, i32 4096
  %76 = xor i32 %73, 32
  %77 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %76
  %78 = getelementptr i8, ptr addrspace(3) %77, i32 4096
  %79 = getelementptr i8, ptr addrspace(3) %74, i32 5120
  %80 = getelementptr i8, ptr addrspace(3) %77, i32 5120
  %81 = shl nuw nsw i32 %17, 5
  %82 = shl nuw nsw i32 %14, 7
  %83 = shl nuw nsw i32 %20, 1
  %84 = or disjoint i32 %82, %83
  %85 = xor i32 %81, %84
  %86 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %85
  %87 = xor i32 %85, 16
  %88 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %87
  %89 = xor i32 %85, 32
  %90 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %89
  %91 = xor i32 %85, 48
  %92 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %91
  br label %93, !dbg !7

93:                                               ; preds = %128, %12
  %94 = phi i32 [ 0, %12 ], [ %301, %128 ], !dbg !7
  %95 = phi float [ 0.000000e+00, %12 ], [ %262, %128 ], !dbg !10
  %96 = phi float [ 0.000000e+00, %12 ], [ %263, %128 ], !dbg !10
  %97 = phi float [ 0.000000e+00, %12 ], [ %264, %128 ], !dbg !10
  %98 = phi float [ 0.000000e+00, %12 ], [ %265, %128 ], !dbg !10
  %99 = phi float [ 0.000000e+00, %12 ], [ %267, %128 ], !dbg !10
  %100 = phi float [ 0.000000e+00, %12 ], [ %268, %128 ], !dbg !10
  %101 = phi float [ 0.000000e+00, %12 ], [ %269, %128 ], !dbg !10
  %102 = phi float [ 0.000000e+00, %12 ], [ %270, %128 ], !dbg !10
  %103 = phi float [ 0.000000e+00, %12 ], [ %272, %128 ], !dbg !10
  %104 = phi float [ 0.000000e+00, %12 ], [ %273, %128 ], !dbg !10
  %105 = phi float [ 0.000000e+00, %12 ], [ %274, %128 ], !dbg !10
  %106 = phi float [ 0.000000e+00, %12 ], [ %275, %128 ], !dbg !10
  %107 = phi float [ 0.000000e+00, %12 ], [ %277, %128 ], !dbg !10
  %108 = phi float [ 0.000000e+00, %12 ], [ %278, %128 ], !dbg !10
  %109 = phi float [ 0.000000e+00, %12 ], [ %279, %128 ], !dbg !10
  %110 = phi float [ 0.000000e+00, %12 ], [ %280, %128 ], !dbg !10
  %111 = phi float [ 0.000000e+00, %12 ], [ %282, %128 ], !dbg !10
  %112 = phi float [ 0.000000e+00, %12 ], [ %283, %128 ], !dbg !10
  %113 = phi float [ 0.000000e+00, %12 ], [ %284, %128 ], !dbg !10
  %114 = phi float [ 0.000000e+00, %12 ], [ %285, %128 ], !dbg !10
  %115 = phi float [ 0.000000e+00, %12 ], [ %287, %128 ], !dbg !10
  %116 = phi float [ 0.000000e+00, %12 ], [ %288, %128 ], !dbg !10
  %117 = phi float [ 0.000000e+00, %12 ], [ %289, %128 ], !dbg !10
  %118 = phi float [ 0.000000e+00, %12 ], [ %290, %128 ], !dbg !10
  %119 = phi float [ 0.000000e+00, %12 ], [ %292, %128 ], !dbg !10
  %120 = phi float [ 0.000000e+00, %12 ], [ %293, %128 ], !dbg !10
  %121 = phi float [ 0.000000e+00, %12 ], [ %294, %128 ], !dbg !10
  %122 = phi float [ 0.000000e+00, %12 ], [ %295, %128 ], !dbg !10
  %123 = phi float [ 0.000000e+00, %12 ], [ %297, %128 ], !dbg !10
  %124 = phi float [ 0.000000e+00, %12 ], [ %298, %128 ], !dbg !10
  %125 = phi float [ 0.000000e+00, %12 ], [ %299, %128 ], !dbg !10
  %126 = phi float [ 0.000000e+00, %12 ], [ %300, %128 ], !dbg !10
  %127 = icmp slt i32 %94, %46, !dbg !7
  br i1 %127, label %128, label %302, !dbg !7

128:                                              ; preds = %93
  %129 = shl i32 %94, 5, !dbg !9
  %130 = or disjoint i32 %129, %40, !dbg !9
  %131 = icmp ult i32 %129, %2, !dbg !9
  %132 = and i1 %56, %131, !dbg !9
  %133 = add i32 %57, %130, !dbg !9
  %134 = sext i32 %133 to i64, !dbg !9
  %135 = getelementptr i16, ptr addrspace(1) %0, i64 %134, !dbg !9
  %136 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %135, i1 %132) #5, !dbg !9
  %137 = extractvalue { i32, i32, i32, i32 } %136, 0, !dbg !9
  %138 = extractvalue { i32, i32, i32, i32 } %136, 1, !dbg !9
  %139 = extractvalue { i32, i32, i32, i32 } %136, 2, !dbg !9
  %140 = extractvalue { i32, i32, i32, i32 } %136, 3, !dbg !9
  %141 = getelementptr i16, ptr addrspace(1) %135, i64 %59, !dbg !9
  %142 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %141, i1 %132) #5, !dbg !9
  %143 = extractvalue { i32, i32, i32, i32 } %142, 0, !dbg !9
  %144 = extractvalue { i32, i32, i32, i32 } %142, 1, !dbg !9
  %145 = extractvalue { i32, i32, i32, i32 } %142, 2, !dbg !9
  %146 = extractvalue { i32, i32, i32, i32 } %142, 3, !dbg !9
  %147 = or disjoint i32 %129, %39, !dbg !9
  %148 = icmp ult i32 %129, %5, !dbg !9
  %149 = and i1 %148, %61, !dbg !9
  %150 = mul i32 %147, %7, !dbg !9
  %151 = add i32 %150, %60, !dbg !9
  %152 = sext i32 %151 to i64, !dbg !9
  %153 = getelementptr i16, ptr addrspace(1) %4, i64 %152, !dbg !9
  %154 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %153, i1 %149) #5, !dbg !9
  %155 = extractvalue { i32, i32, i32, i32 } %154, 0, !dbg !9
  %156 = extractvalue { i32, i32, i32, i32 } %154, 1, !dbg !9
  %157 = extractvalue { i32, i32, i32, i32 } %154, 2, !dbg !9
  %158 = extractvalue { i32, i32, i32, i32 } %154, 3, !dbg !9
  %159 = getelementptr i16, ptr addrspace(1) %153, i64 %63, !dbg !9
  %160 = call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$8+0];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"(i32 0, i32 0, i32 0, i32 0, ptr addrspace(1) %159, i1 %149) #5, !dbg !9
  %161 = extractvalue { i32, i32, i32, i32 } %160, 0, !dbg !9
  %162 = extractvalue { i32, i32, i32, i32 } %160, 1, !dbg !9
  %163 = extractvalue { i32, i32, i32, i32 } %160, 2, !dbg !9
  %164 = extractvalue { i32, i32, i32, i32 } %160, 3, !dbg !9
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !9
  %165 = insertelement <4 x i32> poison, i32 %137, i64 0, !dbg !9
  %166 = insertelement <4 x i32> %165, i32 %138, i64 1, !dbg !9
  %167 = insertelement <4 x i32> %166, i32 %139, i64 2, !dbg !9
  %168 = insertelement <4 x i32> %167, i32 %140, i64 3, !dbg !9
  store <4 x i32> %168, ptr addrspace(3) %66, align 16, !dbg !9
  %169 = insertelement <4 x i32> poison, i32 %143, i64 0, !dbg !9
  %170 = insertelement <4 x i32> %169, i32 %144, i64 1, !dbg !9
  %171 = insertelement <4 x i32> %170, i32 %145, i64 2, !dbg !9
  %172 = insertelement <4 x i32> %171, i32 %146, i64 3, !dbg !9
  store <4 x i32> %172, ptr addrspace(3) %67, align 16, !dbg !9
  %173 = insertelement <4 x i32> poison, i32 %155, i64 0, !dbg !9
  %174 = insertelement <4 x i32> %173, i32 %156, i64 1, !dbg !9
  %175 = insertelement <4 x i32> %174, i32 %157, i64 2, !dbg !9
  %176 = insertelement <4 x i32> %175, i32 %158, i64 3, !dbg !9
  store <4 x i32> %176, ptr addrspace(3) %69, align 16, !dbg !9
  %177 = insertelement <4 x i32> poison, i32 %161, i64 0, !dbg !9
  %178 = insertelement <4 x i32> %177, i32 %162, i64 1, !dbg !9
  %179 = insertelement <4 x i32> %178, i32 %163, i64 2, !dbg !9
  %180 = insertelement <4 x i32> %179, i32 %164, i64 3, !dbg !9
  store <4 x i32> %180, ptr addrspace(3) %70, align 16, !dbg !9
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !9
  %181 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %75), !dbg !9
  %182 = extractvalue { i32, i32, i32, i32 } %181, 0, !dbg !9
  %183 = extractvalue { i32, i32, i32, i32 } %181, 1, !dbg !9
  %184 = extractvalue { i32, i32, i32, i32 } %181, 2, !dbg !9
  %185 = extractvalue { i32, i32, i32, i32 } %181, 3, !dbg !9
  %186 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %78), !dbg !9
  %187 = extractvalue { i32, i32, i32, i32 } %186, 0, !dbg !9
  %188 = extractvalue { i32, i32, i32, i32 } %186, 1, !dbg !9
  %189 = extractvalue { i32, i32, i32, i32 } %186, 2, !dbg !9
  %190 = extractvalue { i32, i32, i32, i32 } %186, 3, !dbg !9
  %191 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %79), !dbg !9
  %192 = extractvalue { i32, i32, i32, i32 } %191, 0, !dbg !9
  %193 = extractvalue { i32, i32, i32, i32 } %191, 1, !dbg !9
  %194 = extractvalue { i32, i32, i32, i32 } %191, 2, !dbg !9
  %195 = extractvalue { i32, i32, i32, i32 } %191, 3, !dbg !9
  %196 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %80), !dbg !9
  %197 = extractvalue { i32, i32, i32, i32 } %196, 0, !dbg !9
  %198 = extractvalue { i32, i32, i32, i32 } %196, 1, !dbg !9
  %199 = extractvalue { i32, i32, i32, i32 } %196, 2, !dbg !9
  %200 = extractvalue { i32, i32, i32, i32 } %196, 3, !dbg !9
  %201 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %86), !dbg !9
  %202 = extractvalue { i32, i32, i32, i32 } %201, 0, !dbg !9
  %203 = extractvalue { i32, i32, i32, i32 } %201, 1, !dbg !9
  %204 = extractvalue { i32, i32, i32, i32 } %201, 2, !dbg !9
  %205 = extractvalue { i32, i32, i32, i32 } %201, 3, !dbg !9
  %206 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %88), !dbg !9
  %207 = extractvalue { i32, i32, i32, i32 } %206, 0, !dbg !9
  %208 = extractvalue { i32, i32, i32, i32 } %206, 1, !dbg !9
  %209 = extractvalue { i32, i32, i32, i32 } %206, 2, !dbg !9
  %210 = extractvalue { i32, i32, i32, i32 } %206, 3, !dbg !9
  %211 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %90), !dbg !9
  %212 = extractvalue { i32, i32, i32, i32 } %211, 0, !dbg !9
  %213 = extractvalue { i32, i32, i32, i32 } %211, 1, !dbg !9
  %214 = extractvalue { i32, i32, i32, i32 } %211, 2, !dbg !9
  %215 = extractvalue { i32, i32, i32, i32 } %211, 3, !dbg !9
  %216 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %92), !dbg !9
  %217 = extractvalue { i32, i32, i32, i32 } %216, 0, !dbg !9
  %218 = extractvalue { i32, i32, i32, i32 } %216, 1, !dbg !9
  %219 = extractvalue { i32, i32, i32, i32 } %216, 2, !dbg !9
  %220 = extractvalue { i32, i32, i32, i32 } %216, 3, !dbg !9
  %221 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %182, i32 %183, i32 %184, i32 %185, i32 %202, i32 %203, float %95, float %96, float %97, float %98) #5, !dbg !9
  %222 = extractvalue { float, float, float, float } %221, 0, !dbg !9
  %223 = extractvalue { float, float, float, float } %221, 1, !dbg !9
  %224 = extractvalue { float, float, float, float } %221, 2, !dbg !9
  %225 = extractvalue { float, float, float, float } %221, 3, !dbg !9
  %226 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %182, i32 %183, i32 %184, i32 %185, i32 %207, i32 %208, float %99, float %100, float %101, float %102) #5, !dbg !9
  %227 = extractvalue { float, float, float, float } %226, 0, !dbg !9
  %228 = extractvalue { float, float, float, float } %226, 1, !dbg !9
  %229 = extractvalue { float, float, float, float } %226, 2, !dbg !9
  %230 = extractvalue { float, float, float, float } %226, 3, !dbg !9
  %231 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %182, i32 %183, i32 %184, i32 %185, i32 %212, i32 %213, float %103, float %104, float %105, float %106) #5, !dbg !9
  %232 = extractvalue { float, float, float, float } %231, 0, !dbg !9
  %233 = extractvalue { float, float, float, float } %231, 1, !dbg !9
  %234 = extractvalue { float, float, float, float } %231, 2, !dbg !9
  %235 = extractvalue { float, float, float, float } %231, 3, !dbg !9
  %236 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %182, i32 %183, i32 %184, i32 %185, i32 %217, i32 %218, float %107, float %108, float %109, float %110) #5, !dbg !9
  %237 = extractvalue { float, float, float, float } %236, 0, !dbg !9
  %238 = extractvalue { float, float, float, float } %236, 1, !dbg !9
  %239 = extractvalue { float, float, float, float } %236, 2, !dbg !9
  %240 = extractvalue { float, float, float, float } %236, 3, !dbg !9
  %241 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %192, i32 %193, i32 %194, i32 %195, i32 %202, i32 %203, float %111, float %112, float %113, float %114) #5, !dbg !9
  %242 = extractvalue { float, float, float, float } %241, 0, !dbg !9
  %243 = extractvalue { float, float, float, float } %241, 1, !dbg !9
  %244 = extractvalue { float, float, float, float } %241, 2, !dbg !9
  %245 = extractvalue { float, float, float, float } %241, 3, !dbg !9
  %246 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %192, i32 %193, i32 %194, i32 %195, i32 %207, i32 %208, float %115, float %116, float %117, float %118) #5, !dbg !9
  %247 = extractvalue { float, float, float, float } %246, 0, !dbg !9
  %248 = extractvalue { float, float, float, float } %246, 1, !dbg !9
  %249 = extractvalue { float, float, float, float } %246, 2, !dbg !9
  %250 = extractvalue { float, float, float, float } %246, 3, !dbg !9
  %251 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %192, i32 %193, i32 %194, i32 %195, i32 %212, i32 %213, float %119, float %120, float %121, float %122) #5, !dbg !9
  %252 = extractvalue { float, float, float, float } %251, 0, !dbg !9
  %253 = extractvalue { float, float, float, float } %251, 1, !dbg !9
  %254 = extractvalue { float, float, float, float } %251, 2, !dbg !9
  %255 = extractvalue { float, float, float, float } %251, 3, !dbg !9
  %256 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %192, i32 %193, i32 %194, i32 %195, i32 %217, i32 %218, float %123, float %124, float %125, float %126) #5, !dbg !9
  %257 = extractvalue { float, float, float, float } %256, 0, !dbg !9
  %258 = extractvalue { float, float, float, float } %256, 1, !dbg !9
  %259 = extractvalue { float, float, float, float } %256, 2, !dbg !9
  %260 = extractvalue { float, float, float, float } %256, 3, !dbg !9
  %261 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %187, i32 %188, i32 %189, i32 %190, i32 %204, i32 %205, float %222, float %223, float %224, float %225) #5, !dbg !9
  %262 = extractvalue { float, float, float, float } %261, 0, !dbg !9
  %263 = extractvalue { float, float, float, float } %261, 1, !dbg !9
  %264 = extractvalue { float, float, float, float } %261, 2, !dbg !9
  %265 = extractvalue { float, float, float, float } %261, 3, !dbg !9
  %266 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %187, i32 %188, i32 %189, i32 %190, i32 %209, i32 %210, float %227, float %228, float %229, float %230) #5, !dbg !9
  %267 = extractvalue { float, float, float, float } %266, 0, !dbg !9
  %268 = extractvalue { float, float, float, float } %266, 1, !dbg !9
  %269 = extractvalue { float, float, float, float } %266, 2, !dbg !9
  %270 = extractvalue { float, float, float, float } %266, 3, !dbg !9
  %271 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %187, i32 %188, i32 %189, i32 %190, i32 %214, i32 %215, float %232, float %233, float %234, float %235) #5, !dbg !9
  %272 = extractvalue { float, float, float, float } %271, 0, !dbg !9
  %273 = extractvalue { float, float, float, float } %271, 1, !dbg !9
  %274 = extractvalue { float, float, float, float } %271, 2, !dbg !9
  %275 = extractvalue { float, float, float, float } %271, 3, !dbg !9
  %276 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %187, i32 %188, i32 %189, i32 %190, i32 %219, i32 %220, float %237, float %238, float %239, float %240) #5, !dbg !9
  %277 = extractvalue { float, float, float, float } %276, 0, !dbg !9
  %278 = extractvalue { float, float, float, float } %276, 1, !dbg !9
  %279 = extractvalue { float, float, float, float } %276, 2, !dbg !9
  %280 = extractvalue { float, float, float, float } %276, 3, !dbg !9
  %281 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %197, i32 %198, i32 %199, i32 %200, i32 %204, i32 %205, float %242, float %243, float %244, float %245) #5, !dbg !9
  %282 = extractvalue { float, float, float, float } %281, 0, !dbg !9
  %283 = extractvalue { float, float, float, float } %281, 1, !dbg !9
  %284 = extractvalue { float, float, float, float } %281, 2, !dbg !9
  %285 = extractvalue { float, float, float, float } %281, 3, !dbg !9
  %286 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %197, i32 %198, i32 %199, i32 %200, i32 %209, i32 %210, float %247, float %248, float %249, float %250) #5, !dbg !9
  %287 = extractvalue { float, float, float, float } %286, 0, !dbg !9
  %288 = extractvalue { float, float, float, float } %286, 1, !dbg !9
  %289 = extractvalue { float, float, float, float } %286, 2, !dbg !9
  %290 = extractvalue { float, float, float, float } %286, 3, !dbg !9
  %291 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %197, i32 %198, i32 %199, i32 %200, i32 %214, i32 %215, float %252, float %253, float %254, float %255) #5, !dbg !9
  %292 = extractvalue { float, float, float, float } %291, 0, !dbg !9
  %293 = extractvalue { float, float, float, float } %291, 1, !dbg !9
  %294 = extractvalue { float, float, float, float } %291, 2, !dbg !9
  %295 = extractvalue { float, float, float, float } %291, 3, !dbg !9
  %296 = call { float, float, float, float } asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %197, i32 %198, i32 %199, i32 %200, i32 %219, i32 %220, float %257, float %258, float %259, float %260) #5, !dbg !9
  %297 = extractvalue { float, float, float, float } %296, 0, !dbg !9
  %298 = extractvalue { float, float, float, float } %296, 1, !dbg !9
  %299 = extractvalue { float, float, float, float } %296, 2, !dbg !9
  %300 = extractvalue { float, float, float, float } %296, 3, !dbg !9
  %301 = add i32 %94, 1, !dbg !7
  br label %93, !dbg !7

302:                                              ; preds = %93
  %303 = and i32 %13, 4, !dbg !6
  %304 = shl nuw nsw i32 %303, 1, !dbg !6
  %305 = and i32 %13, 2, !dbg !6
  %306 = shl nuw nsw i32 %305, 3, !dbg !6
  %307 = or disjoint i32 %304, %306, !dbg !6
  %308 = and i32 %26, 800, !dbg !6
  %309 = or disjoint i32 %307, %308, !dbg !6
  %310 = shl nuw nsw i32 %17, 3, !dbg !6
  %311 = shl nuw nsw i32 %17, 5, !dbg !6
  %312 = or disjoint i32 %310, %311, !dbg !6
  %313 = shl nuw nsw i32 %18, 11, !dbg !6
  %314 = or disjoint i32 %312, %313, !dbg !6
  %315 = xor i32 %309, %314, !dbg !6
  %316 = and i32 %13, 8, !dbg !6
  %317 = shl nuw nsw i32 %305, 1, !dbg !6
  %318 = or disjoint i32 %316, %317, !dbg !6
  %319 = shl nuw nsw i32 %303, 2, !dbg !6
  %320 = or disjoint i32 %318, %319, !dbg !6
  %321 = shl nuw nsw i32 %13, 4, !dbg !6
  %322 = and i32 %321, 320, !dbg !6
  %323 = or disjoint i32 %320, %322, !dbg !6
  %324 = and i32 %13, 1, !dbg !6
  %325 = fptrunc float %95 to half, !dbg !11
  %326 = fptrunc float %96 to half, !dbg !11
  %327 = fptrunc float %97 to half, !dbg !11
  %328 = fptrunc float %98 to half, !dbg !11
  %329 = fptrunc float %99 to half, !dbg !11
  %330 = fptrunc float %100 to half, !dbg !11
  %331 = fptrunc float %101 to half, !dbg !11
  %332 = fptrunc float %102 to half, !dbg !11
  %333 = fptrunc float %103 to half, !dbg !11
  %334 = fptrunc float %104 to half, !dbg !11
  %335 = fptrunc float %105 to half, !dbg !11
  %336 = fptrunc float %106 to half, !dbg !11
  %337 = fptrunc float %107 to half, !dbg !11
  %338 = fptrunc float %108 to half, !dbg !11
  %339 = fptrunc float %109 to half, !dbg !11
  %340 = fptrunc float %110 to half, !dbg !11
  %341 = fptrunc float %111 to half, !dbg !11
  %342 = fptrunc float %112 to half, !dbg !11
  %343 = fptrunc float %113 to half, !dbg !11
  %344 = fptrunc float %114 to half, !dbg !11
  %345 = fptrunc float %115 to half, !dbg !11
  %346 = fptrunc float %116 to half, !dbg !11
  %347 = fptrunc float %117 to half, !dbg !11
  %348 = fptrunc float %118 to half, !dbg !11
  %349 = fptrunc float %119 to half, !dbg !11
  %350 = fptrunc float %120 to half, !dbg !11
  %351 = fptrunc float %121 to half, !dbg !11
  %352 = fptrunc float %122 to half, !dbg !11
  %353 = fptrunc float %123 to half, !dbg !11
  %354 = fptrunc float %124 to half, !dbg !11
  %355 = fptrunc float %125 to half, !dbg !11
  %356 = fptrunc float %126 to half, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %357 = shl nuw nsw i32 %315, 1, !dbg !11
  %358 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %357, !dbg !6
  %359 = insertelement <2 x half> poison, half %325, i64 0, !dbg !11
  %360 = insertelement <2 x half> %359, half %341, i64 1, !dbg !11
  %361 = bitcast <2 x half> %360 to i32, !dbg !11
  %362 = insertelement <2 x half> poison, half %326, i64 0, !dbg !11
  %363 = insertelement <2 x half> %362, half %342, i64 1, !dbg !11
  %364 = bitcast <2 x half> %363 to i32, !dbg !11
  %365 = insertelement <2 x half> poison, half %333, i64 0, !dbg !11
  %366 = insertelement <2 x half> %365, half %349, i64 1, !dbg !11
  %367 = bitcast <2 x half> %366 to i32, !dbg !11
  %368 = insertelement <2 x half> poison, half %334, i64 0, !dbg !11
  %369 = insertelement <2 x half> %368, half %350, i64 1, !dbg !11
  %370 = bitcast <2 x half> %369 to i32, !dbg !11
  %371 = insertelement <4 x i32> poison, i32 %361, i64 0, !dbg !11
  %372 = insertelement <4 x i32> %371, i32 %364, i64 1, !dbg !11
  %373 = insertelement <4 x i32> %372, i32 %367, i64 2, !dbg !11
  %374 = insertelement <4 x i32> %373, i32 %370, i64 3, !dbg !11
  store <4 x i32> %374, ptr addrspace(3) %358, align 16, !dbg !11
  %375 = getelementptr i8, ptr addrspace(3) %358, i32 2048, !dbg !11
  %376 = insertelement <2 x half> poison, half %327, i64 0, !dbg !11
  %377 = insertelement <2 x half> %376, half %343, i64 1, !dbg !11
  %378 = bitcast <2 x half> %377 to i32, !dbg !11
  %379 = insertelement <2 x half> poison, half %328, i64 0, !dbg !11
  %380 = insertelement <2 x half> %379, half %344, i64 1, !dbg !11
  %381 = bitcast <2 x half> %380 to i32, !dbg !11
  %382 = insertelement <2 x half> poison, half %335, i64 0, !dbg !11
  %383 = insertelement <2 x half> %382, half %351, i64 1, !dbg !11
  %384 = bitcast <2 x half> %383 to i32, !dbg !11
  %385 = insertelement <2 x half> poison, half %336, i64 0, !dbg !11
  %386 = insertelement <2 x half> %385, half %352, i64 1, !dbg !11
  %387 = bitcast <2 x half> %386 to i32, !dbg !11
  %388 = insertelement <4 x i32> poison, i32 %378, i64 0, !dbg !11
  %389 = insertelement <4 x i32> %388, i32 %381, i64 1, !dbg !11
  %390 = insertelement <4 x i32> %389, i32 %384, i64 2, !dbg !11
  %391 = insertelement <4 x i32> %390, i32 %387, i64 3, !dbg !11
  store <4 x i32> %391, ptr addrspace(3) %375, align 16, !dbg !11
  %392 = xor i32 %357, 64, !dbg !11
  %393 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %392, !dbg !6
  %394 = getelementptr i8, ptr addrspace(3) %393, i32 256, !dbg !11
  %395 = insertelement <2 x half> poison, half %329, i64 0, !dbg !11
  %396 = insertelement <2 x half> %395, half %345, i64 1, !dbg !11
  %397 = bitcast <2 x half> %396 to i32, !dbg !11
  %398 = insertelement <2 x half> poison, half %330, i64 0, !dbg !11
  %399 = insertelement <2 x half> %398, half %346, i64 1, !dbg !11
  %400 = bitcast <2 x half> %399 to i32, !dbg !11
  %401 = insertelement <2 x half> poison, half %337, i64 0, !dbg !11
  %402 = insertelement <2 x half> %401, half %353, i64 1, !dbg !11
  %403 = bitcast <2 x half> %402 to i32, !dbg !11
  %404 = insertelement <2 x half> poison, half %338, i64 0, !dbg !11
  %405 = insertelement <2 x half> %404, half %354, i64 1, !dbg !11
  %406 = bitcast <2 x half> %405 to i32, !dbg !11
  %407 = insertelement <4 x i32> poison, i32 %397, i64 0, !dbg !11
  %408 = insertelement <4 x i32> %407, i32 %400, i64 1, !dbg !11
  %409 = insertelement <4 x i32> %408, i32 %403, i64 2, !dbg !11
  %410 = insertelement <4 x i32> %409, i32 %406, i64 3, !dbg !11
  store <4 x i32> %410, ptr addrspace(3) %394, align 16, !dbg !11
  %411 = getelementptr i8, ptr addrspace(3) %393, i32 2304, !dbg !11
  %412 = insertelement <2 x half> poison, half %331, i64 0, !dbg !11
  %413 = insertelement <2 x half> %412, half %347, i64 1, !dbg !11
  %414 = bitcast <2 x half> %413 to i32, !dbg !11
  %415 = insertelement <2 x half> poison, half %332, i64 0, !dbg !11
  %416 = insertelement <2 x half> %415, half %348, i64 1, !dbg !11
  %417 = bitcast <2 x half> %416 to i32, !dbg !11
  %418 = insertelement <2 x half> poison, half %339, i64 0, !dbg !11
  %419 = insertelement <2 x half> %418, half %355, i64 1, !dbg !11
  %420 = bitcast <2 x half> %419 to i32, !dbg !11
  %421 = insertelement <2 x half> poison, half %340, i64 0, !dbg !11
  %422 = insertelement <2 x half> %421, half %356, i64 1, !dbg !11
  %423 = bitcast <2 x half> %422 to i32, !dbg !11
  %424 = insertelement <4 x i32> poison, i32 %414, i64 0, !dbg !11
  %425 = insertelement <4 x i32> %424, i32 %417, i64 1, !dbg !11
  %426 = insertelement <4 x i32> %425, i32 %420, i64 2, !dbg !11
  %427 = insertelement <4 x i32> %426, i32 %423, i64 3, !dbg !11
  store <4 x i32> %427, ptr addrspace(3) %411, align 16, !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  %428 = shl nuw nsw i32 %16, 10, !dbg !11
  %429 = shl nuw nsw i32 %324, 8, !dbg !11
  %430 = shl nuw nsw i32 %324, 6, !dbg !11
  %431 = shl nuw nsw i32 %323, 1, !dbg !11
  %432 = or i32 %430, %431, !dbg !11
  %433 = xor i32 %429, %432, !dbg !11
  %434 = xor i32 %428, %433, !dbg !11
  %435 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %434, !dbg !6
  %436 = load <2 x i32>, ptr addrspace(3) %435, align 8, !dbg !11
  %437 = extractelement <2 x i32> %436, i64 0, !dbg !11
  %438 = extractelement <2 x i32> %436, i64 1, !dbg !11
  %439 = bitcast i32 %437 to <2 x i16>, !dbg !11
  %440 = bitcast i32 %438 to <2 x i16>, !dbg !11
  %441 = xor i32 %434, 64, !dbg !11
  %442 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %441, !dbg !6
  %443 = load <2 x i32>, ptr addrspace(3) %442, align 8, !dbg !11
  %444 = extractelement <2 x i32> %443, i64 0, !dbg !11
  %445 = extractelement <2 x i32> %443, i64 1, !dbg !11
  %446 = bitcast i32 %444 to <2 x i16>, !dbg !11
  %447 = bitcast i32 %445 to <2 x i16>, !dbg !11
  %448 = xor i32 %434, 32, !dbg !11
  %449 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %448, !dbg !6
  %450 = load <2 x i32>, ptr addrspace(3) %449, align 8, !dbg !11
  %451 = extractelement <2 x i32> %450, i64 0, !dbg !11
  %452 = extractelement <2 x i32> %450, i64 1, !dbg !11
  %453 = bitcast i32 %451 to <2 x i16>, !dbg !11
  %454 = bitcast i32 %452 to <2 x i16>, !dbg !11
  %455 = xor i32 %434, 96, !dbg !11
  %456 = getelementptr i8, ptr addrspace(3) @tile_shared, i32 %455, !dbg !6
  %457 = load <2 x i32>, ptr addrspace(3) %456, align 8, !dbg !11
  %458 = extractelement <2 x i32> %457, i64 0, !dbg !11
  %459 = extractelement <2 x i32> %457, i64 1, !dbg !11
  %460 = bitcast i32 %458 to <2 x i16>, !dbg !11
  %461 = bitcast i32 %459 to <2 x i16>, !dbg !11
  %462 = getelementptr i8, ptr addrspace(3) %435, i32 4096, !dbg !11
  %463 = load <2 x i32>, ptr addrspace(3) %462, align 8, !dbg !11
  %464 = extractelement <2 x i32> %463, i64 0, !dbg !11
  %465 = extractelement <2 x i32> %463, i64 1, !dbg !11
  %466 = bitcast i32 %464 to <2 x i16>, !dbg !11
  %467 = bitcast i32 %465 to <2 x i16>, !dbg !11
  %468 = getelementptr i8, ptr addrspace(3) %442, i32 4096, !dbg !11
  %469 = load <2 x i32>, ptr addrspace(3) %468, align 8, !dbg !11
  %470 = extractelement <2 x i32> %469, i64 0, !dbg !11
  %471 = extractelement <2 x i32> %469, i64 1, !dbg !11
  %472 = bitcast i32 %470 to <2 x i16>, !dbg !11
  %473 = bitcast i32 %471 to <2 x i16>, !dbg !11
  %474 = getelementptr i8, ptr addrspace(3) %449, i32 4096, !dbg !11
  %475 = load <2 x i32>, ptr addrspace(3) %474, align 8, !dbg !11
  %476 = extractelement <2 x i32> %475, i64 0, !dbg !11
  %477 = extractelement <2 x i32> %475, i64 1, !dbg !11
  %478 = bitcast i32 %476 to <2 x i16>, !dbg !11
  %479 = bitcast i32 %477 to <2 x i16>, !dbg !11
  %480 = getelementptr i8, ptr addrspace(3) %456, i32 4096, !dbg !11
  %481 = load <2 x i32>, ptr addrspace(3) %480, align 8, !dbg !11
  %482 = extractelement <2 x i32> %481, i64 0, !dbg !11
  %483 = extractelement <2 x i32> %481, i64 1, !dbg !11
  %484 = bitcast i32 %482 to <2 x i16>, !dbg !11
  %485 = bitcast i32 %483 to <2 x i16>, !dbg !11
  %486 = or disjoint i32 %53, %39, !dbg !11
  %487 = icmp ult i32 %53, %9, !dbg !11
  %488 = icmp ult i32 %54, %10, !dbg !11
  %489 = and i1 %487, %488, !dbg !11
  %490 = mul i32 %486, %11, !dbg !11
  %491 = add i32 %490, %60, !dbg !11
  %492 = sext i32 %491 to i64, !dbg !11
  %493 = getelementptr i16, ptr addrspace(1) %8, i64 %492, !dbg !11
  %494 = shufflevector <2 x i16> %439, <2 x i16> %440, <2 x i32> <i32 0, i32 2>, !dbg !11
  %495 = bitcast <2 x i16> %494 to i32, !dbg !11
  %496 = shufflevector <2 x i16> %446, <2 x i16> %447, <2 x i32> <i32 0, i32 2>, !dbg !11
  %497 = bitcast <2 x i16> %496 to i32, !dbg !11
  %498 = shufflevector <2 x i16> %453, <2 x i16> %454, <2 x i32> <i32 0, i32 2>, !dbg !11
  %499 = bitcast <2 x i16> %498 to i32, !dbg !11
  %500 = shufflevector <2 x i16> %460, <2 x i16> %461, <2 x i32> <i32 0, i32 2>, !dbg !11
  %501 = bitcast <2 x i16> %500 to i32, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %493, i1 %489, i32 %495, i32 %497, i32 %499, i32 %501) #5, !dbg !11
  %502 = shl i32 %11, 4, !dbg !11
  %503 = sext i32 %502 to i64, !dbg !11
  %504 = getelementptr i16, ptr addrspace(1) %493, i64 %503, !dbg !11
  %505 = shufflevector <2 x i16> %439, <2 x i16> %440, <2 x i32> <i32 1, i32 3>, !dbg !11
  %506 = bitcast <2 x i16> %505 to i32, !dbg !11
  %507 = shufflevector <2 x i16> %446, <2 x i16> %447, <2 x i32> <i32 1, i32 3>, !dbg !11
  %508 = bitcast <2 x i16> %507 to i32, !dbg !11
  %509 = shufflevector <2 x i16> %453, <2 x i16> %454, <2 x i32> <i32 1, i32 3>, !dbg !11
  %510 = bitcast <2 x i16> %509 to i32, !dbg !11
  %511 = shufflevector <2 x i16> %460, <2 x i16> %461, <2 x i32> <i32 1, i32 3>, !dbg !11
  %512 = bitcast <2 x i16> %511 to i32, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %504, i1 %489, i32 %506, i32 %508, i32 %510, i32 %512) #5, !dbg !11
  %513 = shl i32 %11, 5, !dbg !11
  %514 = sext i32 %513 to i64, !dbg !11
  %515 = getelementptr i16, ptr addrspace(1) %493, i64 %514, !dbg !11
  %516 = shufflevector <2 x i16> %466, <2 x i16> %467, <2 x i32> <i32 0, i32 2>, !dbg !11
  %517 = bitcast <2 x i16> %516 to i32, !dbg !11
  %518 = shufflevector <2 x i16> %472, <2 x i16> %473, <2 x i32> <i32 0, i32 2>, !dbg !11
  %519 = bitcast <2 x i16> %518 to i32, !dbg !11
  %520 = shufflevector <2 x i16> %478, <2 x i16> %479, <2 x i32> <i32 0, i32 2>, !dbg !11
  %521 = bitcast <2 x i16> %520 to i32, !dbg !11
  %522 = shufflevector <2 x i16> %484, <2 x i16> %485, <2 x i32> <i32 0, i32 2>, !dbg !11
  %523 = bitcast <2 x i16> %522 to i32, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %515, i1 %489, i32 %517, i32 %519, i32 %521, i32 %523) #5, !dbg !11
  %524 = mul i32 %11, 48, !dbg !11
  %525 = sext i32 %524 to i64, !dbg !11
  %526 = getelementptr i16, ptr addrspace(1) %493, i64 %525, !dbg !11
  %527 = shufflevector <2 x i16> %466, <2 x i16> %467, <2 x i32> <i32 1, i32 3>, !dbg !11
  %528 = bitcast <2 x i16> %527 to i32, !dbg !11
  %529 = shufflevector <2 x i16> %472, <2 x i16> %473, <2 x i32> <i32 1, i32 3>, !dbg !11
  %530 = bitcast <2 x i16> %529 to i32, !dbg !11
  %531 = shufflevector <2 x i16> %478, <2 x i16> %479, <2 x i32> <i32 1, i32 3>, !dbg !11
  %532 = bitcast <2 x i16> %531 to i32, !dbg !11
  %533 = shufflevector <2 x i16> %484, <2 x i16> %485, <2 x i32> <i32 1, i32 3>, !dbg !11
  %534 = bitcast <2 x i16> %533 to i32, !dbg !11
  call void asm sideeffect "@$1 st.global.v4.b32 [$0+0], {$2, $3, $4, $5};", "l,b,r,r,r,r,~{memory}"(ptr addrspace(1) %526, i1 %489, i32 %528, i32 %530, i32 %532, i32 %534) #5, !dbg !11
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

attributes #0 = { "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nocallback nounwind memory(argmem: read) }
attributes #5 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "MLIR", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "KernelsTest.cpp", directory: "../../tests/kernels")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "matmul", linkageName: "matmul", scope: !1, file: !1, line: 29, type: !4, scopeLine: 29, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!4 = !DISubroutineType(cc: DW_CC_normal, types: !5)
!5 = !{}
!6 = !DILocation(line: 29, scope: !3)
!7 = !DILocation(line: 33, scope: !3)
!8 = !DILocation(line: 31, scope: !3)
!9 = !DILocation(line: 34, scope: !3)
!10 = !DILocation(line: 32, scope: !3)
!11 = !DILocation(line: 35, scope: !3)
