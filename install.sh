#!/usr/bin/env bash
# Installs debate for this user: from a clone it is built, from a release archive it is taken as it is.
# Then the coding tools found here are told of it, and the offline demo is played.
set -euo pipefail

prefix="${HOME:?HOME is not set}/.local"
dry_run=no
demo=yes
clients=yes
uninstall=no

usage() {
  cat <<'USAGE'
Usage: ./install.sh [--prefix DIR] [--no-demo] [--no-clients] [--dry-run] [--uninstall]

  --prefix DIR   install to DIR/bin instead of ~/.local/bin
  --no-demo      do not play the demo at the end
  --no-clients   leave the settings of your coding tools alone
  --dry-run      say what would be done, and do nothing
  --uninstall    remove what this script installed; debates are kept
  -h, --help     this text
USAGE
}

say() { printf '==> %s\n' "$*"; }
warn() { printf 'install.sh: %s\n' "$*" >&2; }
die() { warn "$@"; exit 1; }
wrong() { warn "$@"; usage >&2; exit 2; }

while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) prefix="${2:-}"; shift; [ $# -eq 0 ] || shift ;;
    --prefix=*) prefix="${1#--prefix=}"; shift ;;
    --no-demo) demo=no; shift ;;
    --no-clients) clients=no; shift ;;
    --dry-run) dry_run=yes; shift ;;
    --uninstall) uninstall=yes; shift ;;
    -h | --help) usage; exit 0 ;;
    *) wrong "unknown option $1" ;;
  esac
done
case "$prefix" in
  '' | -*) wrong "--prefix needs a folder" ;;
  /* | [A-Za-z]:*) ;;
  *) prefix="$PWD/$prefix" ;; # the demo is played in another folder
esac

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
case "$(uname -s)" in
  MINGW* | MSYS* | CYGWIN*) exe=.exe ;;
  *) exe= ;;
esac
target="$prefix/bin/debate$exe"

run() {
  if [ "$dry_run" = yes ]; then
    printf '    would run:'
    printf ' %q' "$@"
    printf '\n'
  else
    "$@"
  fi
}
knows() { [ -x "$1" ] && "$1" "$2" --help >/dev/null 2>&1 </dev/null; }
version_of() { "$1" --version 2>/dev/null </dev/null | sed -n 's/^debate \([^ ]*\).*/\1/p' || true; }
manifest() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$here/Cargo.toml"; }

if [ "$uninstall" = yes ]; then
  # The clients first: only the program itself knows what it has written where.
  if [ "$clients" = yes ] && knows "$target" uninit; then
    say "Taking debate out of your coding tools"
    if [ "$dry_run" = yes ]; then
      "$target" uninit --dry-run </dev/null || true
    else
      "$target" uninit </dev/null ||
        warn "that did not work everywhere; take the server named debate out of the others by hand"
    fi
  fi
  say "Removing $target"
  run rm -f "$target"
  if [ "$dry_run" = yes ]; then
    say "Nothing was done."
  else
    say "Done. Your debates are kept; see 'Where things are' in the README for where."
  fi
  exit 0
fi

check_rust() {
  local needed have major minor
  needed="$(manifest rust-version)"
  command -v cargo >/dev/null 2>&1 ||
    die "cargo was not found. Install Rust $needed or newer (https://rustup.rs), then run this again."
  # In the folder that is built: a toolchain can be set for a folder.
  have="$(cd "$here" && rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9][^ ]*\).*/\1/p')" || have=
  [ -n "$have" ] ||
    die "cargo is here, but rustc does not answer. Type: rustup default stable. Then run this again."
  IFS=. read -r major minor _ <<<"$have"
  if [ "$major" -lt "${needed%%.*}" ] ||
    { [ "$major" -eq "${needed%%.*}" ] && [ "$minor" -lt "${needed#*.}" ]; }; then
    die "Rust $have is too old, $needed or newer is needed. Type: rustup update stable" \
      "(or install it from https://rustup.rs). Then run this again."
  fi
}

check_c() {
  local compiler
  [ -z "$exe" ] || return 0 # on Windows cargo finds the compiler by itself
  for compiler in "${CC:-cc}" gcc clang; do
    if command -v "$compiler" >/dev/null 2>&1; then return 0; fi
  done
  die "no C compiler was found (SQLite is compiled in). Install gcc or clang, then run this again."
}

if [ -f "$here/Cargo.toml" ]; then
  check_rust
  check_c
  say "Building (the first time takes a few minutes)"
  # Said explicitly, so that no setting of the user's puts the program elsewhere.
  unset CARGO_BUILD_TARGET
  build="${CARGO_TARGET_DIR:-$here/target}"
  run cargo build --release --locked --manifest-path "$here/Cargo.toml" --target-dir "$build"
  built="$build/release/debate$exe"
  new="$(manifest version)"
elif [ -x "$here/debate$exe" ]; then
  built="$here/debate$exe"
  new="$(version_of "$built")"
  if [ -z "$new" ]; then
    if [ "$(uname -s)" = Darwin ]; then
      warn "if macOS has blocked it, type: xattr -d com.apple.quarantine $(printf %q "$built")"
    fi
    die "$built does not run here ($(uname -sm)). Get the archive for this system, or build it from source."
  fi
else
  die "neither the source nor a built debate lies beside this script. Unpack the archive again, and run it from there."
fi

[ ! -d "$target" ] || die "$target is a folder. Move it away, then run this again."
if [ -e "$target" ]; then
  old="$(version_of "$target")"
  say "Updating $target (${old:-unknown version} -> $new)"
else
  say "Installing $target ($new)"
fi
run mkdir -p "$prefix/bin"
run install -m 755 "$built" "$target.new"
run mv -f "$target.new" "$target"

told=no
if [ "$clients" = yes ]; then
  say "Telling the coding tools found here: the server, and /debate"
  if [ "$dry_run" = yes ]; then
    run "$target" init
    # What is installed already can say which ones, without touching them.
    if knows "$target" init; then "$target" init --dry-run </dev/null || true; fi
  elif "$target" init </dev/null; then
    told=yes
  else
    warn "that did not work; debate is installed all the same. To try again: $(printf %q "$target") init"
  fi
fi

if [ "$demo" = yes ]; then
  say "A debate, offline, with scripted voices, about what lies in $here"
  if [ "$dry_run" = yes ]; then
    run "$target" demo
  else
    (cd "$here" && "$target" demo) ||
      die "the demo failed; debate is installed all the same. To try again: $(printf %q "$target") demo"
  fi
fi

if [ "$dry_run" = yes ]; then
  say "Nothing was done."
  exit 0
fi
say "Installed: $target"
case ":$PATH:" in
  *":$prefix/bin:"*) say "Type, in a repository of yours:" ;;
  *) say "$prefix/bin is not on your PATH. Type: export PATH=\"$prefix/bin:\$PATH\" and then, in a repository of yours:" ;;
esac
cat <<'NEXT'
    debate models          who can play a seat here
    debate run 'QUESTION'  a debate at the terminal
NEXT
if [ "$told" = yes ]; then
  printf '    /debate QUESTION       the same, in the coding tools named above; start them anew first\n'
fi
printf '    debate --help          everything else\n'
