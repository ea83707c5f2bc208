//! Who may ask the server, and what the answers look like.

mod common;

use common::{sealed, stencil, write_rank};
use kizami_testing::segments::SegmentOwner;
use kizami_view::layer::Opened;
use kizami_view::server::{Server, View};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tempfile::TempDir;

struct Running {
    address: SocketAddr,
    token: String,
    _folder: TempDir,
}

/// What came back.
struct Got {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Got {
    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(line).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }
}

fn serve(folder: TempDir) -> Running {
    let opened = Opened::open(&folder.path().join("run.kz")).unwrap();
    let server = Server::bind(View::new(&[opened]), "127.0.0.1:0".parse().unwrap()).unwrap();
    let (address, url) = (server.address().unwrap(), server.url().unwrap());
    let token = url.split_once("token=").unwrap().1.to_owned();
    std::thread::spawn(move || server.run());
    Running { address, token, _folder: folder }
}

fn running() -> Running {
    let folder = tempfile::tempdir().unwrap();
    stencil(&folder.path().join("run.kz"), 4, 5);
    serve(folder)
}

impl Running {
    /// Sends a request as it is, line by line.
    fn send(&self, request: &str) -> Got {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let end = all.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer");
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Got { status, head, body: all[end + 4..].to_vec() }
    }

    fn get_with(&self, path: &str, host: &str, headers: &str) -> Got {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n"))
    }

    /// As the page asks.
    fn get(&self, path: &str) -> Got {
        self.get_with(path, &self.address.to_string(), &format!("X-Kizami-Token: {}\r\n", self.token))
    }
}

#[test]
fn nothing_is_answered_without_the_token() {
    let running = running();
    let host = running.address.to_string();
    for path in ["/", "/index.html", "/api/run", "/api/timeline?layer=0", "/api/nothing", "/nothing"] {
        let got = running.get_with(path, &host, "");
        assert_eq!(got.status, 401, "{path}");
        let wrong = running.get_with(path, &host, "X-Kizami-Token: 00000000000000000000000000000000\r\n");
        assert_eq!(wrong.status, 401, "{path}");
        assert!(wrong.json()["next"].is_string());
    }
    assert_eq!(running.get("/api/run").status, 200);
    let in_query = format!("/api/run?token={}", running.token);
    assert_eq!(running.get_with(&in_query, &host, "").status, 200);
    let longer = format!("/api/run?token={}0", running.token);
    assert_eq!(running.get_with(&longer, &host, "").status, 401);
}

#[test]
fn the_cookie_of_the_page_is_good_for_its_files_only() {
    let running = running();
    let host = running.address.to_string();
    let page = running.get_with(&format!("/?token={}", running.token), &host, "");
    assert_eq!(page.status, 200);
    let cookie = page.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert!(!cookie.contains(&running.token), "cookies are sent to other ports as well");
    let header = format!("Cookie: a=b; {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(running.get_with("/no-such-file.js", &host, &header).status, 404);
    for path in ["/api/run", "/", "/index.html"] {
        assert_eq!(running.get_with(path, &host, &header).status, 401, "{path}");
    }
}

#[test]
fn names_of_others_and_pages_of_others_are_refused() {
    let running = running();
    let (host, token) = (running.address.to_string(), format!("X-Kizami-Token: {}\r\n", running.token));
    for name in ["evil.example", "evil.example:80", "10.0.0.1", "localhost.evil.example", "[2001:db8::1]:80"]
    {
        assert_eq!(running.get_with("/api/run", name, &token).status, 403, "{name}");
    }
    let port = running.address.port();
    for name in [format!("localhost:{port}"), "localhost:9999".to_owned(), format!("[::1]:{port}")] {
        assert_eq!(running.get_with("/api/run", &name, &token).status, 200, "{name}");
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        let headers = format!("{token}Origin: {origin}\r\n");
        assert_eq!(running.get_with("/api/run", &host, &headers).status, 403, "{origin}");
    }
    let own = format!("{token}Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(running.get_with("/api/run", &host, &own).status, 200);
    let other = format!("{token}Sec-Fetch-Site: cross-site\r\n");
    assert_eq!(running.get_with("/api/run", &host, &other).status, 403);
}

#[test]
fn no_path_leads_to_a_file() {
    let running = running();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/./index.html",
        "/index.html/",
        "/INDEX.HTML",
        "/index.html%00",
        "/run.json",
        "/assets/index.html",
        "/api/../run.json",
        "/api/run/../../run.json",
    ] {
        assert_eq!(running.get(path).status, 404, "{path}");
    }
}

#[test]
fn nothing_can_be_changed_and_odd_requests_are_refused() {
    let running = running();
    let (host, token) = (running.address, &running.token);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let request = format!(
            "{method} /api/run HTTP/1.1\r\nHost: {host}\r\nX-Kizami-Token: {token}\r\nContent-Length: 0\r\n\
             Connection: close\r\n\r\n"
        );
        assert_eq!(running.send(&request).status, 405, "{method}");
    }
    for query in [
        "timeline?layer=99",
        "timeline?layer=x",
        "timeline?columns=0",
        "timeline?columns=999999999",
        "timeline?from=9&to=3",
        "timeline?ranks=a-b",
        "timeline?order=random",
        "histogram?op=-1",
        "calls?limit=99999999",
        "matrix?by=planet",
        "flow?event=hello",
        "calls?sites=1;drop",
    ] {
        let got = running.get(&format!("/api/{query}"));
        assert_eq!(got.status, 400, "{query}: {:?}", got.json());
    }
    assert_eq!(running.get("/api/calls?limit=1").status, 413);
    assert_eq!(running.get("/api/flow?event=99:0").status, 404);
    assert_eq!(running.get("/api/links").status, 404);
    assert_eq!(running.get("/api/timeline?ranks=0-4294967295&rows=2&columns=2").status, 200);
    assert_eq!(running.get("/api/timeline?from=-9223372036854775808&to=9223372036854775807").status, 200);
}

#[test]
fn answers_forbid_everything_a_page_does_not_need() {
    let running = running();
    for path in ["/", "/api/run", "/nothing"] {
        let got = running.get(path);
        let policy = got.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(got.header("x-frame-options"), Some("DENY"));
        assert_eq!(got.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(got.header("access-control-allow-origin"), None);
    }
    assert_eq!(running.get("/api/run").header("content-type"), Some("application/json"));
}

#[test]
fn every_question_is_answered() {
    let running = running();
    let run = running.get("/api/run").json();
    assert_eq!(run["layers"][0]["ranks"], 4);
    assert_eq!(
        (&run["layers"][0]["kind"], &run["layers"][1]["kind"]),
        (&"recorded".into(), &"replayed".into())
    );
    assert_eq!(run["categories"].as_array().unwrap().len(), 9);
    let timeline = running.get("/api/timeline?columns=8&rows=4");
    let number =
        |body: &[u8], place: usize| u32::from_le_bytes(body[place * 4..place * 4 + 4].try_into().unwrap());
    assert_eq!([0, 1, 2, 3].map(|place| number(&timeline.body, place)), [8, 4, 9, 1]);
    assert_eq!(timeline.body.len(), 16 + 4 * 4 + 8 * 4 * 9);
    for order in ["wait", "cluster"] {
        let got = running.get(&format!("/api/timeline?columns=2&rows=2&ranks=1-2&order={order}"));
        assert_eq!((got.status, number(&got.body, 1)), (200, 2));
    }
    let calls = running.get("/api/calls");
    let count = number(&calls.body, 0) as usize;
    assert_eq!(calls.body.len(), 4 + count * (8 + 8 + 4 + 4 + 4) + (count * 2).next_multiple_of(4));
    assert_eq!(running.get("/api/histogram").json()["count"], count);
    let messages = running.get("/api/messages");
    assert_eq!(number(&messages.body, 0), 4 * 5 * 4);
    let matrix = running.get("/api/matrix");
    assert_eq!((number(&matrix.body, 0), matrix.body.len()), (4, 4 + 4 * 16 * 8));
    assert_eq!(running.get("/api/matrix/labels").json()["labels"][3], "3");
    assert_eq!(running.get("/api/collectives").json()["collectives"].as_array().unwrap().len(), 5);
    assert!(running.get("/api/tree").json()["nodes"].as_array().unwrap().len() > 4);
    assert!(running.get("/api/path").json()["segments"].as_array().unwrap().len() > 4);
    assert_eq!(running.get("/api/flow?event=0:999999999999").json()["event"]["rank"], 0);
    assert_eq!(running.get("/api/verdict").json()["kind"], "recorded");
    assert_eq!(running.get("/api/parallelism?columns=3").json()["recorded"].as_array().unwrap().len(), 3);
    assert_eq!(running.get("/api/timeline?layer=1&columns=8&rows=4").status, 200);
    let again = running.get("/api/parallelism?columns=3").json();
    assert_eq!(again["ideal"].as_array().unwrap().len(), 3);
}

#[test]
fn whatever_a_trace_calls_things_is_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let hostile = "<script>alert(1)<\u{1b}[31m\"'&";
    let mut who = SegmentOwner::rank(0, 1);
    who.host = "plain".to_owned();
    write_rank(&path, &who, std::iter::once(kizami_testing::call("MPI_Barrier", 0, 10, 20)));
    sealed(&path);
    // As somebody who sends a trace may have changed it.
    let mut run: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path.join("run.json")).unwrap()).unwrap();
    run["health"]["problems"] = serde_json::json!([hostile, "x".repeat(10 << 20)]);
    run["executable"] = hostile.into();
    std::fs::write(path.join("run.json"), run.to_string()).unwrap();
    let running = serve(folder);
    let got = running.get("/api/run");
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert!(got.body.len() < 100_000, "nobody reads 10 MB");
    assert!(!got.body.contains(&0x1b), "control characters are written as numbers");
    assert_eq!(got.json()["health"]["problems"][0], hostile);
    let verdict = running.get("/api/verdict");
    assert_eq!(verdict.json()["executable"], hostile);
    assert!(verdict.body.len() < 100_000);
}

#[test]
fn connections_that_say_nothing_make_room_for_others() {
    let running = running();
    let mut trusted = TcpStream::connect(running.address).unwrap();
    let ask = |stream: &mut TcpStream| {
        let (host, token) = (running.address, &running.token);
        let request = format!("GET /api/none HTTP/1.1\r\nHost: {host}\r\nX-Kizami-Token: {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 1 << 12];
        let length = stream.read(&mut answer).unwrap();
        assert!(
            answer[..length].starts_with(b"HTTP/1.1 404"),
            "{}",
            String::from_utf8_lossy(&answer[..length])
        );
    };
    ask(&mut trusted);
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..400 {
        let mut stream = TcpStream::connect(running.address).unwrap();
        if number % 2 == 1 {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").unwrap();
        }
        idle.push(stream);
    }
    assert_eq!(running.get("/api/run").status, 200);
    idle[0].set_read_timeout(Some(Duration::from_secs(100))).unwrap();
    let end = idle[0].read(&mut [0]).map_err(|error| error.kind());
    assert!(matches!(end, Ok(0) | Err(std::io::ErrorKind::ConnectionReset)), "the oldest has to go: {end:?}");
    let mut last = idle.pop().unwrap();
    last.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert_eq!(last.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "the newest stays");
    ask(&mut trusted);
}

#[test]
fn an_address_for_once_leads_its_user_to_the_page() {
    let folder = tempfile::tempdir().unwrap();
    stencil(&folder.path().join("run.kz"), 4, 5);
    let opened = Opened::open(&folder.path().join("run.kz")).unwrap();
    let server = Server::bind(View::new(&[opened]), "127.0.0.1:0".parse().unwrap()).unwrap();
    let (address, url, once) =
        (server.address().unwrap(), server.url().unwrap(), server.url_for_once().unwrap());
    let token = url.split_once("token=").unwrap().1.to_owned();
    std::thread::spawn(move || server.run());
    let running = Running { address, token, _folder: folder };
    let path = once.strip_prefix(&format!("http://{address}")).unwrap();
    let got = running.get_with(path, &address.to_string(), "");
    assert_eq!(got.status, 303);
    assert_eq!(got.header("location"), Some(&*format!("/?token={}", running.token)));
    assert_eq!(running.get_with(path, &address.to_string(), "").status, 403);
}
