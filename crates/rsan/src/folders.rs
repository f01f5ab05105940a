//! What `rsan` makes for other programs is printed, or installed in folders of the user's in which they look for it.

use crate::files;
use crate::session::{self, eprint};
use crate::status::Status;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// What the folders follow from.
pub(crate) struct Home {
    home: Option<PathBuf>,
    data: Option<PathBuf>,
    config: Option<PathBuf>,
    /// Where this command is.
    command: Option<PathBuf>,
}

impl Home {
    /// Of the user who runs this process.
    pub(crate) fn current() -> Self {
        Self::new(|name| std::env::var_os(name), std::env::current_exe().ok())
    }

    fn new(variable: impl Fn(&str) -> Option<OsString>, command: Option<PathBuf>) -> Self {
        // The XDG specification has relative paths ignored.
        let absolute = |name| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let home = absolute("HOME");
        let below = |folder| home.as_ref().map(|home| home.join(folder));
        Self {
            data: absolute("XDG_DATA_HOME").or_else(|| below(".local/share")),
            config: absolute("XDG_CONFIG_HOME").or_else(|| below(".config")),
            home,
            command,
        }
    }

    /// The folder that holds `man1`. `man` looks into `share/man` beside every `bin` that is on the search path.
    pub(crate) fn manuals(&self) -> Option<PathBuf> {
        let bin = self.command.as_deref().and_then(Path::parent);
        let prefix = bin
            .filter(|bin| bin.ends_with("bin"))
            .and_then(Path::parent);
        let home = self.home.as_deref();
        let own = prefix.filter(|prefix| home.is_some_and(|home| prefix.starts_with(home)));
        match own {
            Some(prefix) => Some(prefix.join("share/man")),
            None => Some(self.data.as_ref()?.join("man")),
        }
    }

    /// A folder in `$XDG_DATA_HOME`.
    pub(crate) fn data(&self, folder: &str) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join(folder))
    }

    /// A folder in `$XDG_CONFIG_HOME`.
    pub(crate) fn config(&self, folder: &str) -> Option<PathBuf> {
        Some(self.config.as_ref()?.join(folder))
    }
}

/// Prints what was made, or why it could not be.
pub(crate) fn print(made: Result<String, String>) -> Status {
    match made {
        Ok(text) => session::print(&text),
        Err(message) => {
            eprint(&message);
            Status::BadInput
        }
    }
}

/// Writes a file into a folder, which is made if it is not there, and returns its path.
///
/// # Errors
/// The message for the user.
pub(crate) fn install(folder: &Path, name: &str, contents: &[u8]) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        files::write(&path, contents)
    };
    write().map_err(|error| format!("{}: {error}\n", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(variables: &[(&str, &str)], command: &str) -> Home {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name);
        Home::new(
            |name| find(name).map(|(_, value)| value.into()),
            Some(command.into()),
        )
    }

    #[test]
    fn manuals_go_where_man_looks() {
        let user = [("HOME", "/home/ada")];
        let manuals = |variables, command| home(variables, command).manuals();
        let cargo = manuals(&user, "/home/ada/.cargo/bin/rsan");
        assert_eq!(cargo, Some("/home/ada/.cargo/share/man".into()));
        let xdg = Some("/home/ada/.local/share/man".into());
        assert_eq!(manuals(&user, "/usr/bin/rsan"), xdg);
        assert_eq!(manuals(&user, "/home/ada/rsan/target/release/rsan"), xdg);
        assert_eq!(manuals(&[], "/usr/bin/rsan"), None);
    }

    #[test]
    fn relative_folders_of_xdg_are_ignored() {
        let set = [
            ("HOME", "/h"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_CONFIG_HOME", "c"),
        ];
        let home = home(&set, "/usr/bin/rsan");
        assert_eq!(home.data("zsh"), Some("/d/zsh".into()));
        assert_eq!(home.config("fish"), Some("/h/.config/fish".into()));
    }
}
