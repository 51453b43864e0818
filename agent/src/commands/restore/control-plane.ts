import { stat } from 'node:fs/promises';
import { withNodeLock } from '../../control-plane/node/node-lock.ts';
import { refuseOwnProcessNamespace } from '../../control-plane/node/processes.ts';
import { Journal } from '../../control-plane/restore/journal.ts';
import { startCommand } from '../../control-plane/restore/restore.ts';
import { undo } from '../../control-plane/restore/undo.ts';
import { type VerifyReport, type VerifyRequest, verifyUntilHealthy } from '../../control-plane/restore/verify.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { kubeConfigAccess } from '../../kube/kube-config-access.ts';
import { ExitCode, usageError } from '../../lib/errors.ts';
import { refuseInContainer } from '../../store/container-path.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { execute } from './control-plane-execute.ts';
import { plan } from './control-plane-plan.ts';
import { nodeOf, placesOf, waitingOf } from './control-plane-request.ts';

const HOUR = 3_600_000;

export const run: Command = async (context) => {
  const { settings } = context;
  const asked = (['plan', 'stop', 'undo', 'check'] as const).filter((mode) => settings.flag(mode));
  if (asked.length > 1) throw usageError(`${asked.map((mode) => `--${mode}`).join(' and ')}: choose one`);
  const { journalDir } = placesOf(settings);
  await refuseInContainer('journalDir', journalDir);
  await refuseOwnProcessNamespace();
  const [mode] = asked;
  if (mode === 'plan') return plan(context);
  if (mode === 'check') return check(context);
  return withNodeLock(journalDir, async () => {
    await Journal.tidy(journalDir);
    return mode === 'undo' ? undoRestore(context) : execute(context, mode === 'stop' ? 'stopped' : 'done');
  });
};

async function undoRestore(context: CommandContext): Promise<CommandResult> {
  const { journalDir } = placesOf(context.settings);
  const journal = await Journal.newest(journalDir);
  if (!journal || journal.content.state === 'undone') {
    const text = `${journalDir}: no restore to undo; nothing done`;
    return { exitCode: 0, text, data: { undone: false } };
  }
  await undo(journal, waitingOf(context));
  const { node, id, manifestsDir } = journal.content;
  const outside = node.kind === 'static-pod' ? '' : `; now start etcd: ${startCommand(node.kind)}`;
  return {
    exitCode: 0,
    text: `${node.member.name}: the restore from ${id} is undone: ${node.member.dataDir} and ${manifestsDir} are as before${outside}`,
    data: { undone: true, id, journal: journal.folder },
  };
}

/** Reports the state of the control plane after a restore. Changes nothing. */
async function check(context: CommandContext): Promise<CommandResult> {
  const { settings } = context;
  const { manifestsDir, journalDir } = placesOf(settings);
  const journal = await Journal.newest(journalDir);
  const restored =
    journal && ['starting', 'served', 'done'].includes(journal.content.state) ? journal.content : undefined;
  const node = journal?.content.node ?? (await nodeOf(settings));
  const kubeconfig = settings.text('kubeconfig');
  const client =
    kubeconfig && (await isFile(kubeconfig))
      ? new ApiClient(await kubeConfigAccess({ file: kubeconfig, signal: context.signal }), 10_000)
      : undefined;
  const log = settings.text('etcdLog');
  try {
    const request: VerifyRequest = {
      node,
      restored,
      manifestsDir,
      client,
      noClient: 'nodes and pods are not checked without a kubeconfig; pass --kubeconfig',
      since: new Date(journal?.content.etcdStartedAt ?? Date.now() - HOUR),
      logs: log ? [log] : ['/var/log/pods/kube-system_etcd-*/etcd/*.log'],
    };
    const report = await verifyUntilHealthy(request, waitingOf(context));
    const exitCode = report.problems.length === 0 ? ExitCode.done : ExitCode.verificationFailed;
    return { exitCode, text: verifyText(report), data: { ...report } };
  } finally {
    client?.close();
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

export function verifyText({ components, nodes, pods, logs, problems }: VerifyReport): string {
  const row = (what: string, name: string, state: string) => `${what.padEnd(10)} ${name.padEnd(44)} ${state}`;
  return [
    ...components.map(({ name, trouble }) => row('component', name, trouble ?? 'healthy')),
    ...nodes.map(({ name, trouble }) => row('node', name, trouble ?? 'Ready')),
    ...pods.map(({ name, phase, ready }) => row('pod', name, ready ? phase : `${phase}, not ready`)),
    logs.files.length > 0
      ? `etcd's log since the start: ${logs.errors.length} errors (${logs.files.join(', ')})`
      : "etcd's log was not found; name it with --etcd-log, or check it with journalctl -u etcd -p err",
    ...logs.errors.slice(-20).map((line) => `  ${line}`),
    problems.length > 0 ? `problems:\n${problems.map((line) => `  ${line}`).join('\n')}` : 'no problems',
  ].join('\n');
}
