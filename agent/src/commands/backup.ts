import { takeBackup } from '../backup/take/take.ts';
import { hostFacts } from '../control-plane/node/host-facts.ts';
import { parseEndpoints } from '../etcd/endpoints.ts';
import { withTimeout } from '../lib/run-limit.ts';
import { refuseStoresInContainer } from '../store/container-path.ts';
import type { Command } from './cli/command.ts';
import { backupResult } from './shared/backup-result.ts';
import { extraRequest } from './shared/extra-request.ts';
import { storeRequest } from './shared/store-request.ts';
import { openTargets } from './shared/store-run.ts';

export const run: Command = async (context) => {
  const { settings } = context;
  const specs = settings.stores();
  await refuseStoresInContainer('--store', specs);
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
  return withTimeout(
    context,
    async (signal, grow, limit) => {
      const targets = openTargets(specs, limit);
      const onSize = (bytes: number) =>
        grow(bytes * (1 + targets.length * (request.key ? (request.overwrite ? 4 : 3) : 1)));
      try {
        return backupResult(
          await takeBackup({ ...request, targets }, { ...context, signal, limit, onSize }),
          request.key,
        );
      } finally {
        for (const { store } of targets) store.close();
      }
    },
    specs.length,
  );
};
