//! Result of one check of `debate doctor`, with the fix that `--fix` applies.
use crate::cli::output::DoctorCheck;
use crate::clients::{ClientSpec, InstallScope};
use std::path::PathBuf;

/// Result of one check, with an optional automatic fix.
pub(super) struct Diagnosis {
    pub(super) check: DoctorCheck,
    pub(super) fix: Option<DoctorFix>,
}

/// Fix that needs no question to the user.
pub(super) enum DoctorFix {
    /// Writes the client's config again.
    InstallClient(&'static ClientSpec, InstallScope),
    /// Removes a setting that disables the server or its calls in the client's config.
    RemoveBlocker(&'static ClientSpec, InstallScope),
    /// Removes the permissions of other users on these paths.
    RestrictPermissions(Vec<PathBuf>),
}

impl Diagnosis {
    pub(super) fn ok(name: &str, says: String) -> Diagnosis {
        let check = DoctorCheck { name: name.into(), ok: true, says, hint: None, mended: None };
        Diagnosis { check, fix: None }
    }

    pub(super) fn problem(name: &str, says: String, hint: &str) -> Diagnosis {
        let diagnosis = Diagnosis::ok(name, says).with_hint(hint);
        Diagnosis { check: DoctorCheck { ok: false, ..diagnosis.check }, ..diagnosis }
    }

    pub(super) fn with_hint(self, hint: &str) -> Diagnosis {
        Diagnosis { check: DoctorCheck { hint: Some(hint.into()), ..self.check }, ..self }
    }

    pub(super) fn with_fix(self, fix: DoctorFix) -> Diagnosis {
        Diagnosis { fix: Some(fix), ..self }
    }
}
