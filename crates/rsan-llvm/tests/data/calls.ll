; Calls, intrinsics, assembly.
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

declare i32 @__gxx_personality_v0(...)
declare ptr @make(i64, ptr)
declare i32 @count(ptr) nounwind readnone
declare void @look(ptr)

define ptr @calls(ptr %f, ptr %p, i32 %n, double %d) {
  %a = call ptr @make(i64 8, ptr %p)
  %b = call ptr %f(ptr %a, i32 %n, double %d)
  %c = call i32 @count(ptr %b)
  ret ptr %b
}

define void @thrown(ptr %p) personality ptr @__gxx_personality_v0 {
entry:
  %f = invoke ptr @make(i64 1, ptr null)
          to label %next unwind label %handler
next:
  store i32 1, ptr %f, align 4
  ret void
handler:
  %l = landingpad { ptr, i32 }
          cleanup
  call void @look(ptr %p)
  resume { ptr, i32 } %l
}

define void @intrinsics(ptr %p, ptr %q) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 16, i1 false)
  call void @llvm.assume(i1 true)
  call void @llvm.x86.sse2.mfence()
  call void @llvm.x86.sse2.pause()
  %r = call ptr @llvm.launder.invariant.group.p0(ptr %p)
  store i32 1, ptr %r, align 4
  ret void
}

define i64 @assembly(ptr %p, i64 %n) {
  call void asm sideeffect "mfence", "~{memory}"()
  call void asm sideeffect "lock; addl $$0,0(%rsp)", "~{memory}"()
  call void asm sideeffect "", "~{memory}"()
  call void asm sideeffect "dmb ishst", "~{memory}"()
  call void asm sideeffect "lwsync", "~{memory}"()
  call void asm sideeffect "fence rw,rw", "~{memory}"()
  call void asm sideeffect "pause", "~{memory}"()
  %a = call i64 asm sideeffect "xchgq $0, ($1)", "=r,r,0,~{memory}"(ptr %p, i64 %n)
  %b = call i64 asm "bsrq $1, $0", "=r,r"(i64 %n)
  ret i64 %b
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.assume(i1)
declare void @llvm.x86.sse2.mfence()
declare void @llvm.x86.sse2.pause()
declare ptr @llvm.launder.invariant.group.p0(ptr)
