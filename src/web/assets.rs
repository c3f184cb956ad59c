//! Script, style sheet and favicon, embedded in the binary. Their URLs contain a content hash, so
//! browsers may cache them forever.
use crate::debate::content_hash;
use crate::page::layout::AssetUrls;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;

/// Bundled from `src/web/ts`.
const SCRIPT: &str = include_str!("assets/app.js");
/// The style sheet, which exported files embed.
pub const STYLE: &str = include_str!("assets/app.css");
const FAVICON: &str = include_str!("assets/favicon.svg");

/// URLs of the assets, with a content hash as the query.
struct AssetPaths {
    script: String,
    style: String,
}

static ASSET_PATHS: LazyLock<AssetPaths> = LazyLock::new(|| AssetPaths {
    script: format!("/assets/app.js?v={}", content_version(SCRIPT)),
    style: format!("/assets/app.css?v={}", content_version(STYLE)),
});

fn content_version(text: &str) -> String {
    content_hash::content_hash(&[text])[..12].to_owned()
}

/// URLs of the assets, for page templates.
pub fn asset_urls() -> AssetUrls<'static> {
    AssetUrls { script: &ASSET_PATHS.script, style: &ASSET_PATHS.style }
}

/// Handler of the script.
pub(super) async fn script(headers: HeaderMap) -> Response {
    serve_asset(&headers, "text/javascript; charset=utf-8", SCRIPT)
}

/// Handler of the style sheet.
pub(super) async fn style(headers: HeaderMap) -> Response {
    serve_asset(&headers, "text/css; charset=utf-8", STYLE)
}

/// Handler of the favicon.
pub(super) async fn favicon(headers: HeaderMap) -> Response {
    serve_asset(&headers, "image/svg+xml", FAVICON)
}

fn serve_asset(headers: &HeaderMap, content_type: &'static str, text: &'static str) -> Response {
    let etag = format!("\"{}\"", content_version(text));
    let if_none_match = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_unchanged = if_none_match
        .is_some_and(|if_none_match| if_none_match.split(',').any(|one| one.trim() == etag));
    let cache_headers = [
        (header::ETAG, etag),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
    ];
    if is_unchanged {
        return (StatusCode::NOT_MODIFIED, cache_headers).into_response();
    }
    (cache_headers, [(header::CONTENT_TYPE, content_type)], text).into_response()
}
