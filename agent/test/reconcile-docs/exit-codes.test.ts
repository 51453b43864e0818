import { readFile } from 'node:fs/promises';
import { backupJob } from '../../../src/lib/backup-pod.ts';
import { failureOf } from '../../src/controllers/backup/job-outcome.ts';
import { ExitCode } from '../../src/lib/errors.ts';

// The codes are in the agent, as plain numbers in the library, and in two guides.

const read = (path: string) => readFile(new URL(`../../../docs/${path}`, import.meta.url), 'utf8');
const [page, resources] = await Promise.all(
  ['reference/exit-codes.md', 'backups/backup-and-restore-resources.md'].map(read),
);

const { podFailurePolicy } = backupJob({
  ...{ cluster: 'orders', endpoints: ['http://etcd:2379'], stores: [], trigger: 'schedule', labels: {} },
  ...{ image: 'agent', serviceAccountName: 'orders', backoffLimit: 3, activeDeadlineSeconds: 60 },
  resources: { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } },
}) as { podFailurePolicy: { rules: { action: string; onExitCodes?: { values: number[] } }[] } };
const withAction = (action: string): number[] =>
  podFailurePolicy.rules.flatMap((rule) => (rule.action === action ? (rule.onExitCodes?.values ?? []) : []));

/** Returns codes and actions of the Job from the rows of a table. */
const rows = (text: string, column: number): [codes: number[], job: string][] =>
  [...text.matchAll(/^\| (\d[\d, ]*)[^|]*\|.*\|$/gm)].map(([row, codes]) => [
    codes!.match(/\d+/g)!.map(Number),
    row.split('|')[column]!.trim(),
  ]);

/** SIGKILL is not a code of the agent. */
const killed = 137;

test('docs/reference/exit-codes.md has every exit code', () => {
  const [table = ''] = page!.split('podFailurePolicy');
  const codes = rows(table, 3).flatMap(([each]) => each);
  expect(codes.toSorted((a, b) => a - b)).toEqual([...Object.values(ExitCode), killed].toSorted((a, b) => a - b));
});

test('a Job ends at once, or does not count the attempt, by codes of the agent', () => {
  const { usage, partial, sourceSuspect, storeRefused, verificationFailed, refused, terminated } = ExitCode;
  expect(withAction('FailJob')).toEqual([usage, partial, sourceSuspect, storeRefused, verificationFailed, refused]);
  expect(withAction('Ignore')).toEqual([terminated]);
});

test('docs/reference/exit-codes.md says what a Job does', () => {
  const found = rows(page!.split('podFailurePolicy')[0]!, 3);
  const those = (says: RegExp) => found.flatMap(([codes, job]) => (says.test(job) ? codes : []));
  expect(those(/^fails immediately$/)).toEqual(withAction('FailJob'));
  expect(those(/not count$/)).toEqual(withAction('Ignore'));
});

test('docs/backups/backup-and-restore-resources.md has the reason of each exit code', () => {
  const [, list = ''] = /by \[exit code\]\([^)]*\): (.*) \|$/m.exec(resources!) ?? [];
  const documented = [...list.matchAll(/`(\w+)` \((\d+)\)/g)].map(([, reason, code]) => `${code} ${reason}`);
  const reasonOf = (exitCode: number) =>
    failureOf({} as never, undefined, { type: 'Failed', status: 'True' } as never, { exitCode }).reason;
  const general = ['JobFailed', 'TimedOut'];
  const codes = Object.values(ExitCode).filter((code) => !general.includes(reasonOf(code)));
  expect(documented).toEqual(codes.map((code) => `${code} ${reasonOf(code)}`));
});
