//! Permissions of a trace: a user who may enter its directory may read all that is in it, whatever the umask was when that
//! was made.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The bits that let others than the owner look.
const OF_OTHERS: u32 = 0o055;

/// What a folder lets others do, for [`share`].
pub fn shared_with(folder: &Metadata) -> u32 {
    folder.mode() & OF_OTHERS
}

/// Lets others look into a folder and all that is in it: `more` are bits of permissions to look into a folder. Links are
/// left alone. What cannot be done here can be done by hand.
pub fn share(path: &Path, more: u32) {
    if more == 0 {
        return;
    }
    let Ok(found) = std::fs::symlink_metadata(path) else { return };
    if found.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| share(&entry.path(), more));
    }
    if found.is_dir() || found.is_file() {
        let _ = add(path, more);
    }
}

/// Adds permissions to a file or folder itself, and never to what a link in its place leads to.
fn add(path: &Path, more: u32) -> io::Result<()> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = opened.metadata()?;
    let more = if found.is_dir() { more } else { more & 0o444 };
    opened.set_permissions(Permissions::from_mode(found.mode() & 0o7777 | more))
}
