import { ExitCode } from '../../lib/errors.ts';
import { memberConfig } from '../../member/member-config.ts';
import { openRecordSource } from '../../member/record/record-source.ts';
import { BackupPort } from '../../member/sidecar/backup-port/backup-port.ts';
import { serve } from '../../member/sidecar/serve.ts';
import { initialStatus } from '../../member/sidecar/serve-status.ts';
import { StatusServer } from '../../member/status-server.ts';
import type { AtStep } from '../../member/steps.ts';
import { startedTransport, withTransport } from '../../member/transport.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';

export const run: Command = (context) => runWith(context, { at: () => {} });

/** Runs with a hook at its steps, for tests. */
export async function runWith(
  { settings, log, signal }: CommandContext,
  { at }: { at: AtStep },
): Promise<CommandResult> {
  const config = memberConfig('serve', (name) => settings.byFlag(name), process.env);
  const server = await StatusServer.listen({ ...config, log, status: () => initialStatus(config) });
  let backups: BackupPort | undefined;
  try {
    const { backup, serverTlsDir } = config;
    if (backup && serverTlsDir) {
      const running = withTransport(config, await startedTransport(config));
      backups = await BackupPort.listen({ ...running, backup, serverTlsDir }, log);
    }
    await serve(config, { record: openRecordSource(config), server, log, signal, at });
  } finally {
    await backups?.close();
    await server.close();
  }
  // A signal is the regular end of a sidecar.
  return { exitCode: ExitCode.done, text: 'ended', data: {} };
}
