//! What is answered.

use super::accept::negotiate;
use super::follow::Followed;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

const INDEX: &str = "pilothouse: /metrics, /healthz\n";

pub(super) fn routes(followed: Arc<Followed>) -> Router {
    Router::new()
        .route("/", get(|| async { INDEX }))
        .route("/metrics", get(metrics))
        .route("/healthz", get(healthz))
        .fallback(|| async { (StatusCode::NOT_FOUND, "not found; there are /metrics and /healthz\n") })
        .method_not_allowed_fallback(|| async { (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")], "only GET and HEAD\n") })
        .with_state(followed)
}

async fn metrics(State(followed): State<Arc<Followed>>, headers: HeaderMap) -> Response {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",");
    let format = negotiate(&accept);
    let body = followed.lock().meter.exposition(format);
    ([(header::CONTENT_TYPE, format.content_type()), (header::VARY, "Accept")], body).into_response()
}

/// 200 while the engine runs, 503 once no more events will come.
async fn healthz(State(followed): State<Arc<Followed>>) -> Response {
    let known = followed.lock();
    let body = serde_json::json!({
        "alive": !known.is_over,
        "build": known.about.build,
        "run": known.run,
        "config_sha256": known.about.config_sha256,
        "state": known.state,
        "events": known.events,
    });
    let status = if known.is_over { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (status, [(header::CONTENT_TYPE, "application/json")], format!("{body}\n")).into_response()
}
