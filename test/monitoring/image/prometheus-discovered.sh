#!/bin/sh
# Debian's Prometheus has no discovery of Kubernetes. This starts it with the configuration that it is given, in which a server
# of the same pod (../support/discovery.mjs) takes the place of that discovery, and follows its changes.
set -eu
out=/prometheus/discovered.yaml

for argument; do
  shift
  case $argument in
    --config.file=*) in=${argument#--config.file=} ;;
    *) set -- "$@" "$argument" ;;
  esac
done

replaced() {
  awk '
    /^ *kubernetes_sd_configs:/ {
      pad = $0
      sub(/kubernetes_sd_configs:.*/, "", pad)
      print pad "http_sd_configs:"
      print pad "- url: http://localhost:9099/"
      print pad "  refresh_interval: 2s"
      skips = 1
      next
    }
    skips && (index($0, pad "-") == 1 || index($0, pad " ") == 1) { next }
    { skips = 0 }
    { print }
  ' "$in"
}

replaced >"$out"
/bin/prometheus "$@" --config.file="$out" &
child=$!
trap 'kill -TERM $child' TERM INT
while kill -0 $child 2>/dev/null; do
  replaced >"$out.new"
  if ! cmp -s "$out" "$out.new"; then
    mv "$out.new" "$out"
    kill -HUP $child
  fi
  sleep 1
done
wait $child
