import { dateOf, namesAreLocal } from '../../../src/backup/adopt/name-time.ts';
import { splitName } from '../../../src/backup/catalog/snapshot-id.ts';
import { readConfig } from '../../../src/commands/cli/config-file.ts';
import { logErrors } from '../../../src/control-plane/node/etcd-log.ts';
import { readNode } from '../../../src/control-plane/node/node.ts';
import {
  expanded,
  parseEnvironmentFile,
  parseSystemdUnit,
  unknownIn,
} from '../../../src/control-plane/node/systemd-unit.ts';
import { parseInitialCluster } from '../../../src/control-plane/state/snapshot-members.ts';
import { parseEndpoints } from '../../../src/etcd/endpoints.ts';
import { reasonOf } from '../../../src/etcd/offline/etcdutl.ts';
import { messageOf, oneLine } from '../../../src/lib/errors.ts';
import { parseListen } from '../../../src/lib/http/listen-address.ts';
import { proxiesFor } from '../../../src/lib/http/proxy.ts';
import { parseDuration, tryDuration } from '../../../src/lib/input/duration.ts';
import { parseListed } from '../../../src/store/command/command-store.ts';
import { parseStore } from '../../../src/store/open.ts';
import { ossEndpoint } from '../../../src/store/oss/endpoint.ts';
import { endpointOf } from '../../../src/store/s3/endpoint.ts';
import { storeUrl } from '../../../src/store/url.ts';
import { secretWords } from '../secrets.ts';
import { eachOf, refused, type Target } from '../target.ts';
import { fileWith, pathOf } from './scratch.ts';

const never = () => false;

const modified = new Date('2026-11-21T02:38:10Z');

export const settings: readonly Target[] = [
  {
    name: 'store-url',
    about: '--store, as a URL',
    kind: 'text',
    corpus: ['store-url'],
    run: (input) => storeUrl(parseStore(input.toString())),
  },
  {
    name: 'store-spec',
    about: '--store, as JSON, which has rules of retention too',
    kind: 'json',
    corpus: ['store-spec'],
    run: (input) => storeUrl(parseStore(input.toString())),
  },
  {
    name: 'config-file',
    about: '--config',
    kind: 'yaml',
    corpus: ['config'],
    run: (input) => readConfig(fileWith('config.yaml', input)),
  },
  {
    name: 'endpoints',
    about: 'endpoints of etcd and of stores, lists of members, and addresses',
    kind: 'text',
    corpus: ['endpoints', 'cluster-list'],
    run(input) {
      const text = input.toString();
      return eachOf(never, [
        () => parseEndpoints([text], false),
        () => endpointOf({ bucket: 'backups', endpoint: text }),
        () => ossEndpoint({ endpoint: text }),
        () => parseInitialCluster(text),
        () => parseListen(text),
      ]);
    },
  },
  {
    name: 'proxy',
    about: 'HTTPS_PROXY and NO_PROXY, which may hold a password',
    kind: 'text',
    corpus: ['proxy'],
    secrets: [secretWords.password],
    run: (input) =>
      proxiesFor(new URL('https://192.0.2.1'), { HTTPS_PROXY: input.toString(), NO_PROXY: input.toString() }),
  },
  {
    name: 'duration',
    about: 'durations of flags',
    kind: 'text',
    corpus: ['duration'],
    run(input) {
      const lines = input.toString().split('\n');
      const found = lines.map(tryDuration);
      if (found.some(Number.isNaN)) throw new TypeError('NaN');
      if (found.every((one) => one === undefined)) return refused;
      return eachOf(
        never,
        lines.map((text) => () => parseDuration(text, '--timeout')),
      );
    },
  },
  {
    name: 'static-pod',
    about: "kubeadm's manifest of etcd",
    kind: 'yaml',
    corpus: ['static-pod'],
    async run(input) {
      fileWith('manifests/etcd.yaml', input);
      await readNode({ manifestsDir: pathOf('manifests') });
    },
  },
  {
    name: 'etcd-config',
    about: "etcd's own config file",
    kind: 'yaml',
    corpus: ['etcd-config'],
    async run(input) {
      await readNode({ manifestsDir: '/nonexistent', configFile: fileWith('etcd.conf', input) });
    },
  },
  {
    name: 'systemd-unit',
    about: 'a unit of etcd, and its file of variables',
    kind: 'text',
    corpus: ['systemd-unit'],
    async run(input) {
      const text = input.toString();
      const unit = parseSystemdUnit(text);
      const file = fileWith('etcd.env', input);
      await readNode({ manifestsDir: '/nonexistent', environmentFile: file, dataDir: '/data' });
      // Not readNode: it runs the program that the unit names.
      return unit ? expanded(unit.args, { ...parseEnvironmentFile(text), ...unit.env }).map(unknownIn) : refused;
    },
  },
  {
    name: 'etcd-log',
    about: "etcd's log, what etcdutl prints, and any message of a server",
    kind: 'text',
    corpus: ['etcd-log', 'etcdutl'],
    async run(input) {
      const text = input.toString();
      reasonOf({ exitCode: 1, stdout: '', stderr: text });
      messageOf(new Error(text));
      if (/\n/.test(oneLine(text))) throw new TypeError('several lines');
      await logErrors([fileWith('etcd.log', input)], new Date(0));
    },
  },
  {
    name: 'file-name',
    about: 'names of files that another tool wrote, and lines of a listing',
    kind: 'text',
    corpus: ['file-name', 'command-list'],
    run(input) {
      const names = input.toString().split('\n');
      for (const name of names) {
        splitName(name);
        parseListed(name);
        const { createdAt } = dateOf({ name, modified }, true);
        if (Number.isNaN(createdAt.getTime())) throw new TypeError('an invalid time');
      }
      namesAreLocal(names.map((name) => ({ name, modified })));
    },
  },
];
