import type { Target } from './target.ts';
import { cluster } from './targets/cluster.ts';
import { credentials } from './targets/credentials.ts';
import { etcdFiles } from './targets/etcd-files.ts';
import { etcdWire } from './targets/etcd-wire.ts';
import { http } from './targets/http.ts';
import { payloads } from './targets/payload.ts';
import { rendering } from './targets/render.ts';
import { settings } from './targets/settings.ts';
import { storeDocuments } from './targets/store-documents.ts';

/** Every parser of ours that reads foreign input. */
export const targets: readonly Target[] = [
  ...etcdFiles,
  ...etcdWire,
  ...storeDocuments,
  ...payloads,
  ...cluster,
  ...http,
  ...credentials,
  ...settings,
  ...rendering,
];
