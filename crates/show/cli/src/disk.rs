//! How much room a file system has.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes that a user may still write where `folder` is; `None` if there is no telling.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: the path ends with a zero byte and the structure is ours to be filled.
    let (result, stats) = unsafe {
        let mut stats: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut stats), stats)
    };
    (result == 0).then(|| stats.f_bavail.saturating_mul(stats.f_frsize))
}
