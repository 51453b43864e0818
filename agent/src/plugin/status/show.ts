import { formatBytes } from '../../lib/terminal/progress.ts';
import { table } from '../../lib/terminal/table.ts';
import { cut } from '../../lib/terminal/width.ts';
import type { ReportedMaintenance, ReportedOperation } from '../../protocol/cluster-status.ts';
import type { Commands } from '../commands.ts';
import { isOver } from '../objects.ts';
import type { Terminal } from '../terminal.ts';
import { ageOf, isFuture, plain, wrap } from '../text.ts';
import { oldness } from './currency.ts';
import type { Operation } from './operation.ts';
import type { Reading, ShownMember, StatusView } from './view.ts';

/** One screen for people, at most as wide as the terminal. */
export function showStatus(view: StatusView, { now, commands }: Reading, terminal: Terminal): string {
  const { width } = terminal;
  const item = (text: string): string => hanging(text, width);
  const need = (reason: string): string => `kubectl etcd explain ${reason}`;
  const blocks = [
    head(view, { now, commands }, terminal),
    view.members.length > 0 ? membersTable(view.members, terminal) : 'Members: none are known',
    section(
      'Needs you',
      view.needsYou.map(({ condition, reason, message }) =>
        item(`${condition}: ${reason}: ${message} (${need(reason)})`),
      ),
      terminal,
    ),
    section('Operation', [...operation(view, now), ...maintenance(view, now)].map(item), terminal),
    section(
      'Waiting',
      view.waiting.map(({ what, reason, message }) => item([what, reason, message].filter(Boolean).join(': '))),
      terminal,
    ),
    section('Backups', backups(view, { now, commands }).map(item), terminal),
    section(
      'Certificates',
      view.certificates.map((each) => item(certificate(each, now))),
      terminal,
    ),
    section(
      'Warnings',
      view.warnings.map(({ object, reason, message, at }) =>
        item(`${ageOf(at, now)} ago: ${object}: ${reason}: ${message}`),
      ),
      terminal,
    ),
    ...(view.notRead.length > 0
      ? [wrap(`Not shown, because it could not be read: ${view.notRead.join(', ')}`, width)]
      : []),
    ...(view.notShown.length > 0
      ? [wrap(`Not shown, because you may not read it: ${view.notShown.join(', ')}`, width)]
      : []),
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function head(view: StatusView, { now, commands }: Reading, terminal: Terminal): string {
  const { width } = terminal;
  const name = `${view.cluster} in ${view.namespace}`;
  const state = `${view.phase ?? 'Unknown'}${view.reason ? ` (${view.reason})` : ''}`;
  const counted = `${view.readyVoters ?? '?'} of ${view.size ?? '?'} members ready`;
  const version = `etcd ${view.version ?? '?'}${view.wantedVersion && view.wantedVersion !== view.version ? `, ${view.wantedVersion} requested` : ''}`;
  const facts = `${counted}, ${version}, leader ${view.leader ?? 'unknown'}, observed ${view.observedAt ? `${ageOf(view.observedAt, now)} ago` : 'never'}`;
  const title = view.current
    ? terminal.color(wrap(`${name}: ${state}`, width), view.healthy ? 'green' : 'red')
    : terminal.color(wrap(`${name}: ${oldnessWithLease(view, now)}`, width), 'red');
  return [
    title,
    ...(view.current ? [] : [`  ${state}`, wrap(whatToDo(view, commands), width, '  ')]),
    ...(view.paused
      ? [
          terminal.color(
            wrap(`Paused: nothing is changed until ${commands.etcd(`resume ${view.cluster}`)}`, width, '  '),
            'yellow',
          ),
        ]
      : []),
    ...(view.message ? [wrap(view.message, width, '  ')] : []),
    wrap(facts, width, '  '),
  ].join('\n');
}

const whatToDo = ({ observedAt }: StatusView, commands: Commands): string =>
  `To find out why: ${commands.kubectl('get deployment,pods,lease')}${observedAt ? ', and kubectl etcd explain EtcdReconcilerDown' : ''}`;

/** What the reader must know before anything else: no reconciler has looked at the cluster for long. */
function oldnessWithLease(view: StatusView, now: number): string {
  const { observedAt, reconciler } = view;
  const lease = reconciler?.renewedAt
    ? `; the reconciler ${reconciler.holder || 'that ran last'} renewed its Lease ${ageOf(reconciler.renewedAt, now)} ago`
    : '';
  return `${oldness(view, now)}${lease}${observedAt ? '. It was:' : ''}`;
}

function membersTable(members: readonly ShownMember[], terminal: Terminal): string {
  const rows = members.map((member) => [
    member.pod,
    roleOf(member),
    member.version ?? '?',
    member.dbSize === undefined ? '?' : formatBytes(member.dbSize),
    String(member.lag ?? '?'),
    volume(member),
    cut(member.node ?? '?', 18),
    stateOf(member),
  ]);
  const [header = '', ...lines] = table(
    ['MEMBER', 'ROLE', 'VERSION', 'DB', 'LAG', 'VOLUME', 'NODE', 'STATE'],
    rows.map((row) => row.map(plain)),
  ).split('\n');
  const colored = lines.map((line, index) =>
    terminal.color(cut(line, terminal.width), members[index]?.healthy ? undefined : 'red'),
  );
  return [terminal.color(cut(header, terminal.width), 'dim'), ...colored].join('\n');
}

/** Who does not answer leads nobody, but nobody knows whether it follows. */
const roleOf = ({ role, version }: ShownMember): string => (role === 'Follower' && !version ? '?' : (role ?? '?'));

const stateOf = ({ terminating, healthy, reason = 'not healthy' }: ShownMember): string =>
  terminating ? 'Terminating' : healthy ? 'healthy' : reason;

const volume = ({ volumeSize = '?', volumeUse }: ShownMember): string =>
  volumeUse === undefined ? volumeSize : `${volumeSize}, ${volumeUse}% used`;

function operation({ operation: op, lastOperation: last, waitingFor, current }: StatusView, now: number): string[] {
  const waits = waitingFor ? [waitFor(waitingFor, now)] : [];
  if (op) return [...inProgress(op, now), ...waits, ...(op.message ? [op.message] : [])];
  const none = current ? 'none in progress' : 'unknown';
  return [last ? `${none}; the last: ${nameOf(last)}, ${ended(last, now)}` : none, ...waits];
}

/** Since when is that of the action. What it lacks may have changed meanwhile. */
function waitFor({ for: text, since }: NonNullable<StatusView['waitingFor']>, now: number): string {
  const [action, lacks] = text.split(' waits: ');
  return lacks === undefined
    ? `${text}, for ${ageOf(since, now)}`
    : `the action ${action} has waited for ${ageOf(since, now)}, until this holds: ${lacks}`;
}

const nameOf = ({ type, target, restore }: Operation): string =>
  [type, target && `to ${target}`, restore && `by EtcdRestore ${restore}`].filter(Boolean).join(' ');

function ended({ startedAt, endedAt, outcome }: ReportedOperation, now: number): string {
  const took = ageOf(startedAt, Date.parse(endedAt ?? ''));
  const what = { Completed: 'completed', Failed: 'FAILED', Superseded: 'given up' };
  return `${what[outcome ?? 'Superseded'] ?? 'ended'} ${ageOf(endedAt, now)} ago after ${took}`;
}

/** Done steps beyond these are only counted, so that the status stays on one screen. */
const shownSteps = 5;

function inProgress(op: Operation, now: number): string[] {
  const { startedAt, steps = [], next = [] } = op;
  const done = steps.filter(({ endedAt }) => endedAt !== undefined);
  const earlier = done.length - shownSteps;
  return [
    `${nameOf(op)}${startedAt ? `, for ${ageOf(startedAt, now)}` : ''}`,
    ...(earlier > 0 ? [`done: ${earlier} earlier ${earlier === 1 ? 'step' : 'steps'}`] : []),
    ...done
      .slice(-shownSteps)
      .map(({ name, startedAt: from, endedAt: to }) => `done: ${name} (${ageOf(from, Date.parse(to ?? ''))})`),
    ...steps
      .filter(({ endedAt }) => endedAt === undefined)
      .map(({ name, startedAt: from }) => `now: ${name}, for ${ageOf(from, now)}`),
    ...(next.length > 0 ? [`next: ${next.join(', ')}`] : []),
  ];
}

/** Milliseconds. A request may begin an hour after its time, and then what came of it is shown for another. */
const recent = 2 * 3_600_000;

/** What somebody asked for once, while it waits or runs, and for some time after. */
function maintenance({ maintenance: { defragment, moveLeader } = {} }: StatusView, now: number): string[] {
  const line = (what: string, request: ReportedMaintenance | undefined): string[] => {
    if (!request || (isOver({ status: request }) && !(now - Date.parse(request.at) < recent))) return [];
    const { at, phase, message } = request;
    const when = isFuture(at, now) ? `requested for ${at}` : `requested ${ageOf(at, now)} ago`;
    return [`${what}, ${when}: ${phase}: ${message}`];
  };
  return [...line('defragmentation', defragment), ...line('move of the leader', moveLeader)];
}

function backups(
  { cluster, lastBackup, lastBackupReplacedBy, failedBackup, schedules }: StatusView,
  { now, commands }: Reading,
): string[] {
  const last = lastBackup
    ? [
        `last good: ${ageOf(lastBackup.at, now)} ago`,
        lastBackup.schedule && `schedule ${lastBackup.schedule}`,
        lastBackup.revision !== undefined && `revision ${lastBackup.revision}`,
        lastBackup.sizeBytes !== undefined && formatBytes(lastBackup.sizeBytes),
        lastBackup.verified && `verified: ${lastBackup.verified}`,
      ]
        .filter(Boolean)
        .join(', ')
    : 'no good backup is known';
  return [
    last,
    ...(lastBackupReplacedBy
      ? [
          `it has the data that EtcdRestore ${lastBackupReplacedBy} replaced; no later backup is known: ${commands.etcd(`backup ${cluster}`)}`,
        ]
      : []),
    ...(failedBackup
      ? [`failed since: ${failedBackup.name}, ${ageOf(failedBackup.at, now)} ago: ${failedBackup.message}`]
      : []),
    schedules.length > 0
      ? `schedules: ${schedules.map(({ name, cron }) => `${name}${cron ? ` (${cron})` : ''}`).join(', ')}`
      : 'there is no schedule',
  ];
}

export function certificate({ secret, notAfter, renewAt }: StatusView['certificates'][number], now: number): string {
  const left = Date.parse(notAfter) - now;
  const until =
    left > 0 ? `valid until ${day(notAfter)}, ${Math.floor(left / 86_400_000)} days` : `EXPIRED ${day(notAfter)}`;
  return `${secret}: ${until}${renewAt ? `, renewed ${day(renewAt)}` : ', not renewed as things are'}`;
}

const day = (time: string): string => plain(time).slice(0, 10);

const section = (title: string, items: readonly string[], terminal: Terminal): string =>
  items.length > 0 ? [terminal.color(title, 'bold'), ...items].join('\n') : '';

const hanging = (text: string, width: number): string => wrap(text, width - 2, '    ').replace(/^ {4}/, '  ');
