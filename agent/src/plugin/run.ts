import { oneLine } from '../lib/errors.ts';
import { Exit, failureOf } from './exit.ts';
import { buildProgram } from './program.ts';
import { Session } from './session.ts';
import { type Streams, Terminal } from './terminal.ts';
import type { Verb } from './verb.ts';

/** Runs one command line. Returns the exit code. */
export async function run(argv: readonly string[], streams: Streams): Promise<Exit> {
  const terminal = new Terminal(streams);
  let session: Session | undefined;
  let exit: Exit = Exit.done;
  const connect = async (flags: Readonly<Record<string, unknown>>): Promise<Session> => {
    // Loaded lazily: it is large, and not every verb needs it.
    const { kubeConfigAccess } = await import('../kube/kube-config-access.ts');
    const { kubeconfig: file, context, namespace } = flags as Readonly<Record<string, string | undefined>>;
    const access = await kubeConfigAccess({ file, context, signal: streams.signal });
    session = new Session(access, namespace, file);
    return session;
  };
  const end = argv.indexOf('--');
  const [words, rest] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  const call = async (verb: Verb, args: readonly string[], flags: Readonly<Record<string, unknown>>): Promise<void> => {
    exit = await verb.run({ args, flags, rest, program, terminal, connect: () => connect(flags) });
  };
  // Errors of usage are reported with all others.
  const output = { writeOut: (text: string) => void streams.stdout.write(text), outputError: () => {} };
  const program = buildProgram(call, output);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    // Every failure after Ctrl-C is a consequence of it.
    if (streams.signal.aborted) exit = Exit.interrupted;
    else exit = report(error, session, terminal);
  } finally {
    session?.client.close();
  }
  return exit;
}

function report(error: unknown, session: Session | undefined, terminal: Terminal): Exit {
  const { exit, message } = failureOf(error, session?.client.server);
  if (exit !== Exit.done) terminal.note(`error: ${exit === Exit.unexpected ? message : withHelp(message)}`);
  return exit;
}

/** Commander begins its own messages with `error: `. */
const withHelp = (message: string): string => {
  const text = oneLine(message.replace(/^error: /, ''));
  return text === oneLine(message) ? text : `${text}; --help shows the usage`;
};
