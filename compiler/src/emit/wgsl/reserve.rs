//! Reserved workgroup memory, which is never used: see
//! [`Schedule::reserve`](crate::kernel::schedule::Schedule::reserve).

use super::Writer;
use crate::value::WORD_BYTES;

impl Writer<'_> {
    /// Its size; memory through which lanes exchange values counts, too.
    fn reserved_words(&self) -> Option<u32> {
        let bytes = self
            .schedule
            .class
            .profile()
            .reserved_bytes
            .saturating_sub(self.exchange_bytes());
        (self.schedule.reserve && bytes > 0).then_some(bytes / WORD_BYTES as u32)
    }

    /// Declares it.
    pub(super) fn reserved_memory(&mut self) {
        let Some(words) = self.reserved_words() else {
            return;
        };
        let name = self.own.reserved.clone();
        self.blank();
        self.line("// Never used: the driver's compiler takes its size for a bound on the workgroups that \
            run at a");
        self.line("// time, and need not spare registers for more of them.");
        self.line(&format!("var<workgroup> {name}: array<u32, {words}>;"));
    }

    /// Uses it under a condition that never holds, which no compiler can know, so that none removes it.
    pub(super) fn touch_reserved(&mut self) {
        let Some(words) = self.reserved_words() else {
            return;
        };
        let (name, slot) = (self.own.reserved.clone(), self.own.slot.clone());
        let steps_run = self.own.steps_run.clone();
        self.open("if (run.guard == 0u) {");
        self.line(&format!("{name}[{slot} % {words}u] = {slot};"));
        self.line(&format!("{steps_run} = {name}[({slot} + 1u) % {words}u];"));
        self.close("}");
    }
}
