import { Writable } from 'node:stream';
import { createLog } from '../log.ts';
import { createProgress } from './progress.ts';

const GIB = 1024 ** 3;
const ERASE = '\r\x1b[K';

function fakeStderr(isTTY: boolean, columns = 120) {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk));
      done();
    },
  });
  return { stderr: Object.assign(stream, { isTTY, columns }) as unknown as NodeJS.WriteStream, written };
}

const realNow = Date.now;
let now: number;
beforeEach(() => {
  now = 0;
  Date.now = () => now;
});
afterEach(() => {
  Date.now = realNow;
});

/** Final content of the terminal. */
function screen(written: readonly string[]): string[] {
  const lines = [''];
  for (const part of written) {
    if (part.startsWith(ERASE)) lines[lines.length - 1] = part.slice(ERASE.length);
    else if (part === '\n') lines.push('');
  }
  return lines;
}

test('a terminal shows how far it is, how fast, and how long it will take', () => {
  const { stderr, written } = fakeStderr(true);
  const progress = createProgress(createLog(stderr), stderr);
  progress.phase('stream', 'snapshot of etcd-0');
  now = 4_000;
  progress.bytes(GIB / 4, GIB);
  expect(screen(written)).toEqual([
    `snapshot of etcd-0 ${'█'.repeat(6)}${'░'.repeat(18)} 25% 256.0 MiB, 64.0 MiB/s, 12 s left`,
  ]);
  now = 16_000;
  progress.bytes(GIB, GIB);
  progress.phase('read-back', 'reading it back');
  expect(screen(written)).toEqual(['snapshot of etcd-0: 1.0 GiB in 16 s, 64.0 MiB/s', 'reading it back']);
  progress.end();
  expect(screen(written).at(-1)).toBe('');
});

test('an unfinished phase leaves no line', () => {
  const { stderr, written } = fakeStderr(true);
  const progress = createProgress(createLog(stderr), stderr);
  progress.phase('stream', 'snapshot of etcd-0');
  progress.bytes(5, 10);
  progress.end();
  expect(screen(written)).toEqual(['']);
});

test('a line never wraps', () => {
  const { stderr, written } = fakeStderr(true, 40);
  const progress = createProgress(createLog(stderr), stderr);
  progress.phase('stream', 'snapshot of https://a-very-long-name.of.some.etcd.example:2379');
  progress.bytes(1, 2);
  expect(Math.max(...screen(written).map((line) => line.length))).toBeLessThan(40);
});

test.each([80, 60, 50, 40])(
  '%d columns show the percentage and the time left, whatever else there is room for',
  (columns) => {
    const { stderr, written } = fakeStderr(true, columns);
    const progress = createProgress(createLog(stderr), stderr);
    progress.phase('stream', 'snapshot of https://orders-0.orders-peers.shop.svc.cluster.local:2379');
    now = 4_000;
    progress.bytes(GIB / 4, GIB);
    const [line = ''] = screen(written);
    expect(line.length).toBeLessThan(columns);
    expect(line).toMatch(/^snapshot.*… .*25%.*, 12 s left$/);
    expect(line.includes('64.0 MiB/s')).toBe(columns > 50);
  },
);

test('a bar is shorter where there is less room', () => {
  const { stderr, written } = fakeStderr(true, 72);
  const progress = createProgress(createLog(stderr), stderr);
  progress.phase('stream', 'snapshot of etcd-0');
  now = 4_000;
  progress.bytes(GIB / 2, GIB);
  expect(screen(written)[0]).toMatch(/^snapshot of etcd-0 █{8}░{7} 50% 512\.0 MiB, 128\.0 MiB\/s, 4 s left$/);
});

test('elsewhere each phase is a line of JSON, and a long one adds a line every ten seconds', () => {
  const { stderr, written } = fakeStderr(false);
  const progress = createProgress(createLog(stderr), stderr);
  progress.phase('stream', 'snapshot of etcd-0');
  progress.bytes(10, 100);
  now = 10_001;
  progress.bytes(50, 100);
  progress.bytes(60, 100);
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { phase: 'stream', msg: 'snapshot of etcd-0' },
    { phase: 'stream', msg: 'progress', bytes: 50, totalBytes: 100 },
  ]);
});
