//! Script, style and picture: part of the program, and kept by browsers for as long as they are the
//! same.
use crate::debate::hashed;
use crate::page::layout::Assets;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;

/// The script, built from the sources beside it.
const SCRIPT: &str = include_str!("assets/app.js");
/// The style sheet, which an export carries with it.
pub const STYLE: &str = include_str!("assets/app.css");
/// What a tab shows.
const PICTURE: &str = include_str!("assets/favicon.svg");

/// The addresses of what a page needs, each with the version of what it leads to.
struct Addresses {
    script: String,
    style: String,
}

static ADDRESSES: LazyLock<Addresses> = LazyLock::new(|| Addresses {
    script: format!("/assets/app.js?v={}", version(SCRIPT)),
    style: format!("/assets/app.css?v={}", version(STYLE)),
});

fn version(text: &str) -> String {
    hashed::hashed(&[text])[..12].to_owned()
}

/// Where the assets are.
pub fn assets() -> Assets<'static> {
    Assets { script: &ADDRESSES.script, style: &ADDRESSES.style }
}

/// The script.
pub(super) async fn script(headers: HeaderMap) -> Response {
    asset(&headers, "text/javascript; charset=utf-8", SCRIPT)
}

/// The style sheet.
pub(super) async fn style(headers: HeaderMap) -> Response {
    asset(&headers, "text/css; charset=utf-8", STYLE)
}

/// The picture.
pub(super) async fn picture(headers: HeaderMap) -> Response {
    asset(&headers, "image/svg+xml", PICTURE)
}

fn asset(headers: &HeaderMap, kind: &'static str, text: &'static str) -> Response {
    let tag = format!("\"{}\"", version(text));
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let same = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let keep = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
    ];
    if same {
        return (StatusCode::NOT_MODIFIED, keep).into_response();
    }
    (keep, [(header::CONTENT_TYPE, kind)], text).into_response()
}
