import { ApiError, isStatus } from '../../kube/api-error.ts';
import { messageOf } from '../../lib/errors.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import { Exit, PluginError, usage } from '../exit.ts';
import { byTime, type LogLine, type LogOptions, logOf, type Source, sourcesOf } from '../pod-logs.ts';
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
    option(
      '-f, --follow',
      'go on until Ctrl-C, or until all these containers have ended; does not follow pods that start later',
    ),
    option('-p, --previous', 'of the containers before their last restart'),
  ],
  async run({ args, flags, terminal, connect }) {
    const options = optionsOf(flags);
    const session = await connect();
    const { metadata } = await session.cluster(args[0]);
    const containers = (flags.container as string | undefined)?.split(',');
    const sources = (await sourcesOf(session, metadata.name)).filter(
      ({ pod, container }) =>
        (containers?.includes(container) ?? true) && (flags.member === undefined || flags.member === pod),
    );
    if (sources.length === 0)
      throw new PluginError(Exit.notFound, `${metadata.name} has no such container that could have a log`);
    await printAll(session, terminal, sources, options);
    if (!options.follow) return Exit.done;
    terminal.note('these logs have ended; run the command again to follow the pods that there are now');
    return Exit.bad;
  },
};

function optionsOf(flags: Readonly<Record<string, unknown>>): LogOptions {
  const tailLines = Number(flags.tail);
  if (!Number.isInteger(tailLines) || tailLines < 1)
    throw usage(`--tail: '${flags.tail}' is not a whole number above zero`);
  const sinceSeconds = Math.max(1, Math.round(parseDuration(String(flags.since), '--since') / 1000));
  return { sinceSeconds, tailLines, follow: flags.follow === true, previous: flags.previous === true };
}

/** Milliseconds for which lines are collected before they are sorted and printed, while the logs are followed. */
const collect = 500;

/** Reads all logs at once. A log that cannot be read is named, and the others go on. */
async function printAll(
  session: Session,
  terminal: Terminal,
  sources: readonly Source[],
  options: LogOptions,
): Promise<void> {
  let lines: LogLine[] = [];
  const flush = (): void => {
    for (const line of lines.sort(byTime)) terminal.print(shown(line));
    lines = [];
  };
  const timer = options.follow ? setInterval(flush, collect) : undefined;
  const failures: unknown[] = [];
  const read = async (source: Source): Promise<void> => {
    try {
      for await (const line of logOf(session, source, options, terminal.signal)) lines.push(line);
    } catch (error) {
      if (terminal.signal.aborted) throw error;
      failures.push(error);
      // A container that has not started, or that did not run before, has no log.
      if (!isStatus(error, 400))
        terminal.note(
          `${source.pod} ${source.container}: ${error instanceof ApiError ? error.said : messageOf(error)}`,
        );
    }
  };
  try {
    await Promise.all(sources.map(read));
  } finally {
    clearInterval(timer);
    flush();
  }
  const [first] = failures;
  if (failures.length === sources.length) throw first;
}

const shown = ({ time, pod, container, text }: LogLine): string =>
  plain(`${time.slice(0, 23).replace(/Z?$/, 'Z')} ${pod} ${container}: ${text}`);
