//! Files as a rank sees them: what is there can be read, and nothing is written.
//!
//! A program that reads its parameters needs its files, so opening for reading is real. A file that is opened for reading
//! and writing is opened for reading; one that would be made or emptied is `/dev/null`. Whatever would write to a file, or
//! change a name or an attribute, says that it did. The next rank therefore finds everything as it was, and what a
//! program wrote it cannot read back.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

const NULL: &CStr = c"/dev/null";

/// They print, or change files, their names or attributes. How much is printed nobody reads; the others succeed.
const SUCCEEDING: &str = "
    printf vprintf fprintf vfprintf dprintf vdprintf __printf_chk __vprintf_chk __fprintf_chk __vfprintf_chk
    __dprintf_chk puts putchar fputs fputc putc _IO_putc puts_unlocked putchar_unlocked fputs_unlocked fputc_unlocked
    putc_unlocked fflush fflush_unlocked perror psignal warn warnx syslog openlog closelog setvbuf setbuf setbuffer
    setlinebuf remove unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir symlink symlinkat link linkat
    mkfifo mkfifoat mknod mknodat truncate truncate64 ftruncate ftruncate64 fallocate fallocate64 posix_fallocate
    posix_fallocate64 posix_fadvise posix_fadvise64 chmod fchmod fchmodat chown fchown lchown fchownat utime utimes
    lutimes futimes utimensat futimens setxattr lsetxattr fsetxattr removexattr fsync fdatasync sync syncfs
    sync_file_range msync flock lockf lockf64 fcntl fcntl64 umask closefrom close_range
";

/// Names, and what is called instead.
pub fn replacements() -> Vec<(&'static str, usize)> {
    let mut all: Vec<(&'static str, usize)> = vec![
        ("open", open as *const () as usize),
        ("open64", open as *const () as usize),
        ("__open_2", open as *const () as usize),
        ("__open64_2", open as *const () as usize),
        ("openat", openat as *const () as usize),
        ("openat64", openat as *const () as usize),
        ("creat", creat as *const () as usize),
        ("creat64", creat as *const () as usize),
        ("close", close as *const () as usize),
        ("dup2", second as *const () as usize),
        ("dup3", second as *const () as usize),
        ("mkstemp", made_up_file as *const () as usize),
        ("mkstemp64", made_up_file as *const () as usize),
        ("mkostemp", made_up_file as *const () as usize),
        ("mkdtemp", first as *const () as usize),
        ("fopen", fopen as *const () as usize),
        ("fopen64", fopen as *const () as usize),
        ("fdopen", fdopen as *const () as usize),
        ("freopen", freopen as *const () as usize),
        ("freopen64", freopen as *const () as usize),
        ("tmpfile", tmpfile as *const () as usize),
        ("tmpfile64", tmpfile as *const () as usize),
        ("fwrite", written_elements as *const () as usize),
        ("fwrite_unlocked", written_elements as *const () as usize),
        ("write", written as *const () as usize),
        ("pwrite", written as *const () as usize),
        ("pwrite64", written as *const () as usize),
    ];
    all.extend(SUCCEEDING.split_whitespace().map(|name| (name, succeeds as *const () as usize)));
    all.extend(streams::replacements());
    all
}

extern "C" fn succeeds() -> c_int {
    0
}

extern "C" fn first(argument: usize) -> usize {
    argument
}

extern "C" fn second(_: usize, argument: usize) -> usize {
    argument
}

extern "C" fn written(_: c_int, _: usize, bytes: usize) -> usize {
    bytes
}

extern "C" fn written_elements(_: usize, _: usize, count: usize, _: usize) -> usize {
    count
}

/// Descriptors up to this one are of the process that ranks run in.
static LAST_OF_PROCESS: AtomicI32 = AtomicI32::new(2);

/// No rank closes a descriptor up to this one.
pub fn keep_descriptors(last: c_int) {
    LAST_OF_PROCESS.store(last, Ordering::Relaxed);
}

extern "C" fn close(file: c_int) -> c_int {
    if file <= LAST_OF_PROCESS.load(Ordering::Relaxed) {
        return 0;
    }
    // SAFETY: a descriptor of the rank's, or none.
    unsafe { libc::close(file) }
}

extern "C" fn open(path: *const c_char, flags: c_int, _: c_int) -> c_int {
    // SAFETY: the program gives a C string.
    unsafe { open_to_read(libc::AT_FDCWD, path, flags) }
}

extern "C" fn openat(folder: c_int, path: *const c_char, flags: c_int, _: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { open_to_read(folder, path, flags) }
}

extern "C" fn creat(_: *const c_char, _: c_int) -> c_int {
    nowhere()
}

extern "C" fn made_up_file(_: *mut c_char) -> c_int {
    nowhere()
}

/// `open` as Fortran's runtime library has it.
pub fn opener() -> usize {
    open as *const () as usize
}

fn nowhere() -> c_int {
    // SAFETY: a path of ours.
    unsafe { libc::open(NULL.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) }
}

/// Opens a file for reading, whatever it was to be opened for. Gives a descriptor, or -1 with the reason in `errno`. May be
/// called in a signal handler.
///
/// # Safety
/// The path must be a C string.
pub(crate) unsafe fn open_to_read(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    let has = |flag: c_int| flags & flag == flag;
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
    // SAFETY: a C string by contract.
    unsafe {
        let changes = has(libc::O_CREAT) || has(libc::O_TRUNC) || has(libc::O_TMPFILE);
        if !writes && !changes {
            return libc::openat(folder, path, flags | libc::O_CLOEXEC);
        }
        let is_there = libc::faccessat(folder, path, libc::F_OK, 0) == 0;
        let wrong = match is_there {
            true if has(libc::O_CREAT) && has(libc::O_EXCL) => libc::EEXIST,
            false if !has(libc::O_CREAT) => libc::ENOENT,
            _ => 0,
        };
        if wrong != 0 {
            *libc::__errno_location() = wrong;
            return -1;
        }
        let reads = flags & libc::O_ACCMODE != libc::O_WRONLY;
        if is_there && reads && !has(libc::O_TRUNC) && !has(libc::O_TMPFILE) {
            return libc::openat(folder, path, libc::O_RDONLY | libc::O_CLOEXEC);
        }
    }
    nowhere()
}

extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
    // SAFETY: the program gives two C strings.
    unsafe {
        let reads = CStr::from_ptr(mode).to_bytes().first() == Some(&b'r');
        let path = if reads { path } else { NULL.as_ptr() };
        libc::fopen(path, c"re".as_ptr()).cast()
    }
}

extern "C" fn fdopen(file: c_int, _: *const c_char) -> *mut c_void {
    // SAFETY: it only fails if there is no such descriptor; all that ranks have can be read.
    unsafe { libc::fdopen(file, c"r".as_ptr()).cast() }
}

/// A stream that would be written to elsewhere stays what it is: nothing is written to it anyway.
extern "C" fn freopen(path: *const c_char, mode: *const c_char, stream: *mut c_void) -> *mut c_void {
    // SAFETY: the program gives C strings, or no path, and a stream.
    unsafe {
        let reads = CStr::from_ptr(mode).to_bytes().first() == Some(&b'r') && !path.is_null();
        if reads { libc::freopen(path, c"re".as_ptr(), stream.cast()).cast() } else { stream }
    }
}

extern "C" fn tmpfile() -> *mut c_void {
    // SAFETY: strings of ours.
    unsafe { libc::fopen(NULL.as_ptr(), c"re".as_ptr()).cast() }
}

/// Opening files by streams of C++: the library's own functions, with another path where something would be written.
mod streams {
    use super::NULL;
    use std::ffi::{CString, c_char, c_int};
    use std::sync::OnceLock;

    /// `app`, `in`, `out` and `trunc` of libstdc++.
    const APP: c_int = 1;
    const IN: c_int = 8;
    const OUT: c_int = 16;
    const TRUNC: c_int = 32;

    /// Classes, each with what it always opens for.
    const CLASSES: [(&str, c_int); 4] =
        [("14basic_ofstream", OUT), ("14basic_ifstream", IN), ("13basic_fstream", 0), ("13basic_filebuf", 0)];
    const MEMBERS: [&str; 3] = ["4open", "C1", "C2"];
    /// How paths are given: as text of C, or as a string.
    const PATHS: [&str; 2] = ["PKc", "RKNSt7__cxx1112basic_stringIcS1_SaIcEEE"];

    fn name(class: usize, member: usize, path: usize) -> String {
        let (class, member, path) = (CLASSES[class].0, MEMBERS[member], PATHS[path]);
        format!("_ZNSt{class}IcSt11char_traitsIcEE{member}E{path}St13_Ios_Openmode")
    }

    type Open = extern "C" fn(usize, *const c_char, c_int) -> usize;

    /// The library's own function, which takes text of C.
    fn real(class: usize, member: usize) -> Option<Open> {
        static FOUND: OnceLock<Vec<usize>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let all =
                (0..CLASSES.len()).flat_map(|class| (0..MEMBERS.len()).map(move |member| (class, member)));
            let address = |(class, member)| {
                let name = CString::new(name(class, member, 0)).unwrap_or_default();
                // SAFETY: a name that ends.
                unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
            };
            all.map(address).collect()
        });
        let address = found[class * MEMBERS.len() + member];
        // SAFETY: the function of this name takes a stream, a path and how to open it.
        (address != 0).then(|| unsafe { std::mem::transmute::<usize, Open>(address) })
    }

    extern "C" fn opened<const CLASS: usize, const MEMBER: usize, const PATH: usize>(
        stream: usize,
        path: *const *const c_char,
        mode: c_int,
    ) -> usize {
        // SAFETY: a string begins with the address of its text; text of C is given by its own.
        let path = if PATH == 0 { path.cast::<c_char>() } else { unsafe { *path } };
        let wanted = mode | CLASSES[CLASS].1;
        let (path, mode) = match wanted {
            _ if wanted & (APP | OUT | TRUNC) == 0 => (path, mode),
            _ if CLASSES[CLASS].1 != OUT && wanted & IN != 0 && wanted & TRUNC == 0 => {
                (path, mode & !(APP | OUT))
            }
            _ => (NULL.as_ptr(), mode),
        };
        real(CLASS, MEMBER).map_or(0, |open| open(stream, path, mode))
    }

    /// All that opens a file.
    pub fn replacements() -> Vec<(&'static str, usize)> {
        macro_rules! of {
            ($($class:literal $member:literal),*) => {
                [$(
                    (name($class, $member, 0), opened::<$class, $member, 0> as *const () as usize),
                    (name($class, $member, 1), opened::<$class, $member, 1> as *const () as usize),
                )*]
            };
        }
        static ALL: OnceLock<Vec<(String, usize)>> = OnceLock::new();
        let all = ALL.get_or_init(|| of!(0 0, 0 1, 0 2, 1 0, 1 1, 1 2, 2 0, 2 1, 2 2, 3 0).to_vec());
        all.iter().map(|(name, address)| (name.as_str(), *address)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// What opening gives: nothing, an empty file, or what is in the file.
    fn opened(path: &std::path::Path, flags: c_int) -> Option<Vec<u8>> {
        let path = CString::new(path.to_str().expect("plain text")).expect("no zeros");
        let file = open(path.as_ptr(), flags, 0o644);
        if file < 0 {
            return None;
        }
        let mut room = [0u8; 16];
        // SAFETY: a descriptor that was just opened, and room for what is read.
        let bytes = unsafe { libc::read(file, room.as_mut_ptr().cast(), room.len()) };
        assert_eq!(close(file), 0);
        Some(room[..bytes as usize].to_vec())
    }

    #[test]
    fn files_are_read_and_left_as_they_are() {
        let folder = std::env::temp_dir().join(format!("kizami-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (old, new) = (folder.join("old"), folder.join("new"));
        std::fs::write(&old, "text").expect("a file");
        let (text, empty) = (Some(b"text".to_vec()), Some(Vec::new()));
        assert_eq!(opened(&old, libc::O_RDONLY), text);
        assert_eq!(opened(&old, libc::O_RDWR), text);
        assert_eq!(opened(&old, libc::O_RDONLY | libc::O_CREAT), text);
        assert_eq!(opened(&old, libc::O_RDWR | libc::O_TRUNC), empty);
        assert_eq!(opened(&old, libc::O_WRONLY), empty);
        assert_eq!(opened(&old, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL), None);
        assert_eq!(opened(&new, libc::O_RDWR | libc::O_CREAT), empty);
        assert_eq!(opened(&new, libc::O_WRONLY), None);
        assert_eq!(opened(&folder, libc::O_TMPFILE | libc::O_RDWR), empty);
        assert_eq!(std::fs::read(&old).expect("it is there"), b"text");
        assert!(!new.exists());
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
