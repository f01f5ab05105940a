use super::*;

fn load(order: Order) -> Operation {
    Operation {
        part: Part::Load,
        order,
        failure: None,
        size: 4,
    }
}

fn store(order: Order) -> Operation {
    Operation {
        part: Part::Store,
        order,
        failure: None,
        size: 4,
    }
}

/// Whether the last operation is ordered after the first one.
fn ordered(machine: Machine, path: &[Operation]) -> bool {
    let atoms = |o: &Operation| atoms(machine, Side::Must, false, *o);
    let mut state = start(machine, Side::Must, &atoms(&path[0]));
    let mut last = false;
    for operation in &path[1..] {
        (state, last) = step(state, Side::Must, &atoms(operation));
    }
    last
}

#[test]
fn tso() {
    let (r, w) = (load(Order::Relaxed), store(Order::Relaxed));
    assert!(ordered(Machine::X86, &[r, r]));
    assert!(ordered(Machine::X86, &[r, w]));
    assert!(ordered(Machine::X86, &[w, w]));
    assert!(!ordered(Machine::X86, &[w, r]));
    assert!(!ordered(Machine::X86, &[w, w, r]));
    assert!(ordered(Machine::X86, &[w, store(Order::SeqCst), r]));
    assert!(ordered(
        Machine::X86,
        &[w, Operation::fence(Order::SeqCst), r]
    ));
    assert!(!ordered(
        Machine::X86,
        &[w, Operation::fence(Order::AcqRel), r]
    ));
}

#[test]
fn a_release_then_an_acquire_is_a_fence_on_armv8() {
    let (r, w) = (load(Order::Relaxed), store(Order::Relaxed));
    let (a, l) = (load(Order::Acquire), store(Order::Release));
    assert!(ordered(Machine::Armv8, &[w, l, a, r]));
    assert!(!ordered(Machine::Armv8, &[w, a, l, r]));
    assert!(!ordered(Machine::Armv8, &[w, l, r]));
    assert!(ordered(Machine::Armv8, &[r, w, l]));
    assert!(!ordered(Machine::Armv8, &[l, w]));
}

#[test]
fn riscv_fences_have_kinds() {
    let (r, w) = (load(Order::Relaxed), store(Order::Relaxed));
    let fence = Operation::fence;
    assert!(!ordered(Machine::Riscv, &[w, fence(Order::Release), r]));
    assert!(ordered(Machine::Riscv, &[w, fence(Order::Release), w]));
    assert!(ordered(Machine::Riscv, &[r, fence(Order::AcqRel), r]));
    assert!(!ordered(Machine::Riscv, &[w, fence(Order::AcqRel), r]));
    // By way of a write that the one fence orders and the other one takes up.
    assert!(ordered(
        Machine::Riscv,
        &[r, fence(Order::Release), w, fence(Order::SeqCst), r]
    ));
    let amo = |part| Operation {
        part,
        order: Order::AcqRel,
        failure: None,
        size: 4,
    };
    let read = amo(Part::UpdateRead { succeeds: true });
    assert!(ordered(
        Machine::Riscv,
        &[w, read, amo(Part::UpdateWrite), r]
    ));
}

#[test]
fn a_stronger_order_never_orders_less() {
    let machines = [
        Machine::X86,
        Machine::Armv8,
        Machine::Armv7,
        Machine::Riscv,
        Machine::Power,
    ];
    let chains = [
        [Order::Relaxed, Order::Acquire, Order::AcqRel, Order::SeqCst],
        [Order::Relaxed, Order::Release, Order::AcqRel, Order::SeqCst],
    ];
    let parts = [
        Part::UpdateRead { succeeds: true },
        Part::UpdateRead { succeeds: false },
        Part::UpdateWrite,
        Part::Fence,
    ];
    for machine in machines {
        for part in parts {
            for chain in chains {
                for pair in chain.windows(2) {
                    for state in 1..STATES as State {
                        let of = |order| {
                            let operation = Operation {
                                part,
                                order,
                                failure: None,
                                size: 4,
                            };
                            step(
                                state,
                                Side::Must,
                                &atoms(machine, Side::Must, false, operation),
                            )
                        };
                        let (weak, strong) = (of(pair[0]), of(pair[1]));
                        assert_eq!(weak.0 & !strong.0, 0, "{machine} {part:?} {pair:?} {state}");
                        assert!(weak.1 <= strong.1);
                    }
                }
            }
        }
    }
}
