// Runs in a container of the agent's image and prints what it finds there.
import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';

function write(path) {
  try {
    writeFileSync(path, '');
    return 'written';
  } catch (error) {
    return error.code;
  }
}

console.log(
  JSON.stringify({
    user: [process.getuid(), process.getgid()],
    node: process.version.split('.')[0],
    etcdutl: execFileSync('etcdutl', ['version'], { encoding: 'utf8' }).split('\n')[0],
    etcds: readdirSync('/opt/etcd')
      .sort()
      .map((minor) => execFileSync(`/opt/etcd/${minor}/etcd`, ['--version'], { encoding: 'utf8' })),
    shells: ['/bin/sh', '/bin/bash', '/usr/bin/env', '/bin/busybox'].filter((path) => existsSync(path)),
    programs: readdirSync('/usr/local/bin').sort(),
    root: write('/file'),
    temporary: write('/tmp/file'),
    apiServer: (await lookup('kubernetes.default.svc')).address,
  }),
);
