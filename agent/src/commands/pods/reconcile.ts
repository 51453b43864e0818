import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { parse } from 'yaml';
import { defaultSettings, type Settings } from '../../controllers/cluster/settings.ts';
import { crashOnce } from '../../controllers/crash-once.ts';
import { Reconciler } from '../../controllers/reconciler.ts';
import { findAccess } from '../../kube/api-access.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import { parseListen } from '../../lib/http/listen-address.ts';
import type { Command, CommandContext } from '../cli/command.ts';

export const run: Command = async ({ settings, log, signal }: CommandContext) => {
  const access = await findAccess(process.env);
  const namespace = settings.text('namespace') || access.namespace || 'default';
  const reconciler = new Reconciler({
    access,
    namespace,
    selector: settings.text('selector'),
    deployment: settings.text('deployment'),
    lease: settings.required('lease', '--lease', 'name the Lease that one reconciler at a time holds'),
    // A container that is started again goes on with the Lease of its pod: its old process is dead.
    holder: process.env.POD_NAME || `${hostname()}_${randomBytes(4).toString('hex')}`,
    listen: parseListen(settings.required('listen', '--listen', 'say where health and metrics are served')),
    settings: await timesOf(settings.text('settings')),
    log,
    // docs/contributing/testing.md
    ...(process.env.CRASH_ONCE_DIR && { at: crashOnce(process.env.CRASH_ONCE_DIR) }),
  });
  // V8 by itself lets what is out of use grow to as much as what is in use.
  const collection = setInterval(() => globalThis.gc?.(), 60_000);
  await reconciler.run(signal).finally(() => clearInterval(collection));
  return { exitCode: ExitCode.done, text: `stopped; the clusters of ${namespace} go on`, data: { namespace } };
};

/** The defaults, changed by what is in the file. */
async function timesOf(file: string | undefined): Promise<Settings> {
  if (file === undefined) return defaultSettings;
  const content = await readFile(file, 'utf8').catch((error) => {
    throw mistake(`cannot read ${file} (${codeOf(error)})`);
  });
  let given: unknown;
  try {
    given = parse(content);
  } catch (error) {
    throw mistake(`${file}: ${messageOf(error)}`);
  }
  if (given === null || typeof given !== 'object') throw mistake(`${file} holds no settings; write promoteLag: 500`);
  for (const [key, value] of Object.entries(given)) {
    if (!(key in defaultSettings)) throw mistake(`${file}: there is no '${key}'`);
    if (!Number.isSafeInteger(value) || value < 1) throw mistake(`${file}: '${key}' must be a whole number above zero`);
  }
  return { ...defaultSettings, ...given };
}

const mistake = (message: string) => new AgentError(ExitCode.usage, `--settings: ${message}`);
