// Makes sure that a registry, and what pushes images to it, are on the PATH. Runs on Node 20.
import { provideDebianPrograms } from '../lib/debian-programs.mjs';

await provideDebianPrograms('docker-registry', {
  programs: ['docker-registry', 'htpasswd', 'openssl', 'skopeo'],
  packages: ['docker-registry', 'apache2-utils', 'openssl', 'skopeo'],
  services: ['docker-registry.service'],
});
