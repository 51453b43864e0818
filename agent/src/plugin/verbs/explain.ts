import { agentReasons } from '../../protocol/agent-reasons.ts';
import { reasons } from '../../protocol/reasons.ts';
import { userReasons } from '../../protocol/user-reasons.ts';
import { Exit, PluginError } from '../exit.ts';
import { cellsOf, fromMarkdown, withoutMarks } from '../markdown.ts';
import { pages } from '../pages.ts';
import { wrap } from '../text.ts';
import type { Verb } from '../verb.ts';

export const explain: Verb = {
  name: 'explain',
  args: '<reason>',
  about: 'say what a reason or an alert means, and what to do, as the runbook has it; works without an API server',
  async run({ args: [reason = ''], terminal }) {
    const found = explanations(reason, terminal.width);
    if (found.length === 0)
      throw new PluginError(Exit.notFound, `there is no reason or alert '${reason}'${similar(reason)}`);
    terminal.print(found.map(({ title, text }) => `${terminal.color(title, 'bold')}\n${text}`).join('\n\n'));
    return Exit.done;
  },
};

interface Explanation {
  readonly title: string;
  readonly text: string;
}

/** Everything that our guides say of a reason: one name may be the reason of several things. */
export function explanations(reason: string, width: number): Explanation[] {
  const { runbook, members, users, backups, alerts } = pages();
  const wanted = reason.toLowerCase();
  const phases = rows(runbook).filter(([name = '']) => words(name, /\*(\w+)\*/g).includes(wanted));
  return [
    ...ofSections(runbook, wanted, ofRestores.includes(wanted) ? 'of an EtcdRestore' : 'of an EtcdCluster', width),
    ...phases.map(([, ...text]) => ({ title: `${reason}, a phase of an EtcdCluster`, text: paragraphs(text, width) })),
    ...ofRows(members, wanted, 'of the agent in a member', width),
    ...ofRows(users, wanted, 'of an EtcdUser', width),
    ...ofSections(alerts, wanted, 'an alert', width),
    ...ofRows(alerts, wanted, 'an alert', width),
    ...rows(backups)
      .filter(
        (cells) =>
          words(cells.join(' '), /`(\w+)`/g).includes(wanted) || words(cells[0] ?? '', /\*(\w+)\*/g).includes(wanted),
      )
      .filter(([phase = '']) => phase.startsWith('*'))
      .map(([phase, ...text]) => ({
        title: `${withoutMarks(phase ?? '')}, of an EtcdBackup`,
        text: paragraphs(text, width),
      })),
  ];
}

/** These are of no condition of an EtcdCluster. */
const ofRestores = ['SnapshotRefused', 'StoreRefused', 'StoreUnreachable', 'BadConfiguration'].map((reason) =>
  reason.toLowerCase(),
);

/** The section whose heading is the reason. */
const ofSections = (page: string, wanted: string, what: string, width: number): Explanation[] =>
  page.split(/^#{2,3} /m).flatMap((section) => {
    const [heading = '', ...lines] = section.split('\n');
    if (heading.toLowerCase() !== wanted) return [];
    return [{ title: `${heading}, ${what}`, text: fromMarkdown(lines.join('\n').trim(), width) }];
  });

/** Rows of tables whose first cell is the reason. */
const ofRows = (page: string, wanted: string, what: string, width: number): Explanation[] =>
  rows(page)
    .filter(([name = '']) => name.toLowerCase() === `\`${wanted}\``)
    .map(([name = '', ...text]) => ({ title: `${withoutMarks(name)}, ${what}`, text: paragraphs(text, width) }));

const rows = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);

const words = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, word]) => word!.toLowerCase());

const paragraphs = (cells: readonly string[], width: number): string =>
  cells.map((cell) => wrap(withoutMarks(cell), width, '  ')).join('\n');

/** Every reason that `explain` knows. */
export const knownReasons = (): string[] =>
  [...new Set([...Object.keys(reasons), ...agentReasons, ...Object.keys(userReasons)])].sort();

function similar(reason: string): string {
  const start = reason.toLowerCase().slice(0, 4);
  const near = start.length > 2 ? knownReasons().filter((each) => each.toLowerCase().startsWith(start)) : [];
  return near.length > 0 ? `; did you mean ${near.join(', ')}?` : '; kubectl etcd status shows those of a cluster';
}
