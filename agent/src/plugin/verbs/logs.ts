import { ApiError, isStatus } from '../../kube/api-error.ts';
import { messageOf } from '../../lib/errors.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import { Exit, PluginError, usage } from '../exit.ts';
import { followLogs } from '../follow-logs.ts';
import { byTime, type LogLine, type LogOptions, type LogSource, logOf, sourcesOf } from '../pod-logs.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { plain } from '../text.ts';
import { option, type Verb } from '../verb.ts';

export const logs: Verb = {
  name: 'logs',
  args: '[name]',
  about: 'print the logs of gate, agent and etcd of every member, and of the reconciler, as one time line',
  options: [
    option('--since <duration>', 'only lines that are newer, such as 90s, 10m or 2h').default('10m'),
    option('--tail <lines>', 'at most so many of the newest lines of each container').default('1000'),
    option('-c, --container <names>', 'only these, such as etcd,reconciler'),
    option('-m, --member <pod>', 'only this pod'),
    option('-f, --follow', 'go on until Ctrl-C, also with pods that start later'),
    option('-p, --previous', 'of the containers before their last restart'),
  ],
  async run({ args, flags, terminal, connect }) {
    const options = optionsOf(flags);
    const session = await connect();
    const { metadata } = await session.cluster(args[0]);
    const containers = (flags.container as string | undefined)?.split(',');
    const sources = async (): Promise<LogSource[]> =>
      (await sourcesOf(session, metadata.name)).filter(
        ({ pod, container }) =>
          (containers?.includes(container) ?? true) && (flags.member === undefined || flags.member === pod),
      );
    const found = await sources();
    if (found.length === 0)
      throw new PluginError(Exit.notFound, `${metadata.name} has no such container that could have a log`);
    if (options.follow) return printNew(session, terminal, sources, options);
    await printAll(session, terminal, found, options);
    return Exit.done;
  },
};

function optionsOf(flags: Readonly<Record<string, unknown>>): LogOptions {
  const tailLines = Number(flags.tail);
  if (!Number.isInteger(tailLines) || tailLines < 1)
    throw usage(`--tail: '${flags.tail}' is not a whole number above zero`);
  if (flags.follow && flags.previous)
    throw usage('--previous: what ran before a restart has ended, so it cannot be followed; leave out --follow');
  const sinceSeconds = Math.max(1, Math.round(parseDuration(String(flags.since), '--since') / 1000));
  return { sinceSeconds, tailLines, follow: flags.follow === true, previous: flags.previous === true };
}

/** Milliseconds for which lines are collected before they are sorted and printed, while the logs are followed. */
const collect = 500;

async function printNew(
  session: Session,
  terminal: Terminal,
  sources: () => Promise<LogSource[]>,
  options: LogOptions,
): Promise<never> {
  const lines: LogLine[] = [];
  const flush = (): void => print(terminal, lines.splice(0));
  const timer = setInterval(flush, collect);
  const notes = new Set<string>();
  const failed = (source: LogSource, error: unknown): void => {
    const note = noteOf(source, error);
    // It is tried again and again.
    if (note !== undefined && !notes.has(note)) terminal.note(note);
    notes.add(note ?? '');
  };
  try {
    return await followLogs({ session, terminal, sources, options, failed, print: (line) => lines.push(line) });
  } finally {
    clearInterval(timer);
    flush();
  }
}

/** Reads all logs at once. A log that cannot be read is named, and the others go on. */
async function printAll(
  session: Session,
  terminal: Terminal,
  sources: readonly LogSource[],
  options: LogOptions,
): Promise<void> {
  const lines: LogLine[] = [];
  const failures: unknown[] = [];
  const read = async (source: LogSource): Promise<void> => {
    try {
      for await (const line of logOf(session, source, options, terminal.signal)) lines.push(line);
    } catch (error) {
      if (terminal.signal.aborted) throw error;
      failures.push(error);
      const note = noteOf(source, error);
      if (note !== undefined) terminal.note(note);
    }
  };
  await Promise.all(sources.map(read)).finally(() => print(terminal, lines));
  if (failures.length < sources.length) return;
  if (!failures.every((each) => isStatus(each, 400))) throw failures.find((each) => !isStatus(each, 400));
  throw new PluginError(
    Exit.notFound,
    options.previous ? 'no container was restarted in its pod, so none has an earlier log' : 'no container has started',
  );
}

/** Undefined: a container that has not started, or that did not run before, has no log. */
const noteOf = ({ pod, container }: LogSource, error: unknown): string | undefined =>
  isStatus(error, 400)
    ? undefined
    : `${pod} ${container}: ${error instanceof ApiError ? error.said : messageOf(error)}`;

function print(terminal: Terminal, lines: LogLine[]): void {
  for (const line of lines.sort(byTime)) terminal.print(shown(line));
}

const shown = ({ time, pod, container, text }: LogLine): string =>
  plain(`${time.slice(0, 23).replace(/Z?$/, 'Z')} ${pod} ${container}: ${text}`);
