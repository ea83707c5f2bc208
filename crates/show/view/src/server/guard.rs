//! Who may ask: requests with the token, made to this machine's name, not by pages of other sites.
//!
//! The files of the page cannot carry the token, since the page names them without it. They hold nothing of a trace; a
//! cookie of their own lets them pass once the page was opened with the token. Cookies are not told apart by port, so
//! the cookie must not be the token.

use super::reply::Failure;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;
/// Where a ticket leads, with it behind.
pub(super) const ONCE: &str = "/once/";
const TOKEN_HEADER: &str = "x-kizami-token";

/// Looks at every request.
#[derive(Debug)]
pub(super) struct Guard {
    token: String,
    page_key: String,
    /// What stands for the token once, for those who open a browser: other users can read a command line.
    ticket: Mutex<Option<String>>,
    address: SocketAddr,
}

impl Guard {
    /// With a new token, for a server that listens there.
    pub(super) fn new(address: SocketAddr) -> io::Result<Guard> {
        let ticket = Mutex::new(Some(random()?));
        Ok(Guard { token: random()?, page_key: random()?, ticket, address })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// What stands for the token once; nothing if it did.
    pub(super) fn ticket(&self) -> Option<String> {
        self.ticket.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The address of the page, with the token, for who comes with the ticket first and is the user who started this.
    pub(super) fn admit(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        is_same_user: &dyn Fn() -> bool,
    ) -> Result<String, Failure> {
        self.check_name(headers)?;
        let given = uri.path().strip_prefix(ONCE).unwrap_or_default();
        if !is_same_user() {
            return Err(refusal(
                "This address works only for the user who started `kizami view`, on the same machine.",
            ));
        }
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        if ticket.as_ref().is_some_and(|ticket| same(given, ticket)) {
            *ticket = None;
            return Ok(format!("/?token={}", self.token));
        }
        let what = "This one-time address has already been used.";
        Err(refusal(what))
    }

    /// What lets the page load its files.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.page_key)
    }

    fn cookie_name(&self) -> String {
        format!("kizami-{}", self.address.port())
    }

    /// Whether a request is made to this machine's name, and not by a page of another site.
    fn check_name(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(header::HOST).unwrap_or_default();
        if !self.is_ours(host) {
            return Err(refusal("The request names another host than the server."));
        }
        if text(header::ORIGIN).is_some_and(|origin| origin != format!("http://{host}")) {
            return Err(refusal("Requests from other sites are refused."));
        }
        Ok(())
    }

    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
        self.check_name(headers)?;
        let path = uri.path();
        let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
        let page = matches!(path, "/" | "/index.html");
        // A link to the page may be anywhere: it has the token. Everything else is asked for by the page itself.
        if !page && site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Err(refusal("Requests from other sites are refused."));
        }
        let in_header = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
        let given = in_header.map_or_else(|| in_query(uri), str::to_owned);
        let for_page = || !path.starts_with("/api/") && !page && self.has_cookie(headers);
        if same(&given, &self.token) || for_page() {
            return Ok(());
        }
        let what = "The token is missing or wrong.";
        let next = "Open the complete address that `kizami view` printed; each start has a new token.";
        Err(Failure::plain(StatusCode::UNAUTHORIZED, what, next))
    }

    /// Names that cannot be made to lead here by somebody else: addresses, and the one that always means this machine.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        match bare.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || !self.address.ip().is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies =
            all.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
        cookies.any(|(name, value)| name == self.cookie_name() && same(value, &self.page_key))
    }
}

fn refusal(what: &str) -> Failure {
    Failure::plain(StatusCode::FORBIDDEN, what, "Open the address that `kizami view` printed.")
}

/// The token in an address; none if the address is odd in any way.
fn in_query(uri: &Uri) -> String {
    #[derive(Deserialize)]
    struct Token {
        token: String,
    }
    Query::try_from_uri(uri).map_or_else(|_| String::new(), |Query(Token { token })| token)
}

/// Compares in a time that does not tell how much of it is right.
fn same(given: &str, expected: &str) -> bool {
    let differences = given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && differences == 0
}

/// A new token.
fn random() -> io::Result<String> {
    let mut bytes = [0u8; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> Guard {
        Guard::new(address.parse().unwrap()).unwrap()
    }

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        let local = guard("127.0.0.1:8000");
        for host in ["127.0.0.1:8000", "localhost:9", "LOCALHOST", "[::1]:8000", "127.0.0.1"] {
            assert!(local.is_ours(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example",
            "10.1.2.3:8000",
            "127.0.0.1.nip.io",
        ] {
            assert!(!local.is_ours(host), "{host}");
        }
        let open = guard("0.0.0.0:8000");
        assert!(open.is_ours("10.1.2.3:8000") && !open.is_ours("evil.example:8000"));
    }

    #[test]
    fn a_ticket_is_good_once() {
        let guard = guard("127.0.0.1:8000");
        let uri: Uri = format!("/once/{}", guard.ticket().unwrap()).parse().unwrap();
        let mut headers = HeaderMap::new();
        let (same, other) = (&|| true, &|| false);
        assert!(guard.admit(&uri, &headers, same).is_err(), "without the name of this machine");
        headers.insert(header::HOST, "127.0.0.1:8000".parse().unwrap());
        assert!(guard.admit(&"/once/".parse().unwrap(), &headers, same).is_err());
        assert!(guard.admit(&uri, &headers, other).is_err() && guard.ticket().is_some(), "of another user");
        assert_eq!(guard.admit(&uri, &headers, same).unwrap(), format!("/?token={}", guard.token()));
        assert!(guard.admit(&uri, &headers, same).is_err() && guard.ticket().is_none());
        assert!(guard.admit(&"/once/".parse().unwrap(), &headers, same).is_err());
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (guard("127.0.0.1:1"), guard("127.0.0.1:1"));
        assert_eq!(one.token.len(), 2 * TOKEN_BYTES);
        assert!(one.token != other.token && one.token != one.page_key);
        assert!(same("abc", "abc") && !same("abd", "abc") && !same("ab", "abc") && !same("", "abc"));
    }
}
