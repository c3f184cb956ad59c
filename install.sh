#!/usr/bin/env bash
# Builds debate, installs it for this user, and ends with the offline demo.
set -euo pipefail

prefix="${HOME:?HOME is not set}/.local"
dry_run=no
demo=yes
uninstall=no

usage() {
  cat <<'USAGE'
Usage: ./install.sh [--prefix DIR] [--no-demo] [--dry-run] [--uninstall]

  --prefix DIR   install to DIR/bin instead of ~/.local/bin
  --no-demo      do not play the demo at the end
  --dry-run      say what would be done, and do nothing
  --uninstall    remove what this script installed; debates are kept
USAGE
}

while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) prefix="${2:?--prefix needs a folder}"; shift 2 ;;
    --prefix=*) prefix="${1#--prefix=}"; shift ;;
    --no-demo) demo=no; shift ;;
    --dry-run) dry_run=yes; shift ;;
    --uninstall) uninstall=yes; shift ;;
    -h | --help) usage; exit 0 ;;
    *) printf 'install.sh: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
  esac
done

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
target="$prefix/bin/debate"
say() { printf '==> %s\n' "$*"; }
run() {
  if [ "$dry_run" = yes ]; then
    printf '    would run:'
    printf ' %q' "$@"
    printf '\n'
  else
    "$@"
  fi
}

if [ "$uninstall" = yes ]; then
  say "Removing $target"
  run rm -f "$target"
  say "Done. Your debates are kept; see 'Where things are' in the README for where."
  exit 0
fi

if ! command -v cargo >/dev/null 2>&1; then
  printf 'install.sh: cargo was not found. Install Rust 1.90 or newer (https://rustup.rs), then run this again.\n' >&2
  exit 1
fi
if ! command -v cc >/dev/null 2>&1 && ! command -v gcc >/dev/null 2>&1 && ! command -v clang >/dev/null 2>&1; then
  printf 'install.sh: no C compiler was found (SQLite is compiled in). Install gcc or clang, then run this again.\n' >&2
  exit 1
fi

say "Building (the first time takes a few minutes)"
run cargo build --release --locked --manifest-path "$here/Cargo.toml"

say "Installing $target"
built="${CARGO_TARGET_DIR:-$here/target}/release/debate"
run mkdir -p "$prefix/bin"
run install -m 755 "$built" "$target.new"
run mv -f "$target.new" "$target"

if [ "$demo" = yes ]; then
  say "A debate, offline, with scripted voices, about this repository"
  if [ "$dry_run" = yes ]; then
    run "$target" demo
  else
    (cd "$here" && "$target" demo)
  fi
fi

if [ "$dry_run" = yes ]; then
  say "Nothing was done."
  exit 0
fi
say "Installed: $target"
case ":$PATH:" in
  *":$prefix/bin:"*) say "Type: debate --help" ;;
  *) say "$prefix/bin is not on your PATH. Type: export PATH=\"$prefix/bin:\$PATH\" && debate --help" ;;
esac
