import { ExitCode } from '../../lib/errors.ts';
import { memberConfig } from '../../member/member-config.ts';
import { openRecordSource } from '../../member/record/record-source.ts';
import { serve } from '../../member/sidecar/serve.ts';
import { initialStatus } from '../../member/sidecar/serve-status.ts';
import { StatusServer } from '../../member/status-server.ts';
import type { AtStep } from '../../member/steps.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { memberFlag } from './member-flag.ts';

export const run: Command = (context) => runWith(context, { at: () => {} });

/** `at`: the tests stop it there. */
export async function runWith(
  { settings, log, signal }: CommandContext,
  { at }: { at: AtStep },
): Promise<CommandResult> {
  const config = memberConfig('serve', memberFlag(settings), process.env);
  const server = await StatusServer.listen({ ...config, log, status: () => initialStatus(config) });
  try {
    await serve(config, { record: openRecordSource(config), server, log, signal, at });
  } finally {
    await server.close();
  }
  // Whatever signal asked for it: this is how a sidecar ends.
  return { exitCode: ExitCode.done, text: 'ended', data: {} };
}
