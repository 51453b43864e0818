// Makes sure that Ceph's programs are on the PATH, for a second S3 server: radosgw. Installs Debian's packages if they
// are missing, without starting their services. Runs on Node 20.
import { existsSync } from 'node:fs';
import { onPath } from '../lib/on-path.mjs';
import { run, say } from '../lib/run.mjs';

const programs = ['ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'radosgw', 'radosgw-admin'];
const packages = ['ceph-common', 'ceph-mon', 'ceph-osd', 'radosgw'];
const services = ['ceph.target', 'ceph-mon.target', 'ceph-osd.target', 'ceph-radosgw.target', 'ceph-crash.service'];
const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };

async function missing() {
  const found = await Promise.all(programs.map((name) => onPath(new RegExp(`^${name}$`))));
  return programs.filter((_, index) => found[index].length === 0);
}

const aptGet = (...args) => run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], { env, timeout: 900_000 });

async function install() {
  if (process.getuid() !== 0) throw new Error('not root');
  say(`radosgw: installing ${packages.join(', ')}, a minute or so`);
  const args = ['install', '-y', '--no-install-recommends', ...packages];
  await aptGet(...args).catch(async () => {
    await aptGet('update');
    await aptGet(...args);
  });
  if (existsSync('/run/systemd/system')) {
    for (const service of services) await run('systemctl', ['disable', '--now', service], { env }).catch(() => {});
  }
  const absent = await missing();
  if (absent.length > 0) throw new Error(`the packages have no ${absent.join(', ')}`);
}

const started = performance.now();
try {
  const there = (await missing()).length === 0;
  if (!there) await install();
  say(`radosgw: ${there ? 'at hand' : "installed from the distribution's packages"}`, started);
} catch (error) {
  say(`radosgw is missing and cannot be installed here: install ${packages.join(', ')} (${error.message})`);
  process.exitCode = 2;
}
