import { defaults } from '../../../../src/resource/defaults.ts';
import { isNameOfOurs } from '../../backup/catalog/exports.ts';
import { compressions, levels } from '../../backup/catalog/manifest.ts';
import { checkIdentities } from '../../backup/payload/encryption.ts';
import { formatFileName } from '../../backup/take/file-name.ts';
import type { StoreRequest } from '../../backup/take/request.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { usageError } from '../../lib/errors.ts';
import { agentVersion } from '../../lib/version.ts';
import type { Settings } from '../cli/settings.ts';

/** Reads how to store a new snapshot from the flags of `backup` and `salvage`. */
export async function storeRequest(settings: Settings): Promise<Omit<StoreRequest, 'targets'>> {
  // What is wrong with it is known before a snapshot is taken.
  await settings.keep();
  const request = {
    ...settings.cluster(),
    fileName: checkFileName(settings),
    fileNameTimeZone: settings.text('fileNameTimeZone') ?? defaults.BackupScheduleSpec.fileNameTimeZone,
    key: checkObjectKey(settings),
    overwrite: settings.flag('overwrite'),
    compression: settings.oneOf('compression', '--compression', compressions),
    recipients: await settings.recipients(),
    identities: await settings.identities(),
    level: settings.oneOf('verify', '--verify', levels),
    trigger: settings.text('trigger') ?? 'manual',
    request: settings.text('request') || undefined,
    requestAge: settings.duration('requestAge', '--request-age'),
    restoredFrom: settings.restoredFrom(),
    force: settings.flag('force'),
    keep: () => settings.keep(),
    sweepAge: settings.duration('sweepAge', '--sweep-age') ?? 86_400_000,
    scratch: settings.scratch,
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    agentVersion,
  };
  if (request.overwrite && !request.key) {
    throw usageError('--overwrite: needs --object-key; add that flag, or remove this one');
  }
  if (request.level === 'open' && request.recipients.length > 0) {
    await checkIdentities('at --verify=open the snapshot', request.recipients, request.identities);
  }
  return request;
}

function checkObjectKey(settings: Settings): string | undefined {
  const key = settings.text('objectKey')?.replace(/^\/+/, '');
  if (!key || !isNameOfOurs(key)) return key;
  throw usageError(`--object-key: '${key}' has the name of a snapshot of the agent; choose another one`);
}

function checkFileName(settings: Settings): string | undefined {
  const pattern = settings.text('fileName');
  if (pattern === undefined) return undefined;
  if (settings.text('objectKey'))
    throw usageError('--file-name and --object-key both name the export; remove one of them');
  const timeZone = settings.text('fileNameTimeZone') ?? defaults.BackupScheduleSpec.fileNameTimeZone;
  const name = formatFileName(pattern, new Date(), timeZone);
  if (isNameOfOurs(name)) throw usageError(`--file-name: '${name}' is the id of a snapshot; choose another pattern`);
  return pattern;
}
