// The fields that every status has.
import { choice, integer, list, mapBy, named, object, text, time } from './schema.mjs';

const condition = named(
  'ConditionStatus',
  object('A condition, with the fields of metav1.Condition.', {
    'type!': text('The type of the condition.', 316, {
      pattern: String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
    }),
    'status!': choice('True if the condition holds, False if it does not, Unknown if that is not known.', [
      'True',
      'False',
      'Unknown',
    ]),
    'lastTransitionTime!': time('The time at which the status last changed.'),
    'reason!': text('The reason, in one word.', 1024, {
      minLength: 1,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    'message!': text('The reason in full, and what to do.', 32768),
    observedGeneration: integer('The generation for which the condition was observed.', 0),
  }),
);

export const common = {
  observedGeneration: integer('The generation of the spec that this status describes.', 0),
  phase: text('The current phase, in one word. docs/operations/runbook.md lists all phases.', 64),
  reason: text('The reason, in one word.', 1024),
  message: text('The reason in full, and what to do.', 32768),
};

export const conditions = (types) => list(`The conditions: ${types}.`, condition, 0, 32, mapBy('type'));
