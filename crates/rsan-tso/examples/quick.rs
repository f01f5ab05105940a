//! x
fn main() {
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap();
        let source = rsan_model::Source::new(&*file, text.clone());
        let a = rsan_lang::parse_automata(&source).unwrap_or_else(|d| panic!("{}", d.render(&source, false)));
        let o = rsan_tso::robustness(&a, &Default::default(), &Default::default());
        let s = o.stats;
        let verdict: Vec<&str> = text.lines().filter(|l| l.contains("robust")).collect();
        match o.verdict {
            rsan_tso::Verdict::Violation(c) => println!("{file} {verdict:?} {:?} {:?}", c.cycle, c.between),
            v => println!("{file} {verdict:?} {v:?}"),
        }
        let t = std::time::Instant::now(); fences(&a); println!("{:?}", t.elapsed());
        println!("     {} {} {:?}", s.states, s.attack_states, s.elapsed);
    }
}
/// x
pub fn fences(a: &rsan_model::automata::Automata) {
    let r = rsan_tso::cheapest_fences(a, &|_| 1, &Default::default(), &mut |_, _| {});
    match r {
        rsan_tso::Synthesis::Repair(r) => {
            let names: Vec<String> = r.fences.iter().map(|(p, _)| format!("({},{})", a.threads[p.thread].name, a.threads[p.thread].states[p.state.index()].name)).collect();
            println!("     {} fences {names:?} {} clauses", r.fences.len(), r.required.len());
        }
        o => println!("{o:?}"),
    }
}
