import type { IncomingMessage, ServerResponse } from 'node:http';
import { ExitCode } from '../../lib/errors.ts';
import { HttpListener, send } from '../../lib/http/http-listener.ts';
import { parseListen } from '../../lib/http/listen-address.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { LogOnce } from '../../lib/log-once.ts';
import { sendMetrics } from '../../lib/metrics/render.ts';
import { storeUrl } from '../../store/url.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { type EtcdFound, type Exported, exportedSamples, type StoreFound } from './exported.ts';
import { READ, readInProcess } from './read-process.ts';
import { RepeatedRead } from './repeated-read.ts';

/** Milliseconds that a process may need to begin, and to report that its time is over. */
const GRACE = 5_000;

export const run: Command = (context) => {
  const what = process.env[READ];
  return what === undefined ? serve(context) : readOnce(what, context);
};

/** The work of the process that reads for the exporter. */
async function readOnce(what: string, context: CommandContext): Promise<CommandResult> {
  const { readEtcd, readStore } = await import('./read-once.ts');
  const found = await withTimeout(
    context,
    (within): Promise<StoreFound | EtcdFound> =>
      what === 'etcd' ? readEtcd(within) : readStore(context.settings.stores()[Number(what)]!, within),
  );
  return { exitCode: ExitCode.done, text: 'read', data: { found } };
}

/** Answers scrapes until a signal arrives. */
async function serve(context: CommandContext): Promise<CommandResult> {
  const { settings, log, signal } = context;
  const listen = parseListen(settings.required('listen', '--listen', 'name the address that serves the metrics'));
  const reads = await readsOf(context);
  const server = new HttpListener({ listen }, log, (request, response) => answer(request, response, reads));
  await server.listen();
  const { named, stores, etcd } = reads;
  log.info({ ...named, port: server.port }, 'serving /metrics');
  try {
    await Promise.all([...stores.map(({ read }) => read), ...(etcd ? [etcd] : [])].map((read) => read.run(signal)));
  } finally {
    await server.close();
  }
  return { exitCode: ExitCode.done, text: 'stopped', data: {} };
}

interface Reads extends Exported {
  readonly stores: readonly { readonly url: string; readonly read: RepeatedRead<StoreFound> }[];
  readonly etcd: RepeatedRead<EtcdFound> | undefined;
}

/** Checks every setting, so that a mistake ends the exporter at once. */
async function readsOf({ settings, log }: CommandContext): Promise<Reads> {
  const interval = settings.duration('interval', '--interval')!;
  const limit = settings.duration('timeout', '--timeout')! + GRACE;
  const problems = new LogOnce(log);
  const repeated = <T>(what: string, name: string) =>
    new RepeatedRead<T>({
      ...{ interval, limit, read: (within) => readInProcess<T>(what, within) },
      onEnd: (problem) => problems.report(name, problem),
    });
  const named = settings.wanted();
  const urls = settings.stores().map(storeUrl);
  const hasEtcd = settings.list('endpoints').length > 0;
  if (hasEtcd) await settings.access();
  return {
    named,
    stores: urls.map((url, at) => ({ url, read: repeated<StoreFound>(String(at), url) })),
    etcd: hasEtcd ? repeated<EtcdFound>('etcd', 'etcd') : undefined,
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, reads: Reads): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://exporter');
  switch (pathname) {
    case '/livez':
      return send(response, 200, 'ok\n');
    case '/readyz': {
      // A store that cannot be read is reported, and the exporter is ready for that.
      const unknown = reads.stores.filter(({ read }) => read.isUp === undefined).map(({ url }) => url);
      if (unknown.length === 0) return send(response, 200, 'ok\n');
      return send(response, 503, `not read yet: ${unknown.join(', ')}\n`);
    }
    case '/metrics':
      return sendMetrics(response, exportedSamples(reads));
    default:
      return send(response, 404, 'not found; available: /livez, /readyz and /metrics\n');
  }
}
