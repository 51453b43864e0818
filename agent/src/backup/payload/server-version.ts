import { AgentError, ExitCode } from '../../lib/errors.ts';

/** A server starts on data of an older minor, and may start on newer data without a word. */
export function refuseNewer(id: string, data: string | undefined, serverVersion: string | undefined): void {
  if (!serverVersion) return;
  const server = minor(serverVersion);
  if (server === undefined) {
    throw new AgentError(ExitCode.usage, `--server-version: '${serverVersion}' is no version; write 3.6`);
  }
  const storage = minor(data ?? '');
  if (storage === undefined || storage <= server) return;
  throw new AgentError(
    ExitCode.refused,
    `${id} holds data of etcd ${data}, which etcd ${serverVersion} cannot read; start a newer etcd on it`,
  );
}

function minor(version: string): number | undefined {
  const [, number] = /^v?3\.(\d+)/.exec(version) ?? [];
  return number === undefined ? undefined : Number(number);
}
