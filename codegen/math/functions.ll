; The functions taken from libclc's bitcode into libtile; whatever they call comes with them; the remainder
; of f32 is that of remainder.ll. The names are mangled as
; OpenCL C's: _Z3expd is exp(double).
declare float @_Z3expf(float)
declare float @_Z4exp2f(float)
declare float @_Z3logf(float)
declare float @_Z4log2f(float)
declare float @_Z5log10f(float)
declare float @_Z5log1pf(float)
declare float @_Z5expm1f(float)
declare float @_Z5rsqrtf(float)
declare float @_Z3sinf(float)
declare float @_Z3cosf(float)
declare float @_Z3tanf(float)
declare float @_Z4tanhf(float)
declare float @_Z3erff(float)
declare float @_Z3powff(float, float)
declare float @_Z4fmodff(float, float)
declare double @_Z3expd(double)
declare double @_Z4exp2d(double)
declare double @_Z3logd(double)
declare double @_Z4log2d(double)
declare double @_Z5log10d(double)
declare double @_Z5log1pd(double)
declare double @_Z5expm1d(double)
declare double @_Z5rsqrtd(double)
declare double @_Z3sind(double)
declare double @_Z3cosd(double)
declare double @_Z3tand(double)
declare double @_Z4tanhd(double)
declare double @_Z3erfd(double)
declare double @_Z3powdd(double, double)
declare double @_Z4fmoddd(double, double)

; Used here, so that linking brings them all.
@llvm.compiler.used = appending global [30 x ptr] [
  ptr @_Z3expf, ptr @_Z4exp2f, ptr @_Z3logf, ptr @_Z4log2f, ptr @_Z5log10f,
  ptr @_Z5log1pf, ptr @_Z5expm1f, ptr @_Z5rsqrtf, ptr @_Z3sinf, ptr @_Z3cosf,
  ptr @_Z3tanf, ptr @_Z4tanhf, ptr @_Z3erff, ptr @_Z3powff, ptr @_Z4fmodff,
  ptr @_Z3expd, ptr @_Z4exp2d, ptr @_Z3logd, ptr @_Z4log2d, ptr @_Z5log10d,
  ptr @_Z5log1pd, ptr @_Z5expm1d, ptr @_Z5rsqrtd, ptr @_Z3sind, ptr @_Z3cosd,
  ptr @_Z3tand, ptr @_Z4tanhd, ptr @_Z3erfd, ptr @_Z3powdd, ptr @_Z4fmoddd
], section "llvm.metadata"
