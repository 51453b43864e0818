import type { Planner } from '../explore/passes.ts';
import {
  changeTemplate,
  deleteUsers,
  enableAuth,
  remove,
  resize,
  restore,
  setTemplateTls,
  setTls,
  setVersion,
  volumeLost,
} from '../world/events.ts';
import type { World } from '../world/world.ts';
import { after, edited, fresh, of, type Plot } from './plot.ts';

const on = setTls('on');
const disabling = setTls('disabling');
const off = setTls(undefined);

const plain = (size: number, room = size): Plot['from'] => of({ size, room });
const safe = (size: number, room = size): Plot['from'] => of({ size, room, spec: { tls: 'on' } });

const peers = ({ record }: World) => record?.doc.transport?.peers;
/** The number of members that have peer URLs of both schemes, or of https alone. */
const withUrls = ({ clusters }: World, urls: 'http+https' | 'https' | undefined): number =>
  clusters.at(-1)!.members.filter((m) => m.urls === urls).length;
const speaking = ({ pods }: World, scheme: 'http' | 'https'): number =>
  pods.filter((pod) => pod?.state === 'run' && (pod.speaks?.peers ?? 'http') === scheme).length;

/** On the way to TLS: of three members, one has both URLs; all have both; one uses TLS; one has lost its http URL. */
const doubling = after(plain(3), edited(on), (w) => withUrls(w, 'http+https') === 1);
const doubled = after(plain(3), edited(on), (w) => withUrls(w, 'http+https') === 3);
const doubledForLong = after(plain(3), edited(setTls('on', 'long')), (w) => withUrls(w, 'http+https') === 3);
const encrypting = after(plain(3), edited(on), (w) => peers(w) === 'https' && speaking(w, 'https') === 1);
const trimming = after(plain(3), edited(on), (w) => withUrls(w, 'https') === 1);
/** On the way back: one uses http again; one has lost its https URL. */
const decrypting = after(safe(3), edited(disabling), (w) => speaking(w, 'http') === 1);
const trimmingBack = after(safe(3), edited(disabling), (w) => withUrls(w, undefined) === 1);
/** The members use http, and have their certificates. */
const disabled = (from: Plot['from']) => after(from, edited(disabling));

const POD_OR_VOLUME = ['podLost', 'volumeLost'] as const;

const halfWay: readonly [string, Plot['from']][] = [
  ['one has both URLs', doubling],
  ['all have both URLs', doubled],
  ['one uses TLS', encrypting],
  ['one has only the https URL', trimming],
];

const halfWayBack: readonly [string, Plot['from']][] = [
  ['one uses http', decrypting],
  ['one has only the http URL', trimmingBack],
];

/** The record of a release that knew no schemes. */
const unsaid =
  (from: Plot['from']) =>
  (planner: Planner): World => {
    const world = from(planner);
    const { transport: _, ...doc } = world.record!.doc;
    return { ...world, record: { ...world.record!, doc } };
  };

const withUsers =
  (from: Plot['from']) =>
  (planner: Planner): World => ({ ...from(planner), users: true });

/** TLS is switched on and off while the members serve. */
export const switches: readonly Plot[] = [
  {
    name: 'TLS on in 3',
    from: plain(3),
    budget: { edits: 1, faults: 1, writes: 1, late: 1 },
    edits: [on],
    faults: ['podLost', 'volumeLost', 'etcdCrash', 'noApi'],
  },
  { name: 'TLS on in 3, torn', from: plain(3), budget: { edits: 1, torn: 1 }, edits: [on] },
  {
    name: 'TLS on in 1',
    from: plain(1),
    budget: { edits: 1, faults: 1, writes: 1, late: 1 },
    edits: [on],
    faults: ['podLost', 'volumeLost', 'etcdCrash', 'noApi'],
  },
  {
    name: 'TLS on in 3, taken back',
    from: plain(3),
    budget: { edits: 3 },
    edits: [on, disabling, off],
  },
  {
    name: 'TLS on in 1, taken back',
    from: plain(1),
    budget: { edits: 3, faults: 1, late: 1 },
    edits: [on, disabling, off],
    faults: ['podLost'],
  },
  {
    name: 'TLS on in 3, while clients may use http for long',
    from: plain(3),
    budget: { edits: 2, faults: 1 },
    edits: [setTls('on', 'long'), on],
    faults: ['podLost', 'volumeLost'],
  },
  ...halfWay.flatMap(([how, from]): Plot[] => [
    { name: `TLS on in 3, ${how}`, from, budget: { faults: 2, late: 1 }, faults: ['podLost', 'volumeLost', 'noApi'] },
    {
      name: `TLS on in 3, ${how}, taken back`,
      from,
      budget: { edits: 3, late: 1 },
      edits: [disabling, off, on],
    },
    { name: `TLS on in 3, ${how}, the record lost`, from, budget: { faults: 2 }, faults: ['recordLost', 'podLost'] },
    {
      name: `TLS on in 3, ${how}, grown`,
      from: after(from, (world) => ({
        ...world,
        pods: [...world.pods, null],
        claims: [...world.claims, null],
        volumes: [...world.volumes, null],
      })),
      budget: { edits: 2, faults: 1 },
      edits: [resize(4), disabling],
      faults: ['podLost'],
    },
    {
      name: `TLS on in 3, ${how}, restored`,
      from,
      budget: { edits: 1, faults: 1 },
      edits: [restore('r', 2)],
      faults: POD_OR_VOLUME,
    },
  ]),
  {
    name: 'TLS off in 3',
    from: safe(3),
    budget: { edits: 2, faults: 1, writes: 1, late: 1 },
    edits: [disabling, off],
    faults: ['podLost', 'volumeLost', 'etcdCrash', 'noApi'],
  },
  { name: 'TLS off in 3, torn', from: safe(3), budget: { edits: 2, torn: 1 }, edits: [disabling, off] },
  {
    name: 'TLS off in 1',
    from: safe(1),
    budget: { edits: 2, faults: 1, writes: 1, late: 1 },
    edits: [disabling, off],
    faults: ['podLost', 'volumeLost', 'etcdCrash', 'noApi'],
  },
  {
    name: 'TLS off in 3, its certificates taken away',
    from: disabled(safe(3)),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [off, on],
    faults: ['podLost', 'volumeLost', 'noApi'],
  },
  ...halfWayBack.flatMap(([how, from]): Plot[] => [
    { name: `TLS off in 3, ${how}`, from, budget: { faults: 2, late: 1 }, faults: ['podLost', 'volumeLost', 'noApi'] },
    { name: `TLS off in 3, ${how}, taken back`, from, budget: { edits: 3, late: 1 }, edits: [on, off, disabling] },
    { name: `TLS off in 3, ${how}, the record lost`, from, budget: { faults: 2 }, faults: ['recordLost', 'podLost'] },
  ]),
  {
    name: 'TLS off in 3, refused while there are users',
    from: withUsers(safe(3)),
    budget: { edits: 3, faults: 1 },
    edits: [disabling, deleteUsers, off],
    faults: ['podLost'],
  },
  {
    name: 'TLS off in 3, authentication switched on meanwhile',
    from: disabled(safe(3)),
    budget: { edits: 3 },
    edits: [enableAuth, deleteUsers, off],
  },
  // Pods of a template whose Secrets are missing do not start.
  {
    name: 'TLS on in 1, whose Secrets are missing',
    from: plain(1),
    budget: { edits: 2, faults: 1 },
    edits: [on, off],
    faults: ['brokenTemplate'],
  },
  {
    name: 'TLS on in 3, all have both URLs, whose Secrets are missing',
    from: doubledForLong,
    budget: { edits: 1, faults: 2 },
    edits: [off],
    faults: ['brokenTemplate', 'podLost'],
  },
  {
    name: 'TLS on in 3, a volume lost while all have both URLs, and its learner added',
    from: after(
      doubled,
      (world) => volumeLost(world, 2),
      ({ clusters }) => clusters.at(-1)!.members.some(({ learner }) => learner),
    ),
    budget: { edits: 1, faults: 1, late: 1 },
    edits: [disabling],
    faults: ['podLost'],
  },
  {
    name: 'TLS on in 1, while it grows',
    from: after(plain(1, 3), edited(resize(3)), ({ clusters }) =>
      clusters.at(-1)!.members.some(({ learner }) => learner),
    ),
    budget: { edits: 2, faults: 1 },
    edits: [on, disabling],
    faults: ['podLost'],
  },
  {
    name: 'TLS on in ephemeral 3',
    from: of({ size: 3, spec: { ephemeral: true } }),
    budget: { edits: 2, faults: 1 },
    edits: [on, disabling],
    faults: ['podLost'],
  },
  {
    name: 'TLS on and off in ephemeral 1',
    from: of({ size: 1, spec: { ephemeral: true } }),
    budget: { edits: 3, faults: 1 },
    edits: [on, disabling, off],
    faults: ['jobFails'],
  },
  {
    name: 'TLS on while it boots',
    from: fresh({ size: 3 }),
    budget: { edits: 2, faults: 1 },
    edits: [on, off],
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'TLS on while a cluster is born from a backup',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { edits: 2, faults: 1 },
    edits: [on, off],
    faults: ['podLost'],
  },
  {
    name: 'TLS on in 1, restored, while the template loses its certificates and gets them again',
    from: after(safe(1), edited(restore('r', 2)), ({ record }) => record?.doc.permits[0]?.mode === 'restore'),
    budget: { edits: 2, faults: 1 },
    edits: [setTemplateTls(undefined), setTemplateTls(true)],
    faults: ['podLost'],
  },
  {
    name: 'TLS on in 1, restored without certificates, on a wrong image',
    from: after(safe(1), edited(restore('r', 2)), ({ record }) => record?.doc.permits[0]?.mode === 'restore'),
    budget: { edits: 2, faults: 2 },
    edits: [setTemplateTls(undefined), setTemplateTls(true)],
    faults: ['podLost', 'wrongImage'],
  },
  {
    name: 'TLS on in 3, all have both URLs, on a wrong image',
    from: doubled,
    budget: { faults: 2 },
    faults: ['wrongImage', 'podLost'],
  },
  {
    name: 'TLS on and an upgrade',
    from: plain(3),
    budget: { edits: 3 },
    edits: [on, setVersion('3.6.16'), changeTemplate],
  },
  {
    name: 'TLS on in 3, all have both URLs, without the template',
    from: doubled,
    budget: { edits: 3, faults: 1 },
    edits: [setTemplateTls(undefined), off, setTemplateTls(true)],
    faults: ['podLost'],
  },
  {
    name: 'TLS in the template only',
    from: plain(3),
    budget: { edits: 2, faults: 1 },
    edits: [setTemplateTls(true), on],
    faults: ['podLost'],
  },
  {
    name: 'TLS off in 3, without the template',
    from: disabled(safe(3)),
    budget: { edits: 3, faults: 1 },
    edits: [off, setTemplateTls(true), setTemplateTls(undefined)],
    faults: ['podLost'],
  },
  {
    name: 'TLS on in 3, deleted half-way',
    from: encrypting,
    budget: { edits: 1, faults: 1 },
    edits: [remove],
    faults: ['podLost'],
  },
  {
    name: 'TLS on, with a record of a release that knew no schemes',
    from: unsaid(plain(3)),
    budget: { edits: 2, faults: 1 },
    edits: [on, off],
    faults: ['podLost', 'recordLost'],
  },
  {
    name: 'TLS off in 1, with a record of a release that knew no schemes',
    from: unsaid(safe(1)),
    budget: { edits: 2, faults: 2 },
    edits: [disabling, on],
    faults: ['podLost'],
  },
  {
    name: 'TLS off, with a record of a release that knew no schemes',
    from: unsaid(safe(3)),
    budget: { edits: 2, faults: 1 },
    edits: [disabling, off],
    faults: ['podLost'],
  },
];
