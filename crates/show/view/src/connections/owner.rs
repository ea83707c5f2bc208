//! Whose the other end of a connection is, if it is on this machine: the kernel lists all of them with their users.

use std::net::{IpAddr, SocketAddr};

/// The user who may do everything.
const ROOT: u32 = 0;

/// Whether the other end belongs to the user of this process, or to root. True where the kernel does not tell.
pub(crate) fn is_same_user(theirs: SocketAddr, ours: SocketAddr) -> bool {
    let table = if theirs.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    // SAFETY: it has no arguments and cannot fail.
    let own = unsafe { libc::geteuid() };
    let Ok(table) = std::fs::read_to_string(table) else { return true };
    owner(&table, theirs, ours).is_some_and(|user| user == own || user == ROOT)
}

/// The user of the end at `theirs`, which is connected to `ours`.
fn owner(table: &str, theirs: SocketAddr, ours: SocketAddr) -> Option<u32> {
    let (local, remote) = (as_listed(theirs), as_listed(ours));
    let mut found = table.lines().skip(1).map(|line| line.split_ascii_whitespace().skip(1));
    found.find_map(|mut fields| {
        let is_it = fields.next() == Some(&*local) && fields.next() == Some(&*remote);
        // State, queues, timer and retransmissions are between.
        if is_it { fields.nth(4)?.parse().ok() } else { None }
    })
}

/// An address as the kernel lists it: words of four bytes as they lie in memory, then the port.
fn as_listed(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = octets.as_chunks::<4>().0.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word)));
    format!("{}:{:04X}", words.collect::<String>(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn other_users_are_distinguished() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F40 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2838845 1 0 100 0 0 10 0\n\
            1: 0100007F:C350 0100007F:1F40 01 00000000:00000000 00:00000000 00000000  1001        0 2838843 1 0 100 0 0 10 0\n";
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (ours, theirs) = (address("127.0.0.1:8000"), address("127.0.0.1:50000"));
        if cfg!(target_endian = "little") {
            assert_eq!(owner(table, theirs, ours), Some(1001));
            assert_eq!(owner(table, ours, theirs), Some(1000));
        }
        assert_eq!(owner(table, address("127.0.0.1:50001"), ours), None);
        assert_eq!(owner("", theirs, ours), None);
    }

    #[test]
    fn our_own_connections_are_ours() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            // A machine need not have both.
            let Ok(listener) = TcpListener::bind(any) else { continue };
            let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (there, theirs) = listener.accept().unwrap();
            assert!(is_same_user(theirs, there.local_addr().unwrap()), "{any}");
            assert!(!is_same_user("127.0.0.1:1".parse().unwrap(), there.local_addr().unwrap()));
            drop(here);
        }
    }
}
