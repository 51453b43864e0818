/**
 * Command of the reconciler's container; the command of the image has flags for backups. Without these flags V8 uses up
 * to 48 MiB for young objects, of which a reconciler has few, and with the image's flags it collects no old objects
 * below 64 MiB. `--expose-gc` lets the reconciler trigger garbage collections itself.
 */
export const reconcilerCommand = [
  '/usr/local/bin/node',
  '--expose-gc',
  '--max-semi-space-size=1',
  '--initial-old-space-size=16',
  '/opt/etcd-agent/bin/etcd-agent.mjs',
];
