import { parseEnvironmentFile } from './environment-file.ts';
import { expanded, parseSystemdUnit } from './systemd-unit.ts';

test('a unit says what etcd is started with', () => {
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

test('a unit that starts nothing is none', () => {
  expect(parseSystemdUnit('[Unit]\nDescription=etcd\n')).toBeUndefined();
});

test('an environment file may have quotes and comments', () => {
  expect(parseEnvironmentFile('# etcd\nETCD_NAME="cp1"\n;x\nETCD_DATA_DIR=/d\nexport A=\'b c\'\n')).toEqual({
    ETCD_NAME: 'cp1',
    ETCD_DATA_DIR: '/d',
    A: 'b c',
  });
});
