//! The files of the cache. Their content goes to a driver, so only regular files of this user that nobody
//! else can write are read, up to a maximum size.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    path::Path,
    process,
    time::Duration,
};

/// The age from which a temporary file is stale.
const FORGOTTEN: Duration = Duration::from_secs(3600);
/// The ending of the files, which no other program's have.
pub(super) const ENDING: &str = "simpipe";
/// Most files; the oldest ones are removed.
const MOST_FILES: usize = 512;

/// Reads a file that can be trusted and has at most `most` bytes.
pub(super) fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let file = open(path).ok()?;
    // Metadata of the open file: the name may refer to another one by now.
    let data = file.metadata().ok()?;
    if !data.is_file() || data.len() > most || !is_own(&data) {
        return None;
    }
    let mut bytes = Vec::with_capacity(data.len() as usize);
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes).filter(|bytes| bytes.len() as u64 <= most)
}

/// Opens a file without blocking on a pipe and without following a link.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW).bits());
    }
    options.read(true).open(path)
}

/// Whether the file belongs to this user and nobody else can write to it.
#[cfg(unix)]
fn is_own(data: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    data.uid() == nix::unistd::geteuid().as_raw() && data.mode() & 0o022 == 0
}

/// On other systems the directory of caches belongs to the user.
#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Writes a temporary file and renames it, so that no reader sees a partial file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    create_directory(directory)?;
    remove_old(directory);
    let fresh = path.with_extension(format!("{}.tmp", process::id()));
    let written = create(&fresh)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // It may not exist.
        let _ = fs::remove_file(&fresh);
    }
    written
}

fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Creates a file that does not exist.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

/// Removes the temporary files of processes that were killed while writing, and all but the newest of the
/// others.
fn remove_old(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let age = |path: &Path| {
        let modified = fs::symlink_metadata(path).and_then(|data| data.modified());
        modified.ok()?.elapsed().ok()
    };
    let files = entries.map(|entry| entry.path());
    let files = files.filter_map(|path| Some((age(&path)?, path)));
    let ends_with = |path: &Path, ending: &str| path.extension().is_some_and(|it| it == ending);
    let (unfinished, others): (Vec<_>, Vec<_>) =
        files.partition(|(_, path)| ends_with(path, "tmp"));
    let stale = unfinished.into_iter().filter(|(age, _)| *age > FORGOTTEN);
    let mut kept: Vec<_> = (others.into_iter())
        .filter(|(_, path)| ends_with(path, ENDING))
        .collect();
    kept.sort();
    for (_, path) in stale.chain(kept.into_iter().skip(MOST_FILES - 1)) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, path::PathBuf};

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let place = Place(env::temp_dir().join(format!("sim-cache-{}-{name}", process::id())));
            let _ = fs::remove_dir_all(&place.0);
            place
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_of_our_own_is_read_up_to_its_bound() {
        let place = Place::new("own");
        let path = place.0.join("deep/key.bin");
        write(&path, b"0123456789").expect("it can be written");
        assert_eq!(read(&path, 10).as_deref(), Some(&b"0123456789"[..]));
        assert_eq!(read(&path, 9), None, "too large");
        assert_eq!(read(&place.0, 9), None, "a directory");
        assert_eq!(read(&place.0.join("none"), 9), None);
        write(&path, b"again").expect("it can be replaced");
        assert_eq!(read(&path, 10).as_deref(), Some(&b"again"[..]));
        let names = fs::read_dir(path.parent().expect("it has one")).expect("it is there");
        assert_eq!(names.count(), 1, "nothing else is left");
    }

    #[test]
    fn what_was_forgotten_goes_and_what_is_written_stays() {
        let place = Place::new("forgotten");
        fs::create_dir_all(&place.0).expect("it can be made");
        let (old, new) = (place.0.join("a.1.tmp"), place.0.join("a.2.tmp"));
        let file = File::create(&old).expect("it can be made");
        let long_ago = std::time::SystemTime::now() - 2 * FORGOTTEN;
        file.set_modified(long_ago).expect("it can be set");
        File::create(&new).expect("it can be made");
        write(&place.0.join("a.bin"), b"x").expect("it can be written");
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn the_newest_files_are_kept() {
        let place = Place::new("many");
        fs::create_dir_all(&place.0).expect("it can be made");
        let path = |number: usize| place.0.join(format!("{number}.{ENDING}"));
        let now = std::time::SystemTime::now();
        for number in 0..MOST_FILES + 3 {
            let file = File::create(path(number)).expect("it can be made");
            let age = Duration::from_secs(10 + number as u64);
            file.set_modified(now - age).expect("it can be set");
        }
        let other = place.0.join("notes.txt");
        File::create(&other).expect("it can be made");
        write(&path(MOST_FILES + 3), b"x").expect("it can be written");
        let left = fs::read_dir(&place.0).expect("it is there").count();
        assert_eq!(left, MOST_FILES + 1);
        assert!(path(MOST_FILES - 2).exists() && !path(MOST_FILES - 1).exists());
        assert!(other.exists(), "it is none of ours");
    }

    #[cfg(unix)]
    #[test]
    fn what_others_may_write_to_and_what_is_no_file_is_not_read() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let place = Place::new("others");
        let path = place.0.join("key.bin");
        write(&path, b"bytes").expect("it can be written");
        for (mode, is_read) in [(0o644, true), (0o664, false), (0o602, false), (0o600, true)] {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(&path, permissions).expect("it is ours");
            assert_eq!(read(&path, 10).is_some(), is_read, "{mode:o}");
        }
        let link = place.0.join("link.bin");
        symlink(&path, &link).expect("it can be made");
        assert_eq!(read(&link, 10), None, "a link");
        let device = place.0.join("device.bin");
        symlink("/dev/zero", &device).expect("it can be made");
        assert_eq!(read(&device, 10), None, "a link to a device");
        assert_eq!(read(Path::new("/dev/zero"), 10), None, "a device");
        // Would wait forever for somebody to write to it.
        let pipe = place.0.join("pipe.bin");
        let made = process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|made| made.success()));
        assert_eq!(read(&pipe, 10), None, "a pipe");
        write(&pipe, b"bytes").expect("it is replaced");
        assert_eq!(read(&pipe, 10).as_deref(), Some(&b"bytes"[..]));
    }
}
