// Makes sure that Prometheus, promtool and Alertmanager are on the PATH. Runs on Node 20.
import { provideDebianPrograms } from '../lib/debian-programs.mjs';

await provideDebianPrograms('prometheus', {
  programs: ['prometheus', 'promtool', 'prometheus-alertmanager'],
  packages: ['prometheus', 'prometheus-alertmanager'],
  services: ['prometheus.service', 'prometheus-alertmanager.service', 'prometheus-node-exporter.service'],
});
