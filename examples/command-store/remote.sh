# Read by the scripts beside it: runs a command on the server, in the store's directory.
# Settings: SSH_TARGET (USER@HOST), SSH_PORT (22), SSH_DIRECTORY; the Secret's files privateKey and knownHosts.
# The server needs a POSIX shell, and find and sync of GNU.
set -eu
: "${SSH_TARGET:?name the server, as USER@HOST}" "${SSH_DIRECTORY:?name a directory of the server}"

work=$(mktemp -d)
clean() { :; }
trap 'clean; rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM

# ssh takes no key that others can read, as those of a Secret can be.
(umask 077 && cat "$CREDENTIALS_DIRECTORY/privateKey" >"$work/key")

# A word for the server's shell, whatever is in it.
quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

directory=$(quote "$SSH_DIRECTORY")
key=$(quote "./${1-}")

remote() {
  ssh -F none -p "${SSH_PORT:-22}" -i "$work/key" -o IdentitiesOnly=yes -o BatchMode=yes -o LogLevel=ERROR \
    -o StrictHostKeyChecking=yes -o "UserKnownHostsFile=$CREDENTIALS_DIRECTORY/knownHosts" \
    -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=3 "$SSH_TARGET" "$1"
}
