; x % y of f32, exact, with the sign of x: that of libclc takes a divisor below 2^-126 for 0.
;
; In units of the last place of y, |x| is a mantissa of 24 bits times a power of two. The remainder of the mantissa is shifted by
; that power 8 bits at a time, for which 32 bits have room, and reduced after each shift. All of it is integers, so no setting of
; the kernel's floats changes it.
target triple = "nvptx64--"

define float @_Z4fmodff(float %x, float %y) {
entry:
  %xbits = bitcast float %x to i32
  %ybits = bitcast float %y to i32
  %xabs = and i32 %xbits, 2147483647
  %yabs = and i32 %ybits, 2147483647
  %sign = and i32 %xbits, -2147483648
  %isBelow = icmp ult i32 %xabs, %yabs
  %xIsNoNumber = icmp uge i32 %xabs, 2139095040
  %yMinus1 = add i32 %yabs, -1 ; 0 becomes the largest number, so that 0 and NaN are one comparison
  %yIsNoDivisor = icmp uge i32 %yMinus1, 2139095040
  %isNan = or i1 %xIsNoNumber, %yIsNoDivisor
  %isSimple = or i1 %isBelow, %isNan
  br i1 %isSimple, label %simple, label %divide

simple:
  %simpleResult = select i1 %isNan, float 0x7FF8000000000000, float %x
  ret float %simpleResult

divide: ; numbers below 2^-126 have the exponent of those above it, and no hidden bit
  %xfield = lshr i32 %xabs, 23
  %yfield = lshr i32 %yabs, 23
  %xIsNormal = icmp ne i32 %xfield, 0
  %yIsNormal = icmp ne i32 %yfield, 0
  %xexponent = select i1 %xIsNormal, i32 %xfield, i32 1
  %yexponent = select i1 %yIsNormal, i32 %yfield, i32 1
  %xfraction = and i32 %xabs, 8388607
  %yfraction = and i32 %yabs, 8388607
  %xhidden = select i1 %xIsNormal, i32 8388608, i32 0
  %yhidden = select i1 %yIsNormal, i32 8388608, i32 0
  %xmantissa = or i32 %xfraction, %xhidden
  %ymantissa = or i32 %yfraction, %yhidden
  %first = urem i32 %xmantissa, %ymantissa
  %distance = sub i32 %xexponent, %yexponent
  br label %check

check:
  %rest = phi i32 [ %first, %divide ], [ %reduced, %shift ]
  %left = phi i32 [ %distance, %divide ], [ %remaining, %shift ]
  %isDone = icmp eq i32 %left, 0
  br i1 %isDone, label %pack, label %shift

shift:
  %few = icmp ult i32 %left, 8
  %bits = select i1 %few, i32 %left, i32 8
  %shifted = shl i32 %rest, %bits
  %reduced = urem i32 %shifted, %ymantissa
  %remaining = sub i32 %left, %bits
  br label %check

pack: ; the hidden bit, where there is one, adds 1 to the exponent before it
  %zeros = call i32 @llvm.ctlz.i32(i32 %rest, i1 false)
  %toHidden = add i32 %zeros, -8
  %room = add i32 %yexponent, -1
  %isRoomy = icmp ult i32 %toHidden, %room
  %up = select i1 %isRoomy, i32 %toHidden, i32 %room
  %mantissa = shl i32 %rest, %up
  %exponent = sub i32 %room, %up
  %field = shl i32 %exponent, 23
  %magnitude = add i32 %field, %mantissa
  %isZero = icmp eq i32 %rest, 0
  %unsigned = select i1 %isZero, i32 0, i32 %magnitude
  %result = or i32 %unsigned, %sign
  %float = bitcast i32 %result to float
  ret float %float
}

declare i32 @llvm.ctlz.i32(i32, i1)
