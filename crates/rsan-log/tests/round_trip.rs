//! What is written is read again: every case of every type, and texts with anything in them.

use rsan_log::{
    Address, Chain, Context, Edge, Entry, Event, Failure, Finding, Frame, Held, Line, Link, Manner,
    Memory, Misuse, Mode, Operation, Side, Stack, Taken, Unknown, Visible, Wait, Waiting,
};
use rsan_model::{Model, RmwOrd};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Texts that a careless writer or reader stumbles over.
const TEXTS: &[&str] = &[
    "",
    "a.out",
    "a \"quoted\" \\ name\\\"",
    "two\nlines\r\n\ttab \u{0} \u{1b}[31m \u{7f} \u{85}",
    "}{][,:null\"kind\":\"race\"",
    "\u{2028}\u{202e}ünïcödé 🦀 \u{fffd}",
    "\\u0041 \\n \\",
];

/// Values for fields: what is asked for one after the other differs, and so does what two of these give.
struct Values {
    at: usize,
    stride: usize,
}

impl Values {
    fn pick(&mut self, of: usize) -> usize {
        self.at += self.stride;
        self.at % of
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.pick(of.len())]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.pick(3) > 0).then(|| make(self))
    }

    fn several<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.pick(4)).map(|_| make(self)).collect()
    }

    fn text(&mut self) -> Cow<'static, str> {
        Cow::Borrowed(self.one(TEXTS))
    }

    fn thread(&mut self) -> u32 {
        self.one(&[0, 1, 77, u32::MAX])
    }

    fn address(&mut self) -> Address {
        Address(self.one(&[0, 0x1139, 1 << 53, (1 << 53) + 1, u64::MAX]))
    }

    fn stack(&mut self) -> Stack<'static> {
        self.several(|v| Frame {
            module: v.maybe(Self::text),
            offset: v.address(),
        })
    }

    fn context(&mut self) -> Context<'static> {
        Context {
            thread: self.thread(),
            stack: self.stack(),
        }
    }

    fn memory(&mut self) -> Memory<'static> {
        match self.pick(5) {
            0 => Memory::Global {
                module: self.text(),
                offset: self.address(),
            },
            1 => Memory::Heap {
                start: self.address(),
                size: self.address().0,
                allocated: self.maybe(Self::context),
                freed: self.maybe(Self::context),
            },
            2 => Memory::Descriptor {
                number: self.address().0,
                created: self.maybe(Self::context),
            },
            3 => Memory::Stack {
                thread: self.thread(),
            },
            _ => Memory::Tls {
                thread: self.thread(),
            },
        }
    }

    fn held(&mut self) -> Held<'static> {
        Held {
            address: self.address(),
            memory: self.maybe(Self::memory),
            mode: self.one(Mode::ALL),
            stack: self.stack(),
        }
    }

    fn side(&mut self) -> Side<'static> {
        Side {
            thread: self.maybe(Self::thread),
            name: self.maybe(Self::text),
            created: self.maybe(Self::stack),
            operation: self.one(Operation::ALL),
            order: self.maybe(|v| v.one(&RmwOrd::ALL)),
            value: self.maybe(|v| v.one(&[0, 1 << 64, u128::MAX])),
            function: self.maybe(Self::text),
            stack: self.stack(),
            held: self.maybe(|v| v.several(Self::held)),
            slept: self.maybe(Self::stack),
        }
    }

    fn chain(&mut self) -> Chain<'static> {
        Chain {
            fences_known: self.pick(2) == 0,
            links: self.several(Self::link),
        }
    }

    fn link(&mut self) -> Link<'static> {
        Link {
            thread: self.thread(),
            operation: self.one(Operation::ALL),
            order: self.one(&RmwOrd::ALL),
            address: self.maybe(Self::address),
            memory: self.maybe(Self::memory),
            stack: self.stack(),
            edge: self.maybe(|v| v.one(Edge::ALL)),
            quiet: self.pick(2) == 0,
        }
    }

    fn wait(&mut self) -> Wait {
        match self.pick(2) {
            0 => Wait::Passes(self.one(Visible::ALL)),
            _ => Wait::Unknown(self.one(Unknown::ALL)),
        }
    }

    fn waiting(&mut self) -> Waiting<'static> {
        Waiting {
            thread: self.thread(),
            name: self.maybe(Self::text),
            operation: self.one(Operation::ALL),
            joins: self.maybe(Self::thread),
            held_by: self.maybe(Self::thread),
            memory: self.maybe(Self::memory),
            holds: self.several(Self::held),
            stack: self.stack(),
        }
    }

    fn taken(&mut self) -> Taken<'static> {
        Taken {
            side: self.side(),
            address: self.address(),
            memory: self.maybe(Self::memory),
        }
    }

    fn finding(&mut self) -> Finding<'static> {
        let (address, size) = (self.address(), self.address().0);
        let memory = self.maybe(Self::memory);
        match self.pick(5) {
            0 => Finding::Race {
                address,
                size,
                memory,
                access: self.side(),
                earlier: self.side(),
                chain: self.maybe(Self::chain),
            },
            1 => Finding::Violation {
                address,
                size,
                memory,
                access: self.side(),
                missed: Box::new(self.side()),
                stale: Box::new(self.side()),
                wait: self.maybe(Self::wait),
                chain: self.maybe(Self::chain),
            },
            2 => Finding::Misuse {
                address,
                size,
                memory,
                access: self.side(),
                earlier: self.maybe(Self::side),
                what: self.one(Misuse::ALL),
                text: self.maybe(Self::text),
            },
            3 => Finding::Deadlock {
                cycle: self.pick(2) == 0,
                threads: self.several(Self::waiting),
            },
            _ => Finding::Inversion {
                address,
                memory,
                locks: self.several(Self::taken),
            },
        }
    }

    fn failure(&mut self) -> Failure<'static> {
        let manner = match self.pick(4) {
            0 => Manner::Assertion {
                text: self.text(),
                file: self.text(),
                line: self.thread(),
                function: self.maybe(Self::text),
            },
            1 => Manner::Abort,
            2 => Manner::Signal {
                number: self.thread(),
                address: self.maybe(Self::address),
            },
            _ => Manner::Exit {
                status: self.thread(),
            },
        };
        Failure {
            manner,
            thread: self.maybe(Self::thread),
            name: self.maybe(Self::text),
            stack: self.stack(),
        }
    }

    fn event(&mut self) -> Event<'static> {
        match self.pick(11) {
            0 => Event::Start {
                program: self.text(),
                command: self.text(),
                model: self.one(&Model::ALL),
            },
            1 => Event::Suppressed,
            2 => Event::Foreign {
                modules: self.several(Self::text),
            },
            3 => Event::Forked,
            4 => Event::Diverged {
                stack: self.stack(),
            },
            5 => Event::Refused {
                message: self.text(),
                stack: self.stack(),
            },
            6 => Event::Undecided {
                message: self.text(),
                stack: self.stack(),
            },
            7 => Event::Failed {
                failure: self.failure(),
            },
            8 => Event::Stale {
                step: self.thread().into(),
                address: self.address(),
                size: self.thread().into(),
                memory: self.maybe(Self::memory),
                access: Box::new(self.side()),
                read: Box::new(self.side()),
                last: Box::new(self.side()),
            },
            9 => Event::Access {
                step: self.thread().into(),
                memory: self.maybe(Self::memory),
                stack: self.stack(),
            },
            _ => Event::Fatal {
                message: self.text(),
            },
        }
    }

    fn line(&mut self) -> Line<'static> {
        let entry = match self.pick(2) {
            0 => Entry::Event(self.event()),
            _ => Entry::Finding {
                finding: Box::new(self.finding()),
                step: self.maybe(|v| v.address().0),
            },
        };
        Line {
            pid: self.thread(),
            entry,
        }
    }
}

fn kind(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
    value["kind"].as_str().expect("a kind").to_owned()
}

#[test]
fn what_is_written_is_read_again() {
    let (mut kinds, mut lines) = (BTreeSet::new(), 0);
    for stride in 1..60 {
        for at in 0..60 {
            let line = Values { at, stride }.line();
            let text = line.to_string();
            assert!(!text.contains(['\n', '\r']), "{text}");
            assert_eq!(text.parse().as_ref(), Ok(&line), "{text}");
            kinds.insert(kind(&text));
            lines += 1;
        }
    }
    let all = Finding::KINDS.iter().chain(Event::KINDS);
    assert_eq!(kinds, all.map(|kind| (*kind).to_owned()).collect());
    assert_eq!(lines, 59 * 60);
}

#[test]
fn all_names_are_different_and_found_again() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        all: &[T],
        name: impl Fn(T) -> &'static str,
        find: impl Fn(&str) -> Option<T>,
    ) {
        for one in all {
            assert_eq!(find(name(*one)), Some(*one));
        }
        assert_eq!(find("no such name"), None);
    }
    check(Operation::ALL, Operation::name, Operation::from_name);
    check(Edge::ALL, Edge::name, Edge::from_name);
    check(Mode::ALL, Mode::name, Mode::from_name);
    check(Misuse::ALL, Misuse::name, Misuse::from_name);
    check(Visible::ALL, Visible::name, Visible::from_name);
    check(Unknown::ALL, Unknown::name, Unknown::from_name);
    for what in Misuse::ALL {
        assert_eq!(what.c_name().to_str(), Ok(what.name()));
    }
    let passes = Visible::ALL.iter().map(|step| Wait::Passes(*step));
    let unknown = Unknown::ALL.iter().map(|why| Wait::Unknown(*why));
    for wait in passes.chain(unknown) {
        assert_eq!(Wait::from_name(&wait.to_string()), Some(wait));
        let json = format!("{:?}", wait.to_string());
        assert!(!json.contains('\\'), "written without escapes: {json}");
    }
}

#[test]
fn a_torn_line_and_one_of_another_version_are_none() {
    let line = Line {
        pid: 7,
        entry: Event::Forked.into(),
    };
    let text = line.to_string();
    assert_eq!(
        text,
        r#"{"schema":"rsan-runtime/1","pid":7,"kind":"forked"}"#
    );
    for end in 0..text.len() {
        assert!(text[..end].parse::<Line>().is_err(), "{}", &text[..end]);
    }
    let wrong = [
        text.replace("runtime/1", "runtime/2"),
        text.replace("forked", "spooned"),
        text.replace("7", "-7"),
    ];
    for wrong in wrong {
        assert!(wrong.parse::<Line>().is_err(), "{wrong}");
    }
}
