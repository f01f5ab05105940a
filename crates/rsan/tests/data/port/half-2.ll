; The other half: a reader.
@ready = external global i32, align 4
@value = external global i32, align 4

define i32 @read() {
  %seen = load atomic i32, ptr @ready monotonic, align 4
  %got = load atomic i32, ptr @value monotonic, align 4
  %sum = add i32 %seen, %got
  ret i32 %sum
}
