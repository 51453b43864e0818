import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { AtPoint } from '../../controllers/port/port.ts';
import { defaultSettings, type ReconcilerSettings } from '../../controllers/port/settings.ts';
import { Reconciler, type ReconcilerOptions } from '../../controllers/reconciler.ts';
import { findAccess } from '../../kube/api-access.ts';
import { LeaseLost } from '../../kube/lease.ts';
import { ExitCode, messageOf, usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { parseListen } from '../../lib/http/listen-address.ts';
import { parseYaml } from '../../lib/input/yaml.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';

export const run: Command = (context) => runWith(context, {});

/** Runs with a hook at the reconciler's steps, for tests. */
export async function runWith(
  { settings, log, signal }: CommandContext,
  hooks: { at?: AtPoint },
): Promise<CommandResult> {
  const access = await findAccess(process.env, signal);
  const namespace = settings.text('namespace') || access.namespace || 'default';
  const options: ReconcilerOptions = {
    access,
    namespace,
    selector: settings.text('selector'),
    deployment: settings.text('deployment'),
    lease: settings.required('lease', '--lease', 'name the Lease that only one reconciler holds at a time'),
    // A restarted container continues with the Lease of its pod, because its old process is dead.
    holder: process.env.POD_NAME || `${hostname()}_${randomBytes(4).toString('hex')}`,
    listen: parseListen(settings.required('listen', '--listen', 'name the address that serves health and metrics')),
    settings: await readTuning(settings.text('tuning')),
    log,
    ...hooks,
  };
  // By itself V8 lets garbage grow to the size of the live data.
  const collection = setInterval(() => globalThis.gc?.(), 60_000);
  const forgive = loggingRejections(process, log);
  await runAgain(() => new Reconciler(options), signal, log).finally(() => {
    clearInterval(collection);
    forgive();
  });
  return { exitCode: ExitCode.done, text: `stopped; the clusters of ${namespace} keep running`, data: { namespace } };
}

/**
 * A reconciler that has lost the Lease ends, with everything that it knows, and the next one waits for the Lease. A process that
 * ended would not be started again for minutes if this happens often, for example while the API server is overloaded.
 */
export async function runAgain(
  begin: () => Pick<Reconciler, 'run'>,
  signal: AbortSignal,
  log: Pick<CommandContext['log'], 'warn'>,
): Promise<void> {
  for (;;) {
    try {
      return await begin().run(signal);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      log.warn(`${messageOf(error)}; waiting for the Lease`);
    }
  }
}

/** A rejection that nobody handles, such as of one cluster with an object that is not expected, must not end the others. */
export function loggingRejections(
  source: Pick<NodeJS.EventEmitter, 'on' | 'off'>,
  log: Pick<CommandContext['log'], 'error'>,
): () => void {
  const note = (error: unknown) => log.error({ err: error }, `an error that nobody handles: ${messageOf(error)}`);
  source.on('unhandledRejection', note);
  return () => void source.off('unhandledRejection', note);
}

/** Reads the file of `--tuning`, and adds the defaults. */
async function readTuning(file: string | undefined): Promise<ReconcilerSettings> {
  if (file === undefined) return defaultSettings;
  const content = await readFile(file, 'utf8').catch((error) => {
    throw mistake(`cannot read ${file} ${readFault(error)}`);
  });
  let given: unknown;
  try {
    given = parseYaml(content);
  } catch (error) {
    throw mistake(`${file}: ${messageOf(error)}`);
  }
  if (given === null || typeof given !== 'object') throw mistake(`${file} is not an object; write promoteLag: 500`);
  for (const [key, value] of Object.entries(given)) {
    if (!(key in defaultSettings)) throw mistake(`${file}: '${key}' is unknown`);
    if (!Number.isSafeInteger(value) || value < 1) throw mistake(`${file}: '${key}' must be a whole number above zero`);
  }
  return { ...defaultSettings, ...given };
}

const mistake = (message: string) => usageError(`--tuning: ${message}`);
