#!/usr/bin/env bash
# Shows klog at work on a real file, in a root that is thrown away.
# Usage: contrib/demo.sh PATH-OF-KLOG
set -euo pipefail
klog=$(realpath "${1:-./klog}")
here=$(realpath "$(dirname "$0")/..")
KLOG_ROOT=$(mktemp -d)
export KLOG_ROOT
follower=
cleanup() {
	[ -z "$follower" ] || kill "$follower" 2> /dev/null || true
	rm -rf "$KLOG_ROOT"
}
trap cleanup EXIT

klog() { "$klog" "$@"; }
say() { printf '\n# %s\n' "$*"; }
run() {
	printf '$ %s\n' "$*"
	eval "$*"
}

file=
for f in /var/log/dpkg.log /var/log/syslog /var/log/messages "$here/CHANGELOG.md"; do
	if [ -s "$f" ] && [ -r "$f" ]; then
		file=$f
		break
	fi
done
lines=$(wc -l < "$file")

say "$file has $lines lines. Each becomes a record of the topic app, which is made on the way."
run "klog produce app < $file"
run 'klog topic list --headers'

say 'The topic is files: Kafka'\''s format, one directory a partition.'
# shellcheck disable=SC2016
run 'ls "$KLOG_ROOT" "$KLOG_ROOT"/app-0'

say 'Out again, byte for byte:'
run "klog cat app | cmp - $file && echo the same"

say 'The last three, with their offsets, and one as JSON:'
run "klog tail app -n 3 -F '%o %s\\n'"
run 'klog tail app -n 1 -J'

say 'A follower prints what others append, as soon as it is there:'
out=$(mktemp)
trap 'cleanup; rm -f "$out"' EXIT
await() { # COUNT: until the follower has printed so many lines
	for _ in $(seq 200); do
		[ "$(wc -l < "$out")" -lt "$1" ] || return 0
		sleep 0.05
	done
	echo 'the follower printed nothing' >&2
	return 1
}
printf '$ %s\n' 'klog tail -f -n 1 app &'
"$klog" tail -f -n 1 app > "$out" &
follower=$!
await 1
run "echo 'a line from another process' | klog produce app"
run "echo 'and one more' | klog produce app"
await 3
cat "$out"

say "And the log is sound:"
run 'klog verify --deep && echo verified'
