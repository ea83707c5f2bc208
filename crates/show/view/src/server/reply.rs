//! What a request gets back: an answer, or why there is none.

use super::text::shown;
use crate::query::TooMany;
use crate::slot::Answer;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;

/// An answer.
pub(super) struct Reply {
    pub kind: &'static str,
    pub body: Vec<u8>,
}

impl Reply {
    /// Columns, as `encode` lays them out.
    pub(super) fn bytes(body: Vec<u8>) -> Reply {
        Reply { kind: "application/octet-stream", body }
    }

    pub(super) fn json(answer: &impl Serialize) -> Result<Reply, Failure> {
        let body = serde_json::to_vec(answer).map_err(|error| {
            let next = "The trace may be damaged; check it with kizami info.";
            Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), next)
        })?;
        Ok(Reply { kind: "application/json", body })
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = self.body.into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        response
    }
}

/// Why there is no answer, and what to do.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Failure {
    #[serde(skip)]
    status: StatusCode,
    error: String,
    next: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<f64>,
}

impl Failure {
    pub(super) fn plain(status: StatusCode, error: &str, next: &str) -> Failure {
        Failure { status, error: error.to_owned(), next: next.to_owned(), count: None, progress: None }
    }

    pub(super) fn bad(error: String) -> Failure {
        Failure::plain(
            StatusCode::BAD_REQUEST,
            &error,
            "The page and the server may have different versions; reload the page.",
        )
    }

    pub(super) fn pending(progress: f64) -> Failure {
        let what = "Still being computed.";
        let failure = Failure::plain(StatusCode::SERVICE_UNAVAILABLE, what, "Try again in a moment.");
        Failure { progress: Some(progress), ..failure }
    }

    /// Whether asking again will help.
    pub(super) fn is_pending(&self) -> bool {
        self.progress.is_some()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        (self.status, Reply { kind: "application/json", body }).into_response()
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Failure {
        Failure::bad(shown(&rejection.body_text()))
    }
}

impl From<TooMany> for Failure {
    fn from(many: TooMany) -> Failure {
        let what = format!("{} items are too many to show one by one.", many.count);
        let failure =
            Failure::plain(StatusCode::PAYLOAD_TOO_LARGE, &what, "Select a shorter range or fewer ranks.");
        Failure { count: Some(many.count), ..failure }
    }
}

/// What there is, or why not.
pub(super) fn ready<T>(answer: Answer<T>) -> Result<Arc<T>, Failure> {
    match answer {
        Answer::Ready(value) => Ok(value),
        Answer::Pending(progress) => Err(Failure::pending(progress)),
        Answer::Failed(why) => {
            let next = "Check the trace with kizami info; if it is damaged, record it again.";
            Err(Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, &why, next))
        }
    }
}
