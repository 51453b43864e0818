import { gate } from '../../member/gate/gate.ts';
import { gateStatus } from '../../member/gate/gate-status.ts';
import { memberConfig } from '../../member/member-config.ts';
import { openRecordSource } from '../../member/record/record-source.ts';
import { StatusServer } from '../../member/status-server.ts';
import type { AtStep } from '../../member/steps.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';

export const run: Command = (context) => runWith(context, {});

/** Runs with hooks at its steps, for tests. */
export async function runWith(
  { settings, log, signal }: CommandContext,
  hooks: { at?: AtStep },
): Promise<CommandResult> {
  const config = memberConfig('gate', (name) => settings.byFlag(name), process.env);
  const record = openRecordSource(config);
  const server = await StatusServer.listen({ ...config, log, status: () => gateStatus(config, { state: 'Init' }) });
  try {
    await gate(config, { record, server, log, signal, ...hooks });
  } finally {
    await server.close();
  }
  return { exitCode: 0, text: `${config.pod}: etcd may start`, data: { pod: config.pod } };
}
