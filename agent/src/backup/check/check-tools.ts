import type { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { messageOf } from '../../lib/errors.ts';
import { anyAmong } from '../payload/encryption.ts';
import { type CheckResult, finding, ok, warning } from './finding.ts';

interface AgeSettings {
  recipients(): Promise<string[]>;
  identities(): Promise<string[]>;
}

export function checkEncryption(settings: AgeSettings, signal: AbortSignal): Promise<CheckResult[]> {
  return finding('encryption', signal, async () => {
    const recipients = await settings.recipients();
    const identities = await settings.identities();
    if (recipients.length === 0 && identities.length === 0)
      return ok('encryption', 'none: snapshots are stored unencrypted');
    const findings = [ok('encryption', `age: recipients: ${recipients.length}, identities: ${identities.length}`)];
    if (recipients.length === 0 || identities.length === 0) return findings;
    if (await anyAmong(identities, recipients)) return findings;
    return [
      ...findings,
      warning(
        'encryption',
        'no identity belongs to one of the recipients: new snapshots cannot be decrypted with them',
      ),
    ];
  });
}

/** A backup does not need etcdutl, but opening a snapshot and restores do. */
export async function checkEtcdutl(etcdutl: Etcdutl, signal: AbortSignal): Promise<CheckResult> {
  try {
    const version = await etcdutl.version({ signal, timeout: 30_000 });
    if (version !== undefined) return ok('etcdutl', `etcdutl ${version}`);
    return warning('etcdutl', 'etcdutl does not report its version', { kind: 'etcdutlUnknown' });
  } catch (error) {
    signal.throwIfAborted();
    return warning('etcdutl', messageOf(error), { kind: 'etcdutlMissing', isOptional: true });
  }
}
