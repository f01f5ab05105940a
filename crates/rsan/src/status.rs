//! Exit statuses.

use rsan_report::{Document, Judgement};

/// How a command ends; the numbers are a contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// 0: no finding, robust, or the condition holds as written.
    Clean,
    /// 1: a finding, not robust, or the condition does not hold.
    Finding,
    /// 2: wrong usage or bad input.
    BadInput,
    /// 3: undecided.
    Undecided,
    /// 4: the program under test failed, and there is no finding.
    Failed,
}

impl From<Judgement> for Status {
    fn from(judgement: Judgement) -> Self {
        match judgement {
            Judgement::Robust | Judgement::NoFinding => Self::Clean,
            Judgement::Violation => Self::Finding,
            Judgement::Unknown => Self::Undecided,
        }
    }
}

impl From<&Document> for Status {
    fn from(document: &Document) -> Self {
        match Self::from(document.verdict) {
            Self::Undecided if document.stats.failures.unwrap_or(0) > 0 => Self::Failed,
            status => status,
        }
    }
}

impl Status {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Finding => 1,
            Self::BadInput => 2,
            Self::Undecided => 3,
            Self::Failed => 4,
        }
    }

    /// The status of two inputs together: the more severe one, in the order bad input, finding, failed,
    /// undecided, clean.
    pub(crate) fn and(self, other: Self) -> Self {
        if self.severity() >= other.severity() {
            self
        } else {
            other
        }
    }

    fn severity(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Undecided => 1,
            Self::Failed => 2,
            Self::Finding => 3,
            Self::BadInput => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Status::{self, BadInput, Clean, Failed, Finding, Undecided};
    use rsan_model::Model;
    use rsan_report::{Command, Document, Judgement};

    #[test]
    fn documents_tell_the_status() {
        let all = [
            Judgement::Robust,
            Judgement::NoFinding,
            Judgement::Violation,
            Judgement::Unknown,
        ];
        for verdict in all {
            for failures in [None, Some(0), Some(1)] {
                let mut document = Document::new(Command::Run, "a.out", verdict, Model::C20);
                document.stats.failures = failures;
                assert_eq!(Status::from(&document).code(), document.exit_code());
            }
        }
    }

    #[test]
    fn the_most_severe_status_wins() {
        let order = [Clean, Undecided, Failed, Finding, BadInput];
        for (i, &low) in order.iter().enumerate() {
            for &high in &order[i..] {
                assert_eq!(low.and(high), high);
                assert_eq!(high.and(low), high);
            }
        }
    }
}
