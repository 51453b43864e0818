import type { Scheme, Transport } from '../../../protocol/record.ts';
import type { Effect } from '../../port/effect.ts';
import { implied, rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { allVotersHealthy, isSeeded, placed, voters } from '../facts/facts.ts';
import { listed, type PlacedMember } from '../facts/member-view.ts';
import {
  acceptsBoth,
  allSpeak,
  askedScheme,
  changed,
  endOfPlaintext,
  hasBegun,
  hasBoth,
  isOutOfReach,
  mayBeSwitched,
  openSince,
  peersSeen,
  speaksOtherwise,
  transportOf,
  urlsToSet,
} from '../facts/transport.ts';
import { imageFits, restlessness } from '../facts/upgrade-path.ts';
import { write } from './record/write.ts';

// TLS on and off while the cluster serves: the record says how the next start of a member speaks, RestartPod restarts the
// members that speak otherwise, and during a roll every member has a peer URL of either scheme.

const change = (v: View, next: Partial<Transport>): Effect => write(v, { transport: changed(v, next) });

/** The members are on their way from one scheme to the other. */
const goes = (target: Scheme, peers: Scheme) => (v: View) =>
  transportOf(v).target === target && askedScheme(v) === target && transportOf(v).peers === peers;

const possible = { 'the template fits, and spec.tls can be followed': (v: View) => imageFits(v) && mayBeSwitched(v) };

const isCalm = (v: View): boolean => restlessness(v) === undefined;
const isHalfRolled = (v: View): boolean => voters(v).some(({ ordinal = -1 }) => speaksOtherwise(v, { ordinal }));

const open = {
  'every voter accepts either scheme': (v: View) => allSpeak(v, acceptsBoth),
  'every member has both URLs': (v: View) => listed(v).every(hasBoth),
};

/** Among the bookkeeping: a pod that is made anew without it would speak as its template says. */
export const noteTransport = rule({
  name: 'SwitchTransport.note',
  does: 'WriteRecord',
  from: 'running',
  to: 'running',
  when: {
    'the record does not say how members speak': (v) => isSeeded(v) && v.record.transport === undefined,
    'it was seen how they speak': (v) => peersSeen(v) !== undefined,
  },
  effect: (v) => write(v, { transport: transportOf(v) }),
});

export const switchTransport = [
  rule({
    name: 'SwitchTransport',
    does: 'WriteRecord',
    from: 'running',
    to: 'switching',
    when: { 'another scheme is asked for than last': (v) => transportOf(v).target !== askedScheme(v) },
    requires: {
      ...possible,
      'the members can restart, or a switch is taken back': (v) => isCalm(v) || hasBegun(v),
    },
    effect: (v) => {
      const target = askedScheme(v);
      const { peers, clients } = transportOf(v);
      return change(v, { target, clients: target === 'https' && peers === 'http' ? 'both' : clients });
    },
  }),
  ...steps({ from: 'switching' }, [
    rule({
      name: 'SwitchTransport.encrypt',
      does: 'WriteRecord',
      to: 'switching',
      when: { 'TLS is asked for, peers speak http': goes('https', 'http') },
      requires: {
        ...open,
        'the template fits, and the members can restart': isCalm,
        'the time for clients is over': (v) => v.date >= endOfPlaintext(v),
      },
      effect: (v) => change(v, { peers: 'https', clients: 'https' }),
    }),
    rule({
      name: 'SwitchTransport.open',
      does: 'WriteRecord',
      to: 'switching',
      when: {
        'TLS is asked for, peers speak http': goes('https', 'http'),
        'the record does not say since when clients may use either scheme': (v) => openSince(v) === undefined,
      },
      requires: open,
      effect: (v) => write(v, { transport: { ...transportOf(v), since: new Date(v.date).toISOString() } }),
    }),
    rule({
      name: 'SwitchTransport.decrypt',
      does: 'WriteRecord',
      to: 'switching',
      when: { 'no TLS is asked for, peers use it': goes('http', 'https') },
      requires: {
        ...possible,
        'every member has both URLs': (v) => listed(v).every(hasBoth),
        'the members can restart, or a roll is taken back': (v) => isCalm(v) || isHalfRolled(v),
      },
      effect: (v) => change(v, { peers: 'http', clients: 'both' }),
    }),
    rule({
      name: 'SwitchTransport.end',
      does: 'WriteRecord',
      to: 'running',
      when: {
        'no TLS is asked for, peers speak http': implied(
          'SwitchTransport, above, comes first, and clients may use either scheme only while peers speak http',
          goes('http', 'http'),
        ),
        'clients may use either scheme': (v) => transportOf(v).clients === 'both',
        'there are no more certificates': (v) => !v.spec.tls,
      },
      requires: possible,
      effect: (v) => change(v, { clients: 'http' }),
    }),
    rule<PlacedMember>({
      name: 'UpdatePeerUrls',
      does: 'MemberUpdate',
      to: 'switching',
      // etcd before 3.5.31 and 3.6.12 lists a learner as a voter afterwards, although raft still has a learner.
      each: placed(voters),
      when: { 'it is to have other peer URLs': (v, m) => urlsToSet(v, m) !== undefined },
      requires: {
        'all voters healthy, or no other member can call it': (v, m) => allVotersHealthy(v) || isOutOfReach(m),
      },
      effect: (v, m) => ({ kind: 'MemberUpdate', memberId: m.id, peerUrls: urlsToSet(v, m)! }),
    }),
  ]),
];
