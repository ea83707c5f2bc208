//! Folders that nobody sliced: bitcode made by hand to do harm. A skeleton is a program, and may come from anybody; whatever
//! way its code takes, it writes no file, starts no program, reaches no network and signals nobody.

mod outside;

use outside::{everything, said, skeleton, with_files};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

const MANIFEST: &str = r#"{"format": 1, "mpi": "mpich", "languages": ["c"], "call_sites": [], "oracles": [], "loops": [],
"loops_in_program": 0, "instructions_before": 1, "instructions_after": 1, "refused": []}"#;

/// System calls without any function's name.
const RAW: &str = r#"
typedef long L;
static L raw(L number, L a, L b, L c, L d) {
    L result;
    register L fourth asm("r10") = d;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    return result;
}
static char *words[] = {"/bin/sh", "-c", "touch made.dat", 0};
"#;

/// Makes a folder from a source in C and runs it as two ranks.
fn run(folder: &Path, source: &str) -> Output {
    let made = folder.join("../skel");
    std::fs::create_dir_all(&made).expect("a folder");
    std::fs::write(made.join("manifest.json"), MANIFEST).expect("a file");
    std::fs::write(made.join("hostile.c"), source).expect("a file");
    let compiled = Command::new("clang-19")
        .args(["-O1", "-w", "-g", "-fPIC", "-emit-llvm", "-c", "-o", "skeleton.bc", "hostile.c"])
        .current_dir(&made)
        .status();
    assert!(compiled.expect("clang-19 is installed").success(), "{source}");
    skeleton(folder).args(["run", "-n", "2", "../skel"]).output().expect("it starts")
}

/// Names are looked up only if they are known to change nothing, however they come into the code.
#[test]
fn names_that_act_are_not_found() {
    let named = [
        r#"int system(const char *); int main() { system("touch made.dat"); }"#,
        r#"int system(const char *); int (*volatile f)(const char *) = system; int main() { f("touch made.dat"); }"#,
        r#"extern char system[]; int main() { ((int (*)(const char *))system)("touch made.dat"); }"#,
        r#"int main() { asm volatile("call system@PLT" :: "D"("touch made.dat") : "memory"); }"#,
        r#"asm(".globl act\nact: jmp system@PLT\n"); int act(const char *); int main() { act("touch made.dat"); }"#,
        r#"int a(const char *) __attribute__((weak)) asm("system"); int main() { return a ? a("touch made.dat") : *(volatile int *)8; }"#,
        r#"int execv(const char *, char **); char *w[] = {"touch", "made.dat", 0}; int main() { execv("/bin/touch", w); }"#,
        r#"int fork(void); int main() { return fork(); }"#,
        r#"void *dlsym(void *, const char *); int main() { ((int (*)(char *))dlsym(0, "system"))("touch made.dat"); }"#,
        r#"void *dlopen(const char *, int); int main() { dlopen("./evil.so", 2); }"#,
        r#"long syscall(long, ...); int main() { syscall(87, "old.dat"); }"#,
        r#"int socket(int, int, int); int main() { socket(2, 1, 0); }"#,
        r#"int kill(int, int); int getppid(void); int main() { kill(getppid(), 9); }"#,
        r#"int _ZNSt10filesystem6removeERKNS_7__cxx114pathE(void *); int main() { _ZNSt10filesystem6removeERKNS_7__cxx114pathE(0); }"#,
        r#"int __libc_system(const char *); int main() { __libc_system("touch made.dat"); }"#,
        r#"int _IO_proc_open(); int main() { _IO_proc_open(); }"#,
    ];
    let mut held = 0;
    for source in named {
        let (_outer, folder) = with_files();
        let before = everything(&folder);
        let ran = run(&folder, source);
        assert_eq!(everything(&folder), before, "{source}");
        assert_eq!(ran.status.code(), Some(1), "{source}: {}", said(&ran));
        held += 1;
    }
    println!("{} ways to name what acts tried, {held} held", named.len());
}

/// Who makes system calls without a name is stopped by the kernel.
#[test]
fn system_calls_that_act_are_not_made() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it is ours");
    let port = listener.local_addr().expect("it has one").port().swap_bytes();
    let mut victim = Command::new("sleep").arg("600").spawn().expect("sleep is installed");
    let number = victim.id();
    let calls = [
        // Files.
        r#"L f = raw(2, (L)"made.dat", 0101, 0644, 0); raw(1, f, (L)"x", 1, 0);"#.to_owned(),
        r#"L f = raw(2, (L)"old.dat", 01001, 0644, 0); raw(1, f, (L)"x", 1, 0);"#.to_owned(),
        r#"L f = raw(257, -100, (L)"old.dat", 02, 0); raw(1, f, (L)"x", 1, 0); raw(77, f, 0, 0, 0);"#.to_owned(),
        r#"L how[3] = {0101, 0644, 0}; raw(437, -100, (L)"made.dat", (L)how, 24);"#.to_owned(),
        r#"raw(85, (L)"made.dat", 0644, 0, 0);"#.to_owned(),
        r#"raw(87, (L)"old.dat", 0, 0, 0);"#.to_owned(),
        r#"raw(263, -100, (L)"old.dat", 0, 0);"#.to_owned(),
        r#"raw(82, (L)"old.dat", (L)"new.dat", 0, 0);"#.to_owned(),
        r#"raw(316, -100, (L)"old.dat", -100, (L)"new.dat");"#.to_owned(),
        r#"raw(83, (L)"made", 0755, 0, 0);"#.to_owned(),
        r#"raw(84, (L)"empty", 0, 0, 0);"#.to_owned(),
        r#"raw(88, (L)"/etc/passwd", (L)"link", 0, 0);"#.to_owned(),
        r#"raw(86, (L)"old.dat", (L)"linked", 0, 0);"#.to_owned(),
        r#"raw(76, (L)"old.dat", 0, 0, 0);"#.to_owned(),
        r#"raw(90, (L)"old.dat", 0, 0, 0);"#.to_owned(),
        r#"raw(92, (L)"old.dat", 1, 1, 0);"#.to_owned(),
        r#"raw(133, (L)"made", 010644, 0, 0);"#.to_owned(),
        r#"raw(280, -100, (L)"old.dat", 0, 0);"#.to_owned(),
        r#"raw(188, (L)"old.dat", (L)"user.x", (L)"y", 1);"#.to_owned(),
        // An old way to call, and numbers of another one.
        r#"L r; asm volatile("int $0x80" : "=a"(r) : "a"(10), "b"("old.dat") : "memory");"#.to_owned(),
        r#"raw(0x40000000 + 87, (L)"old.dat", 0, 0, 0);"#.to_owned(),
        // Other programs.
        r#"raw(59, (L)"/bin/sh", (L)words, 0, 0);"#.to_owned(),
        r#"raw(322, -100, (L)"/bin/sh", (L)words, 0);"#.to_owned(),
        r#"if (raw(57, 0, 0, 0, 0) == 0) raw(59, (L)"/bin/sh", (L)words, 0, 0);"#.to_owned(),
        r#"if (raw(58, 0, 0, 0, 0) == 0) raw(59, (L)"/bin/sh", (L)words, 0, 0);"#.to_owned(),
        r#"if (raw(56, 17, 0, 0, 0) == 0) raw(59, (L)"/bin/sh", (L)words, 0, 0);"#.to_owned(),
        r#"L how[11] = {0, 0, 0, 0, 17}; if (raw(435, (L)how, 88, 0, 0) == 0) raw(59, (L)"/bin/sh", (L)words, 0, 0);"#
            .to_owned(),
        r#"L f = raw(319, (L)"code", 0, 0, 0); raw(322, f, (L)"", (L)words, 0);"#.to_owned(),
        // The signal that denies is caught.
        r#"L act[4] = {1, 0x04000000, 0, 0}; raw(13, 31, (L)act, 0, 8); raw(59, (L)"/bin/sh", (L)words, 0, 0); raw(87, (L)"old.dat", 0, 0, 0);"#
            .to_owned(),
        // The network.
        format!(
            r#"struct {{ short family; unsigned short port; unsigned address; char rest[8]; }} to = {{2, {port}, 0x0100007f}};
               L s = raw(41, 2, 1, 0, 0); raw(42, s, (L)&to, 16, 0); raw(42, 0, (L)&to, 16, 0);"#
        ),
        r#"L s = raw(41, 2, 2, 0, 0);"#.to_owned(),
        r#"L s = raw(41, 1, 1, 0, 0);"#.to_owned(),
        r#"L pair[2]; raw(53, 1, 1, 0, (L)pair);"#.to_owned(),
        r#"L ring[16] = {0}; raw(425, 4, (L)ring, 0, 0);"#.to_owned(),
        // Other processes.
        format!("raw(62, {number}, 9, 0, 0);"),
        format!("raw(200, {number}, 9, 0, 0);"),
        format!("raw(234, {number}, {number}, 9, 0);"),
        "raw(62, raw(110, 0, 0, 0, 0), 9, 0, 0);".to_owned(),
        format!("L f = raw(434, {number}, 0, 0, 0); raw(424, f, 9, 0, 0);"),
        format!("raw(101, 16, {number}, 0, 0);"),
        format!(r#"L from[2] = {{(L)"x", 1}}, to[2] = {{4096, 1}}; raw(311, {number}, (L)from, 1, (L)to);"#),
        format!("raw(72, 1, 8, {number}, 0); raw(72, 1, 4, 020000, 0);"),
        r#"raw(30, raw(29, 0x4b5a, 4096, 01666, 0), 0, 0, 0);"#.to_owned(),
        r#"raw(240, (L)"made", 0102, 0600, 0);"#.to_owned(),
        r#"raw(160, 7, (L)words, 0, 0);"#.to_owned(),
        r#"raw(165, (L)"none", (L)"empty", (L)"tmpfs", 0);"#.to_owned(),
        r#"raw(161, (L)"empty", 0, 0, 0);"#.to_owned(),
        r#"raw(16, 0, 0x5412, (L)"x", 0);"#.to_owned(),
    ];
    let mut held = 0;
    for call in &calls {
        let (_outer, folder) = with_files();
        let before = everything(&folder);
        let ran = run(&folder, &format!("{RAW}int main() {{ {call} return 0; }}"));
        // What was denied is said; what is stood in for, or fails and no more, leaves the rank to its end.
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{call}: {}", said(&ran));
        assert_eq!(everything(&folder), before, "{call}");
        assert!(listener.accept().is_err(), "nobody connects: {call}");
        assert!(victim.try_wait().expect("a child").is_none(), "it still sleeps: {call}");
        held += 1;
    }
    println!("{} ways to call the kernel tried, {held} held", calls.len());
    victim.kill().expect("it sleeps");
    victim.wait().expect("a child");
}

/// The rank and the call are named.
#[test]
fn who_made_a_call_is_named() {
    let (_outer, folder) = with_files();
    let ran =
        run(&folder, &format!(r#"{RAW}int main() {{ raw(59, (L)"/bin/sh", (L)words, 0, 0); return 0; }}"#));
    assert_eq!(ran.status.code(), Some(1));
    assert!(said(&ran).contains("rank 0 of 2: forbidden system call execve"), "{}", said(&ran));
    let ran = run(&folder, r#"int system(const char *); int main() { system("touch made.dat"); }"#);
    assert!(
        said(&ran).contains("rank 0 of 2: system: a skeleton cannot start other programs"),
        "{}",
        said(&ran)
    );
    assert!(said(&ran).contains("(hostile.c:1)"), "{}", said(&ran));
}

/// What the process sends is not believed, and how it ends is said.
#[test]
fn processes_that_lie_or_end_are_named() {
    let lies = [
        (
            "for (int f = 3; f < 64; f++) raw(1, f, (L)words, 32, 0); raw(231, 0, 0, 0, 0);",
            "cannot be decoded",
        ),
        ("for (int f = 3; f < 64; f++) raw(3, f, 0, 0, 0);", "cannot be decoded"),
        ("raw(231, 7, 0, 0, 0);", "exited with code 7 while rank 0"),
        ("raw(13, 11, (L)(L[4]){0}, 0, 8); *(volatile int *)8 = 1;", "signal 11 while rank 0"),
    ];
    for (call, word) in lies {
        let (_outer, folder) = with_files();
        let ran = run(&folder, &format!("{RAW}int main() {{ {call} return 0; }}"));
        assert_eq!(ran.status.code(), Some(1), "{call}: {}", said(&ran));
        assert!(said(&ran).contains(word), "{call}: {}", said(&ran));
    }
}
