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
        let code = document.exit_code();
        let of_documents = [Self::Clean, Self::Finding, Self::Undecided, Self::Failed];
        let status = of_documents
            .into_iter()
            .find(|status| status.code() == code);
        status.unwrap_or(Self::Undecided)
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
    use rsan_report::document::{Finding as Found, Kind, Severity};
    use rsan_report::{Command, Document, Judgement};

    #[test]
    fn documents_tell_the_status() {
        let status = |verdict, failures| {
            let mut document = Document::new(Command::Run, "a.out", verdict, Model::C20);
            document.stats.failures = failures;
            Status::from(&document)
        };
        for failures in [None, Some(0), Some(1)] {
            assert_eq!(status(Judgement::Robust, failures), Clean);
            assert_eq!(status(Judgement::NoFinding, failures), Clean);
            assert_eq!(status(Judgement::Violation, failures), Finding);
        }
        assert_eq!(status(Judgement::Unknown, Some(0)), Undecided);
        assert_eq!(status(Judgement::Unknown, Some(1)), Failed);
    }

    #[test]
    fn findings_below_the_bar_do_not_decide_the_status() {
        let status = |severity, bar, incomplete| {
            let mut document =
                Document::new(Command::Run, "a.out", Judgement::Violation, Model::C20);
            let found = Found::new(Kind::WeakBehaviour, severity, "stale".to_owned());
            document.findings.push(found);
            document.incomplete = incomplete;
            document.fail_on = bar;
            Status::from(&document)
        };
        assert_eq!(status(Severity::Note, Severity::Warning, false), Clean);
        assert_eq!(status(Severity::Note, Severity::Warning, true), Undecided);
        assert_eq!(status(Severity::Note, Severity::Note, true), Finding);
        assert_eq!(status(Severity::Warning, Severity::Warning, false), Finding);
        assert_eq!(status(Severity::Warning, Severity::Error, false), Clean);
        assert_eq!(status(Severity::Error, Severity::Error, false), Finding);
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
