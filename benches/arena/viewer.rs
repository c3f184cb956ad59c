//! Viewers of the page: each reads a stream of server-sent events, and reconnects with
//! `Last-Event-ID`.
use super::http::{connect, format_request, read_head};
use super::options::LoadOptions;
use super::tally::Tally;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;

/// Spawns viewers, spread evenly over the debates, until the run ends.
pub(super) fn spawn_viewers(
    options: &LoadOptions,
    port: u16,
    debates: &[String],
    tally: &Arc<Tally>,
) {
    for debate in debates.iter().cycle().take(options.viewers.min(debates.len() * options.viewers))
    {
        let (path, tally) = (format!("/debates/{debate}/events"), tally.clone());
        tokio::spawn(async move {
            let (mut seen, mut last_event_id) = (HashSet::new(), String::new());
            let mut counted = false;
            loop {
                let _ =
                    follow_events(port, &path, &tally, &mut seen, &mut last_event_id, &mut counted)
                        .await;
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
    }
}

async fn follow_events(
    port: u16,
    path: &str,
    tally: &Tally,
    seen: &mut HashSet<String>,
    last_event_id: &mut String,
    counted: &mut bool,
) -> io::Result<()> {
    let mut stream = connect(port).await?;
    let mut headers = vec![("accept", "text/event-stream")];
    if !last_event_id.is_empty() {
        headers.push(("last-event-id", last_event_id.as_str()));
    }
    let text = format_request(port, "GET", path, &headers, None);
    tokio::io::AsyncWriteExt::write_all(&mut stream, text.as_bytes()).await?;
    let (status, _, _) = read_head(&mut stream).await?;
    if status != 200 {
        tally.record_refusal(&format!("{status} for a viewer"));
        // A retry would get the same error, so this viewer stops.
        std::future::pending::<()>().await;
    }
    tally.viewer_connections.fetch_add(1, Ordering::Relaxed);
    if !std::mem::replace(counted, true) {
        tally.connected_viewers.fetch_add(1, Ordering::Relaxed);
    }
    let mut buffer = String::new();
    loop {
        buffer.push_str(&read_chunk(&mut stream).await?);
        while let Some(end) = buffer.find("\n\n") {
            let event: String = buffer.drain(..end + 2).collect();
            if !event.lines().any(|line| line.starts_with("data:")) {
                continue;
            }
            tally.viewer_events.fetch_add(1, Ordering::Relaxed);
            let id = event.lines().find_map(|line| line.strip_prefix("id:"));
            if let Some(id) = id.map(str::trim).filter(|id| !id.is_empty()) {
                id.clone_into(last_event_id);
                if !seen.insert(event.clone()) {
                    tally.repeated_events.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Reads the next chunk of a body with chunked transfer encoding.
async fn read_chunk(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
    let mut bytes = vec![0; length + 2];
    stream.read_exact(&mut bytes).await?;
    if length == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
