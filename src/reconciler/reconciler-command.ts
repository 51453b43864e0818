/**
 * The image's own command has flags for backups. By itself V8 takes up to 48 MiB for what is young, of which a reconciler has
 * little, and in the image it collects nothing old below 64 MiB. `--expose-gc`: it collects itself, now and then.
 */
export const reconcilerCommand = [
  '/usr/local/bin/node',
  '--expose-gc',
  '--max-semi-space-size=1',
  '--initial-old-space-size=16',
  '/opt/etcd-agent/bin/etcd-agent.mjs',
];
