import { stat } from 'node:fs/promises';
import { Journal } from '../../control-plane/restore/journal.ts';
import {
  type VerifyReport,
  type VerifyRequest,
  verifyText,
  verifyUntilHealthy,
} from '../../control-plane/restore/verify.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { kubeConfigAccess } from '../../kube/kube-config-access.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { nodeOf, placesOf } from './control-plane-request.ts';
import { waitingOf } from './control-plane-waiting.ts';

const HOUR = 3_600_000;

/** How the control plane is after a restore; it changes nothing. */
export async function verify(context: CommandContext): Promise<CommandResult> {
  const { settings } = context;
  const { manifestsDir, journalDir } = placesOf(settings);
  const journal = await Journal.newest(journalDir);
  const restored =
    journal && ['starting', 'served', 'done'].includes(journal.content.state) ? journal.content : undefined;
  const node = journal?.content.node ?? (await nodeOf(settings));
  const kubeconfig = settings.text('kubeconfig');
  const client =
    kubeconfig && (await isFile(kubeconfig)) ? new ApiClient(kubeConfigAccess(kubeconfig), 10_000) : undefined;
  const log = settings.text('etcdLog');
  try {
    const request: VerifyRequest = {
      node,
      ...(restored && { clusterId: restored.clusterId }),
      manifestsDir,
      ...(client && { client }),
      since: new Date(journal?.content.etcdStartedAt ?? Date.now() - HOUR),
      logs: log ? [log] : ['/var/log/pods/kube-system_etcd-*/etcd/*.log'],
    };
    const report = await verifyUntilHealthy(request, waitingOf(context));
    return { exitCode: exitCodeOf(report), text: verifyText(report), data: { ...report } };
  } finally {
    client?.close();
  }
}

const exitCodeOf = ({ problems }: VerifyReport): number =>
  problems.length === 0 ? ExitCode.done : ExitCode.verificationFailed;

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
