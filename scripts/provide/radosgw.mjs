// Makes sure that Ceph's programs are on the PATH, for a second S3 server: radosgw. Runs on Node 20.
import { provideDebianPrograms } from '../lib/debian-programs.mjs';

await provideDebianPrograms('radosgw', {
  programs: ['ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'radosgw', 'radosgw-admin'],
  packages: ['ceph-common', 'ceph-mon', 'ceph-osd', 'radosgw'],
  services: ['ceph.target', 'ceph-mon.target', 'ceph-osd.target', 'ceph-radosgw.target', 'ceph-crash.service'],
});
