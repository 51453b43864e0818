import type { ExtraRequest } from '../backup/payload/extra.ts';
import { takeBackup } from '../backup/take/take.ts';
import { hostFacts } from '../control-plane/node/host-facts.ts';
import { parseEndpoints } from '../etcd/endpoints.ts';
import { usageError } from '../lib/errors.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { refuseStoresInContainer } from '../store/container-path.ts';
import { storeUrl } from '../store/url.ts';
import { advising } from './advice/advice.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { Settings } from './cli/settings.ts';
import { backupResult } from './shared/backup-result.ts';
import { storeRequest } from './shared/store-request.ts';
import { openTargets } from './shared/store-run.ts';

export const run: Command = async (context) => {
  const { settings } = context;
  const specs = settings.stores();
  await refuseStoresInContainer('store', specs);
  return withTimeout(
    context,
    async (within) => {
      const request = await requestOf(context);
      const targets = openTargets(specs, within);
      const known = (store?: string) => {
        const spec = specs[targets.findIndex((target) => target.store.url === store)];
        return { place: spec && { ...request, spec, store: { url: storeUrl(spec) } }, settings };
      };
      const log = advising(context.log, known);
      const onSize = (bytes: number) =>
        within.budget.grow(bytes * (1 + targets.length * (request.key || request.fileName ? 2 : 1)));
      try {
        return backupResult(await takeBackup({ ...request, targets }, { ...within, log, onSize }), known);
      } finally {
        for (const { store } of targets) store.close();
      }
    },
    specs.length,
  );
};

async function requestOf({ settings, log }: CommandContext) {
  const access = await settings.access();
  const survivor = settings.text('survivor');
  const stored = await storeRequest(settings);
  return {
    ...stored,
    extra: await extraRequest(settings, stored.recipients ?? []),
    host: await hostFacts(
      {
        nodeName: settings.text('nodeName'),
        etcdManifest: settings.text('etcdManifest'),
        etcdProcess: settings.flag('etcdProcess'),
      },
      log,
    ),
    access,
    survivor: survivor && parseEndpoints([survivor], access.tls !== undefined)[0],
    idleTimeout: settings.duration('idleTimeout', '--idle-timeout') ?? 60_000,
  };
}

/** Files of this machine to store beside the snapshot. They include keys, so they are only stored encrypted. */
async function extraRequest(settings: Settings, ofSnapshot: readonly string[]): Promise<ExtraRequest | undefined> {
  const paths = settings.list('extraPath');
  const own = await settings.extraRecipients();
  if (paths.length === 0) {
    if (own.length > 0)
      throw usageError('--extra-age-recipient: needs --extra-path; add that flag, or remove this one');
    return undefined;
  }
  const recipients = own.length > 0 ? own : ofSnapshot;
  if (recipients.length > 0) return { paths, recipients };
  throw usageError('--extra-path: is only stored encrypted; add --age-recipient or --extra-age-recipient');
}
