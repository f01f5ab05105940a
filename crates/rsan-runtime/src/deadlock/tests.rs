use super::*;
use crate::held::Life;

fn held(lock: usize, mode: Mode) -> Held {
    Held {
        lock,
        life: Life(lock as u32),
        mode,
        pc: 0,
    }
}

fn blocked(number: u32, wait: Wait, held: Vec<Held>) -> Blocked {
    Blocked {
        wait,
        held,
        number,
        site: Site::default(),
        signalled: false,
    }
}

#[test]
fn threads_that_wait_for_each_other_are_a_cycle() {
    let ids = [1, 2, 3].map(ThreadId);
    let mut table = Table::new();
    table.insert(
        ids[0],
        blocked(11, Wait::Spin(200), vec![held(100, Mode::Write)]),
    );
    table.insert(
        ids[1],
        blocked(12, Wait::Join(ids[0]), vec![held(200, Mode::Write)]),
    );
    assert_eq!(cycle(&table, ids[1]), Some(vec![ids[1], ids[0]]));
    table.insert(ids[2], blocked(13, Wait::Join(ids[1]), Vec::new()));
    assert_eq!(
        cycle(&table, ids[2]),
        None,
        "it waits for the cycle, but is not in it"
    );
    assert!(is_stuck(&table, Some(ids[2])));
    table.remove(&ids[1]);
    assert_eq!(cycle(&table, ids[0]), None);
    assert!(!is_stuck(&table, Some(ids[2])), "whom it joins runs");
}

#[test]
fn a_signalled_condition_is_no_deadlock() {
    let condition = [0u32; 12];
    let me = ThreadId(1);
    let at = condition.as_ptr() as usize;
    let mut table = Table::new();
    table.insert(me, blocked(11, Wait::Condition(at, 0), Vec::new()));
    assert!(is_stuck(&table, Some(me)));
    table.get_mut(&me).expect("it waits").signalled = true;
    assert!(!is_stuck(&table, Some(me)));
}
