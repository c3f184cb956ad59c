//! `debate view`: local web server for the archive, on loopback only.
use super::args::ViewArgs;
use super::exit::{CliError, Exit};
use super::output::ViewOutput;
use super::screen::Screen;
use super::workspace;
use crate::app::App;
use crate::config::Config;
use crate::engine::signals::wait_for_shutdown;
use crate::web::SiteScope;
use crate::web::auth::AuthTokens;
use crate::web::listen;
use crate::web::origin_check::OriginCheck;
use crate::web::site::{self, SiteConfig};
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use tokio::net::TcpListener;

/// Shown on the page to visitors without the owner's token.
const TOKEN_HINT: &str = "To add a remark, to vote or to pause, open the address with a token that \
                    `debate view` printed.";

/// Handler of `debate view`: runs the web server until Ctrl-C.
pub(super) async fn view(
    args: &ViewArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let address = parse_loopback_address(&args.bind)?;
    let id = match args.id.as_deref() {
        Some(id) => Some(workspace::resolve_debate_id(Some(id), config, app, screen).await?),
        None => None,
    };
    let bind_error = |error| CliError::File(address.to_string(), error);
    let listener = TcpListener::bind(address).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    let auth = AuthTokens::new(&*app.archive().key, "view", true)?;
    let next = id.map(|id| format!("&next={id}")).unwrap_or_default();
    let base = format!("http://{address}/");
    let enter = format!("{base}enter?token={}{next}", auth.owner_token());
    tracing::info!(%address, "server started");
    app.set_client_name("the live page");
    let site = site::router(SiteConfig {
        app: app.clone(),
        workspace: workspace::current_workspace(config),
        scope: SiteScope::All,
        auth,
        origin_check: OriginCheck::new(address, &[]),
        sign_in_hint: TOKEN_HINT.into(),
        arena: None,
    });
    if args.json.json {
        screen.print_json(&ViewOutput { v: 1, url: base.clone(), enter: enter.clone() })?;
    } else {
        screen.print(&format!("{enter}\n"))?;
        screen.note(&format!(
            "[INFO] Everybody on this machine can read at {base}; the address above lets you act. \
             Ctrl-C stops it; debates go on."
        ));
    }
    let _page = if args.open && !args.no_open { open_browser(&enter, screen) } else { None };
    tokio::select! {
        () = listen(listener, site) => {}
        () = wait_for_shutdown() => {}
    }
    Ok(Exit::Ok)
}

/// Parses a port or address. Only loopback is allowed, because the whole archive is served.
fn parse_loopback_address(text: &str) -> Result<SocketAddr, CliError> {
    let full = match text.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => text.replace("localhost:", "127.0.0.1:"),
    };
    let hint = || "write a port, or `127.0.0.1:PORT`; 0 picks a free one".to_owned();
    let address: SocketAddr = full
        .parse()
        .map_err(|_| CliError::Usage(format!("`{text}` is not an address to listen on"), hint()))?;
    if !address.ip().is_loopback() {
        let message = format!("`{text}` can be reached by others, and the whole archive is shown");
        return Err(CliError::Usage(message, hint()));
    }
    Ok(address)
}

/// Opens the URL in a browser through a private temporary page: other users can read command lines,
/// and the URL contains the token.
fn open_browser(address: &str, screen: &mut Screen) -> Option<tempfile::NamedTempFile> {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let page = tempfile::Builder::new().prefix("debate-").suffix(".html").tempfile();
    let mut page = page.ok()?;
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>debate</title>"
    );
    page.write_all(html.as_bytes()).ok()?;
    let mut command = Command::new(program);
    command.arg(page.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(child) => tracing::debug!(pid = child.id(), "browser started"),
        Err(_) => screen
            .warn(&format!("[WARN] `{program}` cannot be started: open the address yourself.")),
    }
    Some(page)
}
