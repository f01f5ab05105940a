//! Colour for terminals: a handful of roles, or nothing at all.

/// Whether text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// Bare text, for files, pipes and goldens.
    #[default]
    Plain,
    /// ANSI colours, for terminals.
    Color,
}

/// What a piece of text stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A violation.
    Bad,
    /// A proof.
    Good,
    /// No answer.
    Undecided,
    /// A heading.
    Strong,
    /// Line numbers and rulers.
    Faint,
    /// The second of two things.
    Other,
}

impl Style {
    /// The text as it is to be shown in this role.
    pub fn paint(self, role: Role, text: &str) -> String {
        let code = match (self, role) {
            (Self::Plain, _) => return text.to_owned(),
            (Self::Color, Role::Bad) => "1;31",
            (Self::Color, Role::Good) => "1;32",
            (Self::Color, Role::Undecided) => "1;33",
            (Self::Color, Role::Strong) => "1",
            (Self::Color, Role::Faint) => "34",
            (Self::Color, Role::Other) => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
