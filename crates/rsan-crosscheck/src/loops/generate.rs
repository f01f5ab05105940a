//! Random programs with loops.

use super::expect::search;
use super::numbered::numbered;
use super::readers::readers;
use super::{Form, Looping, patterns};
use crate::generate::{Generator, generate, initial_thread};
use crate::{Profile, Random, edit};
use rsan_model::{
    CasStrength, Expr, Instr, LocId, LocKind, Model, Pc, Place, Program, ReadOrd, RegId, RmwOp,
    Thread,
};
use rsan_verify::Property;

/// The code of a thread that is being made.
#[derive(Default)]
pub(super) struct Body {
    pub(super) code: Vec<Instr>,
    pub(super) forms: Vec<Form>,
    pub(super) registers: usize,
}

impl Body {
    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    pub(super) fn push(&mut self, instr: Instr, form: Form) {
        self.code.push(instr);
        self.forms.push(form);
    }

    /// A register that nothing has used yet.
    pub(super) fn register(&mut self) -> RegId {
        self.registers += 1;
        RegId::new(self.registers - 1)
    }

    /// Makes the compare-and-swap that comes last fail with the order of the load at `at`, and have a value.
    pub(super) fn fail_as_loaded(&mut self, at: usize) {
        let value = self.register();
        let (before, last) = self.code.split_at_mut(at + 1);
        if let (Some(Instr::Load { ord, .. }), Some(Instr::Cas { dst, fail, .. })) =
            (before.last_mut(), last.last_mut())
        {
            *ord = *fail;
            *dst = Some(value);
        }
    }
}

/// How often a program is drawn at most.
const DRAWS: usize = 12;

impl Looping {
    /// The program of a seed. Of the programs in which a thread may wait for ever, of those with races and of robust ones, most are
    /// drawn again.
    pub fn generate(seed: u64, profile: Profile) -> Self {
        let random = &mut Random::new(seed);
        for _ in 1..DRAWS {
            let looping = draw(random, profile);
            let again = match search(&looping.program, Property::Robust, false) {
                Some("data-race") => 60,
                _ if looping.has_deadlock() => 90,
                None => 65,
                Some(_) => 0,
            };
            if !random.chance(again) {
                return looping;
            }
        }
        draw(random, profile)
    }
}

fn draw(random: &mut Random, profile: Profile) -> Looping {
    match profile {
        Profile::Readers => readers(random),
        Profile::Looped if random.chance(12) => numbered(random),
        Profile::Looped => looped(random),
        Profile::Spinning | Profile::Retrying | Profile::Guarded => {
            let plain = match profile {
                Profile::Guarded => random.between(1, 2),
                _ => 0,
            };
            let mut generator = Generator {
                atomics: random.between(2, 3),
                plain,
                random,
                profile,
                model: Model::C20,
            };
            statements(&mut generator)
        }
        _ => {
            let program = generate(random, profile, Model::C20);
            in_c(random, program)
        }
    }
}

/// Programs of single instructions and of [`patterns`].
fn statements(generator: &mut Generator<'_>) -> Looping {
    let (fewest, most, longest, total) = generator.profile.size();
    let threads = generator.random.between(fewest, most);
    let patterned = match generator.profile {
        Profile::Retrying => 45,
        _ => 8,
    };
    let mut program = generator.declarations();
    let mut forms = Vec::new();
    let mut left = total;
    for t in 0..threads {
        let length = generator.random.between(1, longest);
        let length = length.min(left.saturating_sub(threads - t - 1)).max(1);
        let mut body = Body::default();
        let mut starts = Vec::new();
        let mut branches = Vec::new();
        while body.len() < length {
            starts.push(body.len());
            if generator.random.chance(patterned) {
                let x = LocId::new(generator.random.below(generator.atomics));
                patterns::push(generator, &mut body, x);
                continue;
            }
            let dst = body.register();
            match generator.instr(dst.index(), dst.index() + 1) {
                Some(instr) => {
                    let form = form(generator, &instr);
                    body.push(instr, form);
                }
                None => {
                    branches.push(body.len());
                    body.push(Instr::Halt, Form::Short);
                }
            }
        }
        starts.push(body.len());
        for at in branches {
            // A branch into the middle of a loop would be a round of another length.
            let targets: Vec<usize> = starts.iter().copied().filter(|s| *s > at).collect();
            let then = generator.random.pick(&targets);
            let mut branch = generator.branch(at, body.len(), body.registers);
            if let Instr::Branch { then: to, .. } = &mut branch {
                *to = Pc::new(then);
            }
            body.code[at] = branch;
        }
        left = left.saturating_sub(body.len());
        let thread = initial_thread(t, body.registers.max(1), body.code);
        program.threads.push(thread);
        forms.push(body.forms);
    }
    settled(program, forms)
}

/// Any program, with what only blocks in a random form.
fn in_c(random: &mut Random, mut program: Program) -> Looping {
    for thread in &mut program.threads {
        let asserts = |i: &Instr| matches!(i, Instr::Assert(_));
        while let Some(at) = thread.code.iter().position(asserts) {
            edit::remove(thread, at);
        }
    }
    let atomics = program.locations.len();
    let generator = &mut Generator {
        random,
        profile: Profile::Mix,
        model: Model::C20,
        atomics,
        plain: 0,
    };
    let mut form_of = |instr: &Instr| match form(generator, instr) {
        // The other word may be a plain one.
        Form::Reread(..) => Form::Yield,
        form => form,
    };
    let forms = program.threads.iter().map(|thread| {
        let forms = thread.code.iter().map(&mut form_of);
        forms.collect()
    });
    let forms = forms.collect();
    settled(program, forms)
}

/// Loops that are put into a litmus test.
const LOOPS: usize = 2;

/// A litmus test with random changes, in which loops come behind some loads, or in their place.
fn looped(random: &mut Random) -> Looping {
    let mut program = generate(random, Profile::Litmus, Model::C20);
    if program.locations.iter().any(|l| l.kind == LocKind::Plain) {
        return in_c(random, program);
    }
    let generator = &mut Generator {
        random,
        profile: Profile::Retrying,
        model: Model::C20,
        atomics: program.locations.len(),
        plain: 0,
    };
    let mut left = LOOPS;
    let mut forms = Vec::new();
    for thread in &mut program.threads {
        let mut body = Body {
            registers: thread.registers.len(),
            ..Body::default()
        };
        let mut starts = Vec::new();
        for instr in &thread.code {
            starts.push(body.len());
            let again = match instr {
                Instr::Load { place, .. } if left > 0 && generator.random.chance(45) => place,
                _ => {
                    let form = form(generator, instr);
                    body.push(instr.clone(), form);
                    continue;
                }
            };
            left -= 1;
            if generator.random.chance(50) {
                body.push(instr.clone(), Form::Short);
            }
            let x = again.candidates().next().expect("a place");
            if generator.random.chance(40) {
                wait_for(generator, &mut body, x);
            } else {
                patterns::push(generator, &mut body, x);
            }
        }
        starts.push(body.len());
        let old = std::mem::take(&mut thread.code);
        for (instr, start) in old.iter().zip(&starts) {
            if let (
                Instr::Branch { then, .. },
                Instr::Branch {
                    then: to,
                    otherwise,
                    ..
                },
            ) = (instr, &mut body.code[*start])
            {
                *to = Pc::new(starts[then.index()]);
                *otherwise = Pc::new(start + 1);
            }
        }
        *thread = Thread {
            name: thread.name.clone(),
            ..initial_thread(0, body.registers, body.code)
        };
        forms.push(body.forms);
    }
    settled(program, forms)
}

/// Appends a wait for a random value, in a random form.
fn wait_for(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let instr = Instr::Wait {
        dst: Some(body.register()),
        place: Place::Loc(x),
        values: vec![Expr::Const(generator.small())],
        ord: generator.read_ord(),
    };
    let form = form(generator, &instr);
    body.push(instr, form);
}

/// A random form of an instruction.
pub(super) fn form(generator: &mut Generator<'_>, instr: &Instr) -> Form {
    if !matches!(instr, Instr::Wait { .. } | Instr::Bcas { .. }) {
        return Form::Short;
    }
    match generator.random.weighted(&[30, 25, 10, 15, 12, 8]) {
        0 => Form::Short,
        1 => Form::Kept,
        2 => Form::Pause,
        3 => Form::Yield,
        4 => {
            let loc = LocId::new(generator.random.below(generator.atomics));
            let ord = generator.random.pick(&[ReadOrd::Relaxed, ReadOrd::Acquire]);
            Form::Reread(loc, ord)
        }
        _ => Form::Exchange,
    }
}

/// Without what C or a deterministic run does not have, and without forms that do not fit.
pub(super) fn settled(mut program: Program, mut forms: Vec<Vec<Form>>) -> Looping {
    let binary = binary_words(&program);
    for (thread, forms) in program.threads.iter_mut().zip(&mut forms) {
        let retried: Vec<usize> = (0..forms.len())
            .filter(|at| forms[*at].back().is_some())
            .map(|at| at - 1)
            .collect();
        for (at, (instr, form)) in thread.code.iter_mut().zip(forms).enumerate() {
            match instr {
                Instr::Cas {
                    strength,
                    fail,
                    ord,
                    ..
                } => {
                    // A failure for no reason is a failed spin iteration there, and something else here.
                    if !retried.contains(&at) {
                        *strength = CasStrength::Strong;
                    }
                    // gcc follows C11.
                    *fail = (*fail).min(ord.read());
                }
                Instr::Bcas {
                    place: Place::Loc(loc),
                    expected: Expr::Const(0),
                    new: Expr::Const(1),
                    ..
                } if *form == Form::Exchange && binary[loc.index()] => {}
                _ if *form == Form::Exchange => *form = Form::Short,
                _ => {}
            }
        }
    }
    Looping { program, forms }
}

/// By location: whether it never holds anything but 0 and 1.
fn binary_words(program: &Program) -> Vec<bool> {
    let mut binary = vec![true; program.locations.len()];
    for (_, _, instr) in program.instructions() {
        let written = match instr {
            Instr::Store { value, .. } | Instr::PlainStore { value, .. } => Some(value),
            Instr::Cas { new, .. } | Instr::Bcas { new, .. } => Some(new),
            Instr::Rmw {
                op: RmwOp::Exchange,
                operand,
                ..
            } => Some(operand),
            Instr::Rmw { .. } => None,
            _ => continue,
        };
        if !matches!(written, Some(Expr::Const(0 | 1))) {
            let locations = instr.place().into_iter().flat_map(Place::candidates);
            locations.for_each(|l| binary[l.index()] = false);
        }
    }
    binary
}
