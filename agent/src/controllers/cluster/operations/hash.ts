import { rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { alarms, allVotersHealthy, voters } from '../facts/facts.ts';
import { lasts } from '../facts/observations.ts';

/** Identifies the members of a comparison and their pods. It changes with a replacement, a restart or a restore. */
export const fingerprint = (v: View): string =>
  [v.record.epoch, ...voters(v).map((m) => `${m.id}@${m.pod?.uid}`)].join(' ');

const compared = (v: View): boolean => v.o.hash?.of === fingerprint(v);

export const hashesDiffer = (v: View): boolean => compared(v) && v.o.hash?.equal === false;

export const verifyHash = rule({
  name: 'VerifyHash',
  does: 'HashKV',
  from: 'running',
  to: 'running',
  when: {
    'more than one voter': (v) => voters(v).length > 1,
    'not compared since the last change, or long ago': (v) => !compared(v) || lasts(v, v.o.hash?.at, v.s.hashEvery),
  },
  requires: { 'all voters healthy': allVotersHealthy },
  effect: (v) => ({ kind: 'HashKV', members: voters(v).map(({ id }) => id), of: fingerprint(v) }),
});

export const disarmCorrupt = rule({
  name: 'DisarmCorrupt',
  does: 'Disarm',
  from: 'running',
  to: 'running',
  when: { 'alarm CORRUPT': (v) => alarms(v, 'Corrupt').length > 0 },
  requires: {
    'all voters healthy': allVotersHealthy,
    'compared and equal': (v) =>
      voters(v).length > 1 && compared(v) && v.o.hash!.equal && v.o.hash!.inconclusive === undefined,
    'the member it names was replaced': (v) => namedGone(v),
  },
  effect: (v) => ({ kind: 'Disarm', memberId: alarms(v, 'Corrupt')[0]!.memberId, alarm: 'Corrupt' }),
});

export const holdAlarmsUnknown = rule({
  name: 'HoldAlarmsUnknown',
  requires: { 'alarms are unknown': (v) => !v.o.alarms.known },
  hold: 'StateUnknown',
});

export const holdCorrupt = rule({
  name: 'HoldCorrupt',
  from: 'running',
  to: 'running',
  requires: { 'alarm CORRUPT, or hashes differ': (v) => alarms(v, 'Corrupt').length > 0 || hashesDiffer(v) },
  hold: 'CorruptAlarm',
});

/** etcd 3.6 and 3.7 name the corrupt member; 3.5 reports member 0, which does not exist. */
const namedGone = (v: View): boolean =>
  alarms(v, 'Corrupt').every(({ memberId }) => !voters(v).some(({ id }) => id === memberId));
