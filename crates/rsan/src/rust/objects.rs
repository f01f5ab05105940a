//! Files with bitcode in them become files with instrumented objects.

use super::archive::{self, Member};
use super::cache::{Cache, Key};
use super::session::Session;
use super::standard;
use super::toolchain::Toolchain;
use object::{Object, ObjectSection};
use rsan_llvm::{Depth, Error, Reader, Unit};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

const BITCODE: &[u8] = b"BC\xC0\xDE";
/// What compilers read in an archive, and linkers do not.
const METADATA: &str = "lib.rmeta";
/// Bytes of bitcode that are worth a process of their own.
const SHARE: u64 = 256 << 10;

/// How files are instrumented.
pub(crate) struct Work<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) cache: &'a Cache,
    /// A folder of the cache for temporary files.
    pub(crate) scratch: &'a Path,
    /// Whether the compiler was asked to optimise.
    pub(crate) optimise: bool,
}

/// A file with bitcode in it.
pub(crate) struct Input {
    file: PathBuf,
    bytes: Vec<u8>,
    contents: Contents,
}

enum Contents {
    Module(Module),
    Archive(Vec<Part>),
}

/// A member of an archive.
struct Part {
    name: String,
    range: Range<usize>,
    /// What to take instead.
    module: Option<Module>,
}

/// A module in a file.
struct Module {
    name: String,
    range: Range<usize>,
    depth: Depth,
    key: Key,
}

impl Input {
    /// Whether it has members.
    pub(crate) fn is_archive(&self) -> bool {
        matches!(self.contents, Contents::Archive(_))
    }

    fn modules(&self) -> Vec<&Module> {
        match &self.contents {
            Contents::Module(module) => vec![module],
            Contents::Archive(parts) => parts.iter().filter_map(|p| p.module.as_ref()).collect(),
        }
    }
}

impl Work<'_> {
    /// A file, if there is something to instrument in it.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn read(&self, file: &Path) -> Result<Option<Input>, String> {
        let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let bytes = fs::read(file).map_err(|error| fail(&error))?;
        let contents = if bytes.starts_with(BITCODE) {
            let name = file.display().to_string();
            Contents::Module(self.module(name, &bytes, 0..bytes.len(), Depth::Full))
        } else if archive::is_archive(&bytes) {
            let mut parts = Vec::new();
            for (name, range) in archive::members(&bytes).map_err(|error| fail(&error))? {
                let inside = bytes.get(range.clone()).and_then(|b| bitcode(&name, b));
                let module = inside.map(|(inside, depth)| {
                    let place = range.start + inside.start..range.start + inside.end;
                    let name = format!("{}({name})", file.display());
                    self.module(name, &bytes, place, depth)
                });
                parts.push(Part {
                    name,
                    range,
                    module,
                });
            }
            Contents::Archive(parts)
        } else {
            return Ok(None);
        };
        let file = file.to_owned();
        let input = Input {
            file,
            bytes,
            contents,
        };
        Ok((!input.modules().is_empty()).then_some(input))
    }

    fn module(&self, name: String, bytes: &[u8], range: Range<usize>, depth: Depth) -> Module {
        let key = Key::new(&bytes[range.clone()], &self.toolchain.commit, depth);
        Module {
            name,
            range,
            depth,
            key,
        }
    }

    /// Instruments what the cache does not have.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn instrument<'i>(
        &self,
        inputs: impl IntoIterator<Item = &'i Input>,
    ) -> Result<(), String> {
        let mut missing = BTreeMap::new();
        for input in inputs {
            let modules = input.modules().into_iter();
            let modules = modules.filter(|module| !self.cache.has(&module.key));
            missing.extend(modules.map(|module| (module.key.clone(), self.unit(input, module))));
        }
        self.children(&missing)
    }

    fn unit(&self, input: &Input, module: &Module) -> Unit {
        Unit {
            name: module.name.clone(),
            file: input.file.clone(),
            start: module.range.start as u64,
            size: module.range.len() as u64,
            depth: module.depth,
            optimise: self.optimise,
            output: self.scratch.join(format!("{}.o", module.key.name())),
        }
    }

    /// Has processes of their own instrument modules, on all cores, and puts the objects into the cache.
    fn children(&self, missing: &BTreeMap<Key, Unit>) -> Result<(), String> {
        let Some(llvm) = self.toolchain.llvm().filter(|_| !missing.is_empty()) else {
            return Ok(());
        };
        let reader = Reader::new().map_err(|error| error.to_string())?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let shares = shares(missing.values().cloned().collect(), cores);
        thread::scope(|scope| {
            let workers: Vec<_> = shares
                .iter()
                .map(|share| scope.spawn(|| reader.instrument(share, llvm, &mut || true)))
                .collect();
            workers.into_iter().try_for_each(|worker| {
                let answer = worker.join().map_err(|_| "a worker panicked".to_owned())?;
                answer.map_err(|error| self.explained(&error))
            })
        })?;
        missing
            .iter()
            .try_for_each(|(key, unit)| self.cache.adopt(key, &unit.output))
    }

    fn explained(&self, error: &Error) -> String {
        match error {
            Error::File { file, message } if Path::new(file).starts_with(self.scratch) => {
                self.cache.failed(Path::new(file), message)
            }
            _ => error.to_string(),
        }
    }

    /// The object of a module. What was in the cache a moment ago may turn out to be damaged: then it is made again.
    fn object(&self, input: &Input, module: &Module) -> Result<Vec<u8>, String> {
        if let Some(object) = self.cache.load(&module.key) {
            return Ok(object);
        }
        let unit = self.unit(input, module);
        self.children(&[(module.key.clone(), unit)].into())?;
        self.cache
            .load(&module.key)
            .ok_or_else(|| format!("{}: its instrumented form is damaged", module.name))
    }

    /// Writes an input with the instrumented objects of its modules.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn write(&self, input: &Input, to: &Path) -> Result<(), String> {
        let bytes = match &input.contents {
            Contents::Module(module) => self.object(input, module)?,
            Contents::Archive(parts) => {
                let parts = parts.iter().filter(|part| part.name != METADATA);
                let members = parts.map(|part| {
                    let bytes = match &part.module {
                        Some(module) => self.object(input, module)?,
                        None => input.bytes[part.range.clone()].to_vec(),
                    };
                    let name = part.name.clone();
                    Ok(Member { name, bytes })
                });
                let members = members.collect::<Result<_, String>>()?;
                archive::write(members)
                    .map_err(|error| format!("{}: {error}", input.file.display()))?
            }
        };
        fs::write(to, bytes).map_err(|error| self.cache.failed(to, &error))
    }
}

/// Where the bitcode of a member is, and what is to be seen of it: all of it is, as rustc writes it for a linker; or a section of an object is, as the
/// libraries of the toolchain have it.
fn bitcode(name: &str, member: &[u8]) -> Option<(Range<usize>, Depth)> {
    if member.starts_with(BITCODE) {
        return Some((0..member.len(), Depth::Full));
    }
    if !standard::is_member(name) {
        return None;
    }
    let found = object::File::parse(member).ok()?;
    let section = found.section_by_name(".llvmbc")?;
    let (start, size) = section.file_range()?;
    let (start, size) = (usize::try_from(start).ok()?, usize::try_from(size).ok()?);
    (size > 0).then_some((start..start + size, Depth::Atomics))
}

/// Distributes modules to processes, so that all have about the same to do.
fn shares(mut units: Vec<Unit>, cores: usize) -> Vec<Vec<Unit>> {
    units.sort_by_key(|unit| std::cmp::Reverse(unit.size));
    let total: u64 = units.iter().map(|unit| unit.size).sum();
    let useful = usize::try_from(total / SHARE + 1).unwrap_or(cores);
    let mut shares = vec![Vec::new(); cores.min(useful).min(units.len())];
    let mut loads = vec![0; shares.len()];
    for unit in units {
        let least = (0..loads.len()).min_by_key(|i| loads[*i]).unwrap_or(0);
        loads[least] += unit.size;
        shares[least].push(unit);
    }
    shares
}

/// Instruments the modules of an archive that later calls of the linker get: several of them may begin at the same time then.
///
/// # Errors
/// The message for the user.
pub(crate) fn prepare(file: &Path, session: &Session, optimise: bool) -> Result<(), String> {
    with_work(session, optimise, |work| match work.read(file)? {
        Some(input) => work.instrument([&input]),
        None => Ok(()),
    })
}

/// Instruments an archive that compilers of other languages get, the standard library in it included.
///
/// # Errors
/// The message for the user.
pub(crate) fn replace(file: &Path, session: &Session, optimise: bool) -> Result<(), String> {
    with_work(session, optimise, |work| {
        let Some(input) = work.read(file)? else {
            return Ok(());
        };
        work.instrument([&input])?;
        let own = file.with_extension(format!("{}.part", std::process::id()));
        let written = work.write(&input, &own).and_then(|()| {
            fs::rename(&own, file).map_err(|error| format!("{}: {error}", file.display()))
        });
        if written.is_err() {
            // The disk may be full: what is there of it is in the way of others.
            let _ = fs::remove_file(&own);
        }
        written
    })
}

fn with_work(
    session: &Session,
    optimise: bool,
    work: impl FnOnce(&Work<'_>) -> Result<(), String>,
) -> Result<(), String> {
    if session.toolchain.llvm().is_none() {
        return Ok(());
    }
    let cache = Cache::open()?;
    let scratch = cache.scratch()?;
    work(&Work {
        toolchain: &session.toolchain,
        cache: &cache,
        scratch: scratch.path(),
        optimise,
    })
}
