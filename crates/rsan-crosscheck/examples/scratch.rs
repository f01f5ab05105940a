use rsan_crosscheck::*;
use rsan_model::Model;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    for model in [Model::Ra, Model::Rc20, Model::C20] {
        for &p in Profile::of(model) {
            let t = std::time::Instant::now();
            match crosscheck(model, p, 1, n) {
                Ok(tally) => println!("{model} {} {tally:?} {:?}", p.name(), t.elapsed()),
                Err(d) => println!("DISAGREE {d}"),
            }
        }
    }
}
