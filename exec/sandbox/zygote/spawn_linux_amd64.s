#include "textflag.h"

// func spawn(trap, a1, a2, a3, a4, a5, a6 uintptr) uintptr
//
// The parent returns as from any system call. The child comes back on the stack that it was given, which has no frame to
// return to: it calls born, which does not return.
TEXT ·spawn(SB),NOSPLIT,$0-64
	MOVQ a1+8(FP), DI
	MOVQ a2+16(FP), SI
	MOVQ a3+24(FP), DX
	MOVQ a4+32(FP), R10
	MOVQ a5+40(FP), R8
	MOVQ a6+48(FP), R9
	MOVQ trap+0(FP), AX
	SYSCALL
	TESTQ AX, AX
	JZ child
	MOVQ AX, ret+56(FP)
	RET
child:
	XORL BP, BP
	MOVQ $·born(SB), AX // indirect, or the linker would take the stacks of parent and child for one
	CALL AX
	INT $3

// func threadPointer() uintptr
TEXT ·threadPointer(SB),NOSPLIT,$0-8
	MOVQ $158, AX // arch_prctl
	MOVQ $0x1003, DI // ARCH_GET_FS
	LEAQ ret+0(FP), SI
	SYSCALL
	RET
