# Plain accesses that are known already, which are most of them, found and left in the program itself: a call into a shared
# library takes longer than all that is done here. `rsan cc` links this with every program and library.
#
# An access is known if a cell of its granule has the thread's stamp and stands for it; it is what `Access::is_known` says
# in race/cells.rs of the runtime, in whose library everything else is done. The runtime publishes where the
# thread's stamp is (abi/plain.rs): there is none in cells while the thread has no context or needs another
# stamp, or when its accesses are all to be looked at.
#
# That gets the address, where the program is, and the chunk if there is one and the access is within a granule.
#
# The numbers are checked by a test in abi/plain.rs. When one of them changes, so does the name of the word.

    .intel_syntax noprefix
    .text

.equ CHUNK_BITS, 22
.equ CHUNKS, 0x2000000
.equ GRANULE_IN_CHUNK, 0x3ffff8
.equ CELLS_IN_CHUNK, 0x1000

# One cell: `rax` is that of the access, `telling` the bits in which another one has to be like it.
.macro look_at cell, telling
    mov r9, qword ptr [rdx + 4 * rcx + CELLS_IN_CHUNK + 8 * \cell]
    xor r9, rax
    test r9, \telling
    je 2f
.endm

.macro look_at_all telling
    look_at 0, \telling
    look_at 1, \telling
    look_at 2, \telling
    look_at 3, \telling
.endm

# `write` is the kind of the access in a cell: 0 for a read, 1 for a write.
.macro access kind, bytes, write
    .globl __tsan_\kind\bytes
    .hidden __tsan_\kind\bytes
    .type __tsan_\kind\bytes, @function
    .p2align 5
__tsan_\kind\bytes:
    .cfi_startproc
    mov rcx, qword ptr [rip + __rsan_plain_1@GOTPCREL]
    mov rdx, rdi
    shr rdx, CHUNK_BITS
    mov r9, qword ptr [rcx]
    mov rax, qword ptr [rcx + 8]
    # What is no address of the program's finds nothing, or what is of no consequence.
    and edx, CHUNKS - 1
    test r9, r9
    je 3f
    mov rax, qword ptr fs:[rax]
    mov rdx, qword ptr [r9 + 8 * rdx]
    .if \bytes == 8
    test dil, 7
    jne 3f
    or rax, 0xff00 + \write
    .else
    mov ecx, edi
    and ecx, 7
    .if \bytes > 1
    cmp ecx, 8 - \bytes
    ja 3f
    .endif
    mov r8d, ((1 << \bytes) - 1) << 8
    shl r8d, cl
    or rax, r8
    .if \write
    or rax, 1
    .endif
    or r8, -65534 + \write
    .endif
    mov ecx, edi
    and ecx, GRANULE_IN_CHUNK
    test rdx, rdx
    je 3f
    .if \bytes == 8
    look_at_all -254 + \write
    .else
    look_at_all r8
    .endif
    mov rsi, qword ptr [rsp]
    jmp qword ptr [rip + __rsan_plain_\kind\bytes@GOTPCREL]
2:
    ret
3:
    xor edx, edx
    mov rsi, qword ptr [rsp]
    jmp qword ptr [rip + __rsan_plain_\kind\bytes@GOTPCREL]
    .cfi_endproc
    .size __tsan_\kind\bytes, . - __tsan_\kind\bytes
.endm

.macro same name, kind, bytes
    .globl __tsan_\name\bytes
    .hidden __tsan_\name\bytes
    .type __tsan_\name\bytes, @function
    .set __tsan_\name\bytes, __tsan_\kind\bytes
.endm

.macro accesses bytes
    access read, \bytes, 0
    access write, \bytes, 1
    same unaligned_read, read, \bytes
    same read_write, write, \bytes
    same unaligned_write, write, \bytes
    same unaligned_read_write, write, \bytes
.endm

    accesses 1
    accesses 2
    accesses 4
    accesses 8

    .att_syntax
    .section .note.GNU-stack, "", @progbits
