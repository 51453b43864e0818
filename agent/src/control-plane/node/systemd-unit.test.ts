import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dropInsOf, expanded, parseEnvironmentFile, parseSystemdUnit, unknownIn, unseenRoots } from './systemd-unit.ts';

test('a unit contains program, arguments and environment', () => {
  const unit = parseSystemdUnit(
    [
      '[Service]',
      'Environment="ETCD_NAME=cp1" ETCD_LOGGER=zap',
      'EnvironmentFile=-/etc/etcd.env',
      'ExecStart=/usr/bin/etcd \\',
      `  --data-dir=/var/lib/etcd --name \${ETCD_NAME} $MORE`,
    ].join('\n'),
  );
  expect(unit).toMatchObject({
    program: '/usr/bin/etcd',
    env: { ETCD_NAME: 'cp1', ETCD_LOGGER: 'zap' },
    environmentFiles: [{ file: '/etc/etcd.env', optional: true }],
  });
  const args = expanded(unit!.args, { ETCD_NAME: 'cp1', MORE: '--a=1 --b=2' });
  expect(args).toEqual(['--data-dir=/var/lib/etcd', '--name', 'cp1', '--a=1', '--b=2']);
});

test('a comment between continued lines does not count, and an empty line ends them', () => {
  const unit = parseSystemdUnit(
    [
      '[Service]',
      'ExecStart=/usr/bin/etcd \\',
      '  --data-dir=/new \\',
      '# --data-dir=/old \\',
      '  ; --wal-dir=/old',
      '  --name=cp1 \\',
      '',
      'User=etcd',
    ].join('\n'),
  );
  expect(unit).toMatchObject({ args: ['--data-dir=/new', '--name=cp1'], user: 'etcd' });
});

test('a variable that is set nowhere has the name of something in every object', () => {
  expect(expanded(['--name', '$constructor'], {})).toEqual(['--name']);
});

test('a unit that starts nothing is undefined', () => {
  expect(parseSystemdUnit('[Unit]\nDescription=etcd\n')).toBeUndefined();
});

test('an environment file may have quotes and comments', () => {
  expect(parseEnvironmentFile('# etcd\nETCD_NAME="cp1"\n;x\nETCD_DATA_DIR=/d\nexport A=\'b c\'\n')).toEqual({
    ETCD_NAME: 'cp1',
    ETCD_DATA_DIR: '/d',
    A: 'b c',
  });
});

test('values that only systemd can expand are detected', () => {
  const unit = parseSystemdUnit(
    [
      'Environment=ETCD_DATA_DIR=%S/etcd ETCD_NAME=100%%',
      'EnvironmentFile=/etc/etcd/%i.env',
      'User=%i',
      `ExecStart=/usr/bin/etcd --wal-dir=\${WAL} --data-dir=$DATA $MORE`,
    ].join('\n'),
  )!;
  const [wal, data, ...more] = expanded(unit.args, unit.env);
  expect([wal, data, unit.env.ETCD_DATA_DIR!, unit.environmentFiles[0]!.file].map((each) => unknownIn(each!))).toEqual([
    `\${WAL}`,
    '$DATA',
    '%S',
    '%i',
  ]);
  expect([unit.env.ETCD_NAME, unit.user, more]).toEqual(['100%', undefined, []]);
  expect(unknownIn('/var/lib/etcd')).toBeUndefined();
});

describe('drop-ins', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'drop-ins-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  /** Drop-ins of a unit among these files, without their folder. */
  const found = async (unit: string, ...files: string[]) => {
    for (const file of files) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), '');
    }
    const all = await dropInsOf(join(root, unit));
    return all.filter((file) => file.startsWith(root)).map((file) => file.slice(root.length + 1));
  };

  test('include those of the type and of each name prefix up to a dash, sorted by file name', async () => {
    const files = ['service.d/9.conf', 'etcd-.service.d/2.conf', 'etcd-main-.service.d/3.conf', 'socket.d/4.conf'];
    const [type, main, longer] = files;
    const own = 'etcd-main-a.service.d/1.conf';
    expect(await found('etcd-main-a.service', own, ...files)).toEqual([own, main, longer, type]);
    expect(await found('etcd.service')).toEqual([type]);
  });

  test('of files with the same name, the one in the most specific folder applies', async () => {
    const folders = ['etcd-main-a.service.d', 'etcd-main-.service.d', 'etcd-.service.d', 'service.d'];
    while (folders.length > 0) {
      const files = folders.map((folder) => `${folder}/x.conf`);
      expect(await found('etcd-main-a.service', ...files)).toEqual([files[0]]);
      await rm(join(root, folders.shift()!), { recursive: true });
    }
  });

  test('of an instance include those of its template', async () => {
    const files = ['etcd-a@.service.d/2.conf', 'etcd-@.service.d/3.conf', 'etcd-@b.service.d/4.conf'];
    expect(await found('etcd-a@b.service', 'etcd-a@b.service.d/1.conf', ...files)).toEqual([
      'etcd-a@b.service.d/1.conf',
      ...files,
    ]);
  });
});

test('the directories of systemd that the container does not see', async () => {
  const mounts = ['/', '/etc/systemd/system', '/usr/lib'].map((path, n) => `${n} 1 0:1 / ${path} rw`).join('\n');
  const unseen = await unseenRoots({ program: '/opt/etcd-agent/bin/etcd-agent.mjs', mounts });
  expect(unseen).toEqual(['/run/systemd/system', '/usr/local/lib/systemd/system', '/lib/systemd/system']);
  expect(await unseenRoots({ program: '/usr/bin/other', mounts })).toEqual([]);
});
