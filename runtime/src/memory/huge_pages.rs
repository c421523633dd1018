//! Huge pages, of 2 MiB, for large memory on Linux. A system may map them for those alone who ask (`madvise`
//! in `/sys/kernel/mm/transparent_hugepage/enabled`). Otherwise each 4 KiB take a page fault when they are
//! first written, which on virtual machines takes longer than the writing.

/// Bytes of a huge page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Asks for huge pages, of which as many are mapped as lie whole in the memory.
#[cfg(target_os = "linux")]
pub(super) fn advise<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    use nix::sys::mman::{MmapAdvise, madvise};
    let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
    let before = start.addr().next_multiple_of(PAGE) - start.addr();
    let whole = bytes.saturating_sub(before) / PAGE * PAGE;
    let first = std::ptr::NonNull::new(start.wrapping_add(before).cast());
    if let Some(first) = first.filter(|_| whole > 0) {
        // SAFETY: the pages lie within memory of the caller's alone, and the advice changes no value.
        // A kernel without huge pages refuses it, and maps small ones.
        let _ = unsafe { madvise(first, whole, MmapAdvise::MADV_HUGEPAGE) };
    }
}

/// Other systems choose their pages themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn advise<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The flags of the mapping with an address.
    fn flags(address: usize) -> Option<String> {
        let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut is_inside = false;
        for line in text.lines() {
            let range = line.split_whitespace().next()?.split_once('-');
            let ends = range.map(|(start, end)| {
                let parse = |text| usize::from_str_radix(text, 16).ok();
                (parse(start), parse(end))
            });
            if let Some((Some(start), Some(end))) = ends {
                is_inside = (start..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| is_inside) {
                return Some(flags.to_owned());
            }
        }
        None
    }

    #[test]
    fn huge_pages_are_asked_for_within_the_memory() {
        let has_them = std::fs::metadata("/sys/kernel/mm/transparent_hugepage").is_ok();
        let mut words: Vec<u32> = Vec::with_capacity(40 * PAGE / 4);
        advise(words.spare_capacity_mut());
        let start = words.as_ptr().addr();
        let inside = start.next_multiple_of(PAGE) + 3 * PAGE;
        let flags = flags(inside).expect("a mapping with its flags");
        let asked = flags.split_whitespace().any(|flag| flag == "hg");
        assert_eq!(asked, has_them, "{flags}");
        // Less than a huge page.
        advise(&mut words.spare_capacity_mut()[1..PAGE / 8]);
        words.resize(40 * PAGE / 4, 7);
        assert!(words.iter().all(|&word| word == 7));
    }
}
