//! Names of functions for people.

use cpp_demangle::{DemangleOptions, Symbol};

/// A name as it stands in the source: of Rust without its hash, of C++ without parameters. Others are left as they are.
pub fn title(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let cpp = name
        .starts_with("_Z")
        .then(|| Symbol::new(name).ok()?.demangle_with_options(&options).ok());
    cpp.flatten().unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn names_of_all_languages() {
        assert_eq!(title("main"), "main");
        assert_eq!(title("_ZN5queue4pushEi"), "queue::push");
        assert_eq!(
            title("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"),
            "core::ptr::drop_in_place"
        );
        assert_eq!(title("_RNvC5crate4main"), "crate::main");
    }
}
