// What every status has.
import { choice, integer, list, mapBy, object, text, time } from './schema.mjs';

const condition = object('A condition, as metav1.Condition.', {
  'type!': text('What it is about.', 316, {
    pattern: String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
  }),
  'status!': choice('Whether it holds.', ['True', 'False', 'Unknown']),
  'lastTransitionTime!': time('Since when.'),
  'reason!': text('Why, in one word.', 1024, { minLength: 1, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
  'message!': text('Why, and what to do.', 32768),
  observedGeneration: integer('The generation that it was found for.', 0),
});

export const common = {
  observedGeneration: integer('The generation of the spec that this status is about.', 0),
  phase: text('What is going on, in one word.', 64),
  reason: text('Why, in one word.', 1024),
  message: text('Why, and what to do.', 32768),
};

export const conditions = (types) => list(`Each with its reason: ${types}.`, condition, 0, 32, mapBy('type'));
