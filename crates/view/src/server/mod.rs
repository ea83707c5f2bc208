//! Answers browsers: the page, and questions about the traces that were opened.
//!
//! Promises, each with its test: only this machine is listened to unless another address is asked for; a request
//! without the token gets nothing of a trace; names other than this machine's in `Host` (another site's name that was
//! made to lead here) and requests other sites make (`Origin`, `Sec-Fetch-Site`) are refused; pages may load nothing
//! from elsewhere and run no script that is not in the binary; no part of a request ever becomes the name of a file;
//! nothing can be changed by a request.
//!
//! It draws nothing and works nothing out itself: see `query` and `layer`.

mod assets;
mod encode;
mod guard;
mod routes;

use crate::layer::{Layer, Opened, Origin};
use crate::query::order::Order;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use guard::Guard;
use routes::{Failure, Parameters, Reply};
use rustc_hash::FxHashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What is worked out in the background is waited for so long before a request is sent away.
const PATIENCE: Duration = Duration::from_secs(25);
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// Questions answered at the same time.
const WORKERS: usize = 8;
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Ranks in an order that took long to find, by layer and kind of order.
type Orders = FxHashMap<(usize, u8), Arc<Vec<u32>>>;

/// What is looked at: layers, and what was worked out for all requests alike.
#[derive(Debug)]
pub struct View {
    layers: Vec<Layer>,
    orders: Mutex<Orders>,
}

impl View {
    /// Of traces, in this order; behind them come the same on an ideal network.
    pub fn new(traces: &[Arc<Opened>]) -> View {
        let of = |origin| traces.iter().map(move |opened| Layer { opened: Arc::clone(opened), origin });
        View { layers: of(Origin::Trace).chain(of(Origin::Ideal)).collect(), orders: Mutex::default() }
    }

    /// All ranks of a layer in an order, worked out once.
    fn order(&self, layer: usize, order: Order, work: impl FnOnce() -> Vec<u32>) -> Arc<Vec<u32>> {
        let key = (layer, order as u8);
        let lock = || self.orders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let made = Arc::new(work());
        lock().insert(key, Arc::clone(&made));
        made
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    view: View,
    guard: Guard,
}

impl Server {
    /// Listens at an address; port 0 is any that is free.
    pub fn bind(view: View, address: SocketAddr) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let guard = Guard::new(listener.local_addr()?)?;
        Ok(Server { listener, shared: Arc::new(Shared { view, guard }) })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What to open, with the token.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}/?token={}", self.address()?, self.shared.guard.token()))
    }

    /// Answers until the process ends.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WORKERS)
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = Router::new().fallback(answer).with_state(self.shared);
            axum::serve(listener, router).await
        })
    }
}

/// Answers one request.
async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let parameters = Parameters::of(uri.query().unwrap_or_default());
    let path = uri.path();
    let reply = if method != Method::GET {
        Err(Failure::plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "Only GET is answered.",
            "Nothing can be changed here.",
        ))
    } else if let Err(refusal) = shared.guard.check(path, &parameters, &headers) {
        Err(refusal)
    } else if let Some(route) = path.strip_prefix("/api/") {
        ask(&shared, route, parameters).await
    } else {
        assets::find(path)
            .map(|(name, bytes)| Reply { kind: assets::kind(name), body: bytes.into() })
            .ok_or_else(|| {
                Failure::plain(
                    StatusCode::NOT_FOUND,
                    "There is no such page.",
                    "Open the address `kizami view` printed.",
                )
            })
    };
    let page = !path.starts_with("/api/") && reply.is_ok();
    let mut response = match reply {
        Ok(reply) => response(StatusCode::OK, reply.kind, reply.body),
        Err(failure) => response(failure.status, "application/json", failure.json()),
    };
    if let (true, Ok(cookie)) = (page, HeaderValue::from_str(&shared.guard.cookie())) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Asks away from the thread that listens, and again as long as the answer is being worked out.
async fn ask(shared: &Arc<Shared>, route: &str, parameters: Parameters) -> Result<Reply, Failure> {
    let begin = Instant::now();
    let parameters = Arc::new(parameters);
    loop {
        let (shared, route, parameters) = (Arc::clone(shared), route.to_owned(), Arc::clone(&parameters));
        let asked =
            tokio::task::spawn_blocking(move || routes::answer(&shared.view, &route, &parameters)).await;
        let asked = asked.unwrap_or_else(|_| {
            let what = "The question could not be answered.";
            Err(Failure::plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                what,
                "The trace may be damaged: try kizami info.",
            ))
        });
        match asked {
            Err(failure) if failure.is_pending() && begin.elapsed() < PATIENCE => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            done => return done,
        }
    }
}

fn response(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in
        [("cross-origin-resource-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin")]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
