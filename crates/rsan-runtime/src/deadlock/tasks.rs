//! What the system says about the threads of the process.

use crate::system::system_call;

/// What the threads do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    /// All but the calling one sleep.
    AllSleep,
    /// One that should sleep does not, yet.
    SomeRun,
    /// There are threads that are not known, or it cannot be found out.
    Others,
}

/// Looks at the threads of the process: `known` are the numbers of those that should sleep, the calling one perhaps among them, and `count` says how many wait in
/// all. The calling thread may be one more, on its way out.
pub(super) fn look(known: &[u32], count: usize) -> Seen {
    let me = crate::system::thread_number();
    let Some(before) = number() else {
        return Seen::Others;
    };
    let Some(tasks) = tasks() else {
        return Seen::Others;
    };
    // A thread that ends while the folder is read hides those after it.
    if number() != Some(before) || tasks.len() != before {
        return Seen::SomeRun;
    }
    let mut alive = 0;
    let mut runs = false;
    for task in tasks {
        match state(task) {
            Some(b'Z' | b'X') | None => continue,
            _ if task == me => alive += usize::from(known.contains(&me)),
            Some(state) => {
                alive += 1;
                runs |= known.contains(&task) && state != b'S';
            }
        }
    }
    let spins = count - known.len();
    match alive {
        alive if alive > known.len() + spins => Seen::Others,
        _ if runs => Seen::SomeRun,
        _ => Seen::AllSleep,
    }
}

/// Opens a file of `/proc`, whose name ends with a zero.
fn open(path: &[u8], flags: i32) -> Option<usize> {
    debug_assert_eq!(path.last(), Some(&0));
    let flags = (flags | libc::O_CLOEXEC) as usize;
    let arguments = [path.as_ptr() as usize, flags, 0, 0, 0, 0];
    // SAFETY: the path is a C string.
    let file = unsafe { system_call(libc::SYS_open, arguments) };
    usize::try_from(file).ok()
}

fn read(file: usize, call: i64, buffer: &mut [u8]) -> usize {
    let arguments = [file, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
    // SAFETY: the buffer has this length.
    let bytes = unsafe { system_call(call, arguments) };
    usize::try_from(bytes).unwrap_or(0)
}

fn close(file: usize) {
    // SAFETY: a descriptor of this module.
    unsafe { system_call(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
}

/// The numbers of the threads.
fn tasks() -> Option<Vec<u32>> {
    let folder = open(b"/proc/self/task\0", libc::O_RDONLY | libc::O_DIRECTORY)?;
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let bytes = read(folder, libc::SYS_getdents64, &mut buffer);
        if bytes == 0 {
            break;
        }
        all.extend(entries(&buffer[..bytes]));
    }
    close(folder);
    Some(all)
}

/// How many threads there are.
fn number() -> Option<usize> {
    /// The position of the number after the state, which is the first.
    const THREADS: usize = 17;
    let mut buffer = [0; 512];
    let fields = fields(b"/proc/self/stat\0", &mut buffer)?;
    let field = fields.split(|byte| *byte == b' ').nth(THREADS)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Where an entry of a folder has its length, and its name.
const LENGTH: usize = 16;
const NAME: usize = 19;

/// The names that are numbers.
fn entries(mut bytes: &[u8]) -> Vec<u32> {
    let mut all = Vec::new();
    while let (Some(length), Some(name)) = (bytes.get(LENGTH..LENGTH + 2), bytes.get(NAME..)) {
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        all.extend(
            std::str::from_utf8(name)
                .ok()
                .and_then(|name| name.parse::<u32>().ok()),
        );
        bytes = bytes.get(length.max(1)..).unwrap_or_default();
    }
    all
}

/// The letter that says what a thread does; `None` if there is no such thread.
fn state(task: u32) -> Option<u8> {
    let mut buffer = [0; 512];
    let path = format!("/proc/self/task/{task}/stat\0");
    fields(path.as_bytes(), &mut buffer)?.first().copied()
}

/// The fields of a `stat` file after the name.
fn fields<'a>(path: &[u8], buffer: &'a mut [u8; 512]) -> Option<&'a [u8]> {
    let file = open(path, libc::O_RDONLY)?;
    let bytes = read(file, libc::SYS_read, buffer);
    close(file);
    // The name of the thread, in parentheses, may have parentheses of its own.
    let end = buffer[..bytes].iter().rposition(|byte| *byte == b')')?;
    buffer[..bytes].get(end + 2..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_runs() {
        let me = crate::system::thread_number();
        // Other tests start and end threads meanwhile, and a list is complete only if none does.
        let all = loop {
            let before = number().expect("a number of threads");
            let all = tasks().expect("a list of threads");
            if number() == Some(before) && all.len() == before {
                break all;
            }
        };
        assert!(all.contains(&me));
        assert_eq!(state(me), Some(b'R'));
        assert_eq!(state(u32::MAX), None);
    }
}
