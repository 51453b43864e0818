import { hostFacts } from '../backup/host.ts';
import { takeBackup } from '../backup/take.ts';
import type { Command } from '../command.ts';
import { parseEndpoints } from '../etcd/endpoints.ts';
import { withTimeout } from '../run-limit.ts';
import { backupResult } from './backup-result.ts';
import { extraRequest } from './extra-request.ts';
import { storeRequest } from './store-request.ts';
import { openTargets } from './store-run.ts';

export const run: Command = async (context) => {
  const { settings } = context;
  const specs = settings.stores();
  const access = await settings.access();
  const survivor = settings.text('survivor');
  const stored = await storeRequest(settings);
  const request = {
    ...stored,
    extra: await extraRequest(settings, stored.recipients ?? []),
    host: await hostFacts(
      {
        nodeName: settings.text('nodeName'),
        etcdManifest: settings.text('etcdManifest'),
        etcdProcess: settings.flag('etcdProcess'),
      },
      context.log,
    ),
    access,
    survivor: survivor && parseEndpoints([survivor], access.tls !== undefined)[0],
    idleTimeout: settings.duration('idleTimeout', '--idle-timeout') ?? 60_000,
  };
  const targets = await openTargets(specs);
  try {
    const outcome = await withTimeout(context, (signal, grow) =>
      takeBackup(
        { ...request, targets },
        { ...context, signal, onSize: (bytes) => grow(bytes * (1 + targets.length)) },
      ),
    );
    return backupResult(outcome);
  } finally {
    for (const { store } of targets) store.close();
  }
};
