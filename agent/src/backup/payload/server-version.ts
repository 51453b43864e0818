import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';

/**
 * Throws `refused` if the data are of a newer minor version than the server: etcd may start with such data without
 * reporting an error.
 */
export function refuseNewer(id: string, data: string | undefined, serverVersion: string | undefined): void {
  if (!serverVersion) return;
  const server = minor(serverVersion);
  if (server === undefined) {
    throw usageError(`'${serverVersion}' is not a version; write 3.6`, { at: 'serverVersion' });
  }
  const storage = minor(data ?? '');
  if (storage === undefined || storage <= server) return;
  throw new AgentError(
    ExitCode.refused,
    `${id} holds data of etcd ${data}, which etcd ${serverVersion} cannot read; use a newer etcd`,
  );
}

function minor(version: string): number | undefined {
  const [, number] = /^v?3\.(\d+)/.exec(version) ?? [];
  return number === undefined ? undefined : Number(number);
}
