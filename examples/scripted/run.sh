#!/bin/sh
# Plays a scripted duel of two rounds. No model is called, and nothing is sent over the network.
#
#     examples/scripted/run.sh                                      # `debate` from PATH
#     DEBATE=target/debug/debate examples/scripted/run.sh --follow  # another build
#
# Arguments are passed on to `debate run`. The debate runs in a temporary copy of `project/`, with
# its own archive and without your settings. All of it is deleted at the end.
set -eu

scripts="$(CDPATH='' cd "$(dirname "$0")" && pwd)"

program="$(command -v "${DEBATE:-debate}")" || {
  echo "run.sh: no debate program found; install it, or set DEBATE to its path" >&2
  exit 1
}
case "$program" in
  /*) ;;
  *) program="$PWD/$program" ;;
esac

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export DEBATE_HOME="$work/home"
export XDG_CONFIG_HOME="$work/config"
unset AI_STATE_DIR

cp -R "$scripts/project" "$work/project"
cd "$work/project"
"$program" run 'Should the cache in pages.py have a limit?' \
  --proposer "script:$scripts/proposer.json" \
  --challenger "script:$scripts/challenger.json" \
  --judge "script:$scripts/judge.json" \
  --rounds 2 --context pages.py --yes "$@"
