import { setTimeout as sleep } from 'node:timers/promises';
import { Exit, failureOf } from '../exit.ts';
import type { Session } from '../session.ts';
import { readFacts } from '../status/read.ts';
import { showStatus } from '../status/show.ts';
import { type StatusView, statusView } from '../status/view.ts';
import { option, outputOption, type Verb } from '../verb.ts';

/** Milliseconds between two pictures. */
const interval = 2_000;

export const status: Verb = {
  name: 'status',
  args: '[name]',
  about: 'show a cluster on one screen: members, what is wrong, what is going on, backups, certificates',
  options: [option('-w, --watch', 'draw it again every two seconds, until Ctrl-C'), outputOption],
  async run({ args: [name], flags, terminal, connect }) {
    const session = await connect();
    const isJson = flags.output === 'json';
    for (let before = ''; ; await sleep(interval, undefined, { signal: terminal.signal })) {
      const view = await read(session, name).catch((error) => {
        const { exit, message } = failureOf(error, session.client.server);
        // It comes back, and then the picture goes on.
        if (!flags.watch || exit !== Exit.unreachable) throw error;
        terminal.note(message);
      });
      if (!view) continue;
      const text = isJson ? JSON.stringify(view, undefined, flags.watch ? 0 : 2) : showStatus(view, session, terminal);
      if (flags.watch && !isJson) terminal.clear();
      if (!isJson || text !== before) terminal.print(text);
      if (!flags.watch) return view.healthy ? Exit.done : Exit.bad;
      before = text;
    }
  },
};

async function read(session: Session, name: string | undefined): Promise<StatusView> {
  session.forget();
  const facts = await readFacts(session, await session.cluster(name));
  return statusView(facts, session);
}
