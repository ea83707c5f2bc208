//! Answers browsers: the page, and questions about the traces that were opened.
//!
//! Promises, each with its test: only this machine is listened to unless another address is asked for; a request
//! without the token gets nothing of a trace; names other than this machine's in `Host` (another site's name that was
//! made to lead here) and requests other sites make (`Origin`, `Sec-Fetch-Site`) are refused; pages may load nothing
//! from elsewhere and run no script that is not in the binary; no part of a request ever becomes the name of a file;
//! nothing can be changed by a request; connections without the token keep nobody out.
//!
//! It draws nothing and works nothing out itself: see `query` and `layer`.

mod answers;
mod assets;
mod encode;
mod guard;
mod links;
mod parameters;
mod reply;
mod routes;
mod run;
mod shared;
mod task_answers;
mod tasks;
mod text;
mod threads;
#[cfg(test)]
mod typescript;
mod view;

pub use view::View;

use crate::connections::{Caller, Gate};
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use guard::Guard;
use reply::{Failure, Reply};
use shared::Shared;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// Questions answered at the same time.
const WORKERS: usize = 8;
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
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

    /// What to have a browser open: it leads to the page once, and tells nothing to others who read it afterwards.
    pub fn url_for_once(&self) -> io::Result<String> {
        let ticket = self.shared.guard.ticket().unwrap_or_default();
        Ok(format!("http://{}{}{ticket}", self.address()?, guard::ONCE))
    }

    /// Answers until the process ends.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WORKERS)
            .build()?;
        runtime.block_on(async {
            let questions = router(self.shared).into_make_service_with_connect_info::<Caller>();
            axum::serve(Gate::new(self.listener)?, questions).await
        })
    }
}

/// The page and the questions, behind the guard.
fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .nest("/api", routes::questions())
        .fallback(page)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}

/// A file of the page.
async fn page(uri: Uri) -> Result<Reply, Failure> {
    let found = assets::find(uri.path());
    found.map(|(name, bytes)| Reply { kind: assets::kind(name), body: bytes.into() }).ok_or_else(|| {
        let next = "Open the address that `kizami view` printed.";
        Failure::plain(StatusCode::NOT_FOUND, "This page does not exist.", next)
    })
}

/// Lets through what may be asked, and forbids in every answer whatever a page does not need.
async fn guarded(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let is_page = !request.uri().path().starts_with("/api/");
    let allowed = if request.method() == Method::GET {
        shared.guard.check(request.uri(), request.headers())
    } else {
        let next = "The viewer is read-only.";
        Err(Failure::plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET requests are supported.", next))
    };
    let comes_once = request.method() == Method::GET && request.uri().path().starts_with(guard::ONCE);
    let mut response = if comes_once {
        match shared.guard.admit(request.uri(), request.headers(), &|| caller.is_same_user()) {
            Ok(page) => Redirect::to(&page).into_response(),
            Err(refusal) => refusal.into_response(),
        }
    } else {
        match allowed {
            Ok(()) => {
                caller.trust();
                next.run(request).await
            }
            Err(refusal) => refusal.into_response(),
        }
    };
    let found = response.status() == StatusCode::OK;
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", CONTENT_POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let (true, Ok(cookie)) = (is_page && found, HeaderValue::from_str(&shared.guard.cookie())) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}
