; Half of a program: a writer.
@ready = global i32 0, align 4
@value = global i32 0, align 4

define void @write() {
  store atomic i32 1, ptr @value monotonic, align 4
  store atomic i32 1, ptr @ready monotonic, align 4
  ret void
}
