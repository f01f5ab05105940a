; Debug information and type-based alias information.
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

@x = global i32 0, align 4

define void @_ZN5queue4pushEi(i32 %v) !dbg !5 {
  store i32 %v, ptr @x, align 4, !dbg !8, !tbaa !13
  %p = load ptr, ptr @x, align 8, !dbg !9, !tbaa !17
  store i8 0, ptr %p, align 1, !dbg !12, !tbaa !19
  store i8 1, ptr %p, align 1
  ret void, !dbg !11
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3, !4}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "queue.cpp", directory: "/src")
!2 = !DIFile(filename: "atomic.h", directory: "/src/include")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 7, !"Dwarf Version", i32 5}
!5 = distinct !DISubprogram(name: "push", linkageName: "_ZN5queue4pushEi", scope: !1, file: !1, line: 7, type: !6, scopeLine: 7, spFlags: DISPFlagDefinition, unit: !0)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = !DILocation(line: 8, column: 3, scope: !5)
!9 = !DILocation(line: 31, column: 5, scope: !21, inlinedAt: !10)
!10 = distinct !DILocation(line: 9, column: 4, scope: !5)
!11 = !DILocation(line: 0, scope: !5)
!12 = !DILocation(line: 40, column: 6, scope: !22, inlinedAt: !23)
!13 = !{!14, !14, i64 0}
!14 = !{!"int", !15, i64 0}
!15 = !{!"omnipotent char", !16, i64 0}
!16 = !{!"Simple C++ TBAA"}
!17 = !{!18, !24, i64 8}
!18 = !{!"node", !14, i64 0, !24, i64 8}
!19 = !{!15, !15, i64 0}
!20 = distinct !DISubprogram(name: "load", scope: !2, file: !2, line: 30, type: !6, scopeLine: 30, spFlags: DISPFlagDefinition, unit: !0)
!21 = distinct !DILexicalBlock(scope: !20, file: !2, line: 30, column: 1)
!22 = distinct !DISubprogram(name: "mark", linkageName: "_ZN3bit4markEv", scope: !2, file: !2, line: 39, type: !6, scopeLine: 39, spFlags: DISPFlagDefinition, unit: !0)
!23 = distinct !DILocation(line: 33, column: 2, scope: !20, inlinedAt: !10)
!24 = !{!"any pointer", !15, i64 0}
