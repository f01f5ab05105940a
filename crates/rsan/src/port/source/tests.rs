//! Changes in C, C++ and Rust.

use super::*;

/// The text with one change at the mark `@`; nothing if it has no place.
fn changed(marked: &str, dialect: Dialect, change: Change) -> Option<String> {
    let at = marked.find('@').expect("a mark");
    let text = marked.replacen('@', "", 1);
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let change = SourceChange {
        line: line as u32 + 1,
        column: (at - start) as u32 + 1,
        change,
    };
    let rewritten = rewrite(&text, dialect, &[change]);
    rewritten.unplaced.is_empty().then_some(rewritten.text)
}

fn is(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn fences_are_statements_where_the_access_is_one() {
    let before = |text| changed(text, Dialect::C, Change::FenceBefore(Order::Release));
    let after = |text| changed(text, Dialect::C, Change::FenceAfter(Order::Acquire));
    assert_eq!(
        before("{\n  a();\n  @store(x);\n}"),
        is("{\n  a();\n  atomic_thread_fence(memory_order_release);\n  store(x);\n}")
    );
    assert_eq!(
        after("{\n\tint r = @load(x);\n}"),
        is("{\n\tint r = load(x);\n\tatomic_thread_fence(memory_order_acquire);\n}")
    );
    assert_eq!(
        before("{ if (c)\n    @store(x); }"),
        is("{ if (c)\n    { atomic_thread_fence(memory_order_release); store(x); } }")
    );
}

#[test]
fn fences_stand_around_an_access_that_is_no_statement() {
    let fence = Change::FenceBefore(Order::SeqCst);
    assert_eq!(
        changed("{ while (@load(x)) ; }", Dialect::C, fence.clone()),
        is("{ while ((atomic_thread_fence(memory_order_seq_cst), load(x))) ; }")
    );
    let after = Change::FenceAfter(Order::Acquire);
    assert_eq!(
        changed(
            "{ if (q->x.@load() == 1) f(); }",
            Dialect::Cpp,
            after.clone()
        ),
        is(
            "{ if (({ auto value_ = q->x.load(); std::atomic_thread_fence(std::memory_order_acquire); value_; }) == 1) f(); }"
        )
    );
    assert_eq!(
        changed(
            "{ while x.@load(Relaxed) != 1 {} }",
            Dialect::Rust,
            after.clone()
        ),
        is(
            "{ while { let value = x.load(Relaxed); std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire); value } != 1 {} }"
        )
    );
    assert_eq!(changed("{ while (@x) ; }", Dialect::C, after), None);
    let machine = Change::MachineFenceBefore("dmb ishst".to_owned());
    assert_eq!(
        changed("{ @store(x); }", Dialect::C, machine),
        is("{ __asm__ volatile(\"dmb ishst\" ::: \"memory\"); store(x); }")
    );
}

#[test]
fn orders_are_changed_in_their_own_spelling() {
    let release = |text, dialect| changed(text, dialect, Change::Order(Order::Release));
    assert_eq!(
        release(
            "{ @atomic_store_explicit(&x, f(1, 2), memory_order_relaxed); }",
            Dialect::C
        ),
        is("{ atomic_store_explicit(&x, f(1, 2), memory_order_release); }")
    );
    assert_eq!(
        release(
            "{ @__atomic_store_n(&x, 1, __ATOMIC_RELAXED); }",
            Dialect::C
        ),
        is("{ __atomic_store_n(&x, 1, __ATOMIC_RELEASE); }")
    );
    assert_eq!(
        release("{ x.@store(1, std::memory_order::relaxed); }", Dialect::Cpp),
        is("{ x.store(1, std::memory_order::release); }")
    );
    assert_eq!(
        release("{ @self.x.store(1, Ordering::Relaxed); }", Dialect::Rust),
        is("{ self.x.store(1, Ordering::Release); }")
    );
    assert_eq!(
        release("{ x.@store(1, Relaxed); }", Dialect::Rust),
        is("{ x.store(1, Release); }")
    );
    assert_eq!(release("{ @SET(x, 1); }", Dialect::C), None);
    let acquire = Change::Order(Order::AcqRel);
    assert_eq!(
        changed(
            "{ @cas(&x, &e, 1, memory_order_release, memory_order_relaxed); }",
            Dialect::C,
            acquire
        ),
        is("{ cas(&x, &e, 1, memory_order_acq_rel, memory_order_acquire); }")
    );
}

#[test]
fn the_same_change_twice_is_one() {
    let change = SourceChange {
        line: 1,
        column: 3,
        change: Change::FenceBefore(Order::SeqCst),
    };
    let rewritten = rewrite("{ x(); }", Dialect::C, &[change.clone(), change]);
    let expected = "{ atomic_thread_fence(memory_order_seq_cst); x(); }";
    assert_eq!(rewritten.text, expected);
    let beyond = SourceChange {
        line: 9,
        column: 1,
        change: Change::FenceBefore(Order::SeqCst),
    };
    assert_eq!(rewrite("x\n", Dialect::C, &[beyond]).unplaced, [0]);
}
