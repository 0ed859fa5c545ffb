#include "textflag.h"

// func spawn(trap, a1, a2, a3, a4, a5, a6 uintptr) uintptr
//
// The parent returns as from any system call. The child comes back on the stack that it was given, which has no frame to
// return to: it calls born, which does not return.
TEXT ·spawn(SB),NOSPLIT|NOFRAME,$0-64
	MOVD a1+8(FP), R0
	MOVD a2+16(FP), R1
	MOVD a3+24(FP), R2
	MOVD a4+32(FP), R3
	MOVD a5+40(FP), R4
	MOVD a6+48(FP), R5
	MOVD trap+0(FP), R8
	SVC
	CBZ R0, child
	MOVD R0, ret+56(FP)
	RET
child:
	MOVD ZR, R29
	MOVD ZR, R30
	SUB $16, RSP
	MOVD $·born(SB), R9 // indirect, or the linker would take the stacks of parent and child for one
	BL (R9)
	BRK

// func threadPointer() uintptr
TEXT ·threadPointer(SB),NOSPLIT,$0-8
	MRS TPIDR_EL0, R0
	MOVD R0, ret+0(FP)
	RET
