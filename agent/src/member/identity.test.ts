import { identity } from './gate/gate.fixture.ts';
import { parseIdentity } from './identity.ts';

const read = (document: unknown) => parseIdentity(JSON.stringify(document));

test('an identity is read as it was written, with the fields of a newer agent', () => {
  const later = { ...identity(), invented: { later: true } };
  expect(read(later)).toEqual({ kind: 'identity', identity: later });
});

test.each([
  ['', /not valid JSON/],
  ['null', /./],
  ['{}', /v: /],
  [JSON.stringify({ ...identity(), v: 2 }), /^its format is version 2, and this agent supports version 1/],
  [JSON.stringify({ ...identity(), epoch: '1' }), /^epoch: /],
  [JSON.stringify({ ...identity(), ordinal: -1 }), /^ordinal: /],
  [JSON.stringify({ ...identity(), state: 'new' }), /^state: /],
  [JSON.stringify({ ...identity(), lastVersion: '' }), /^lastVersion: /],
])('%s is unreadable', (text, why) => {
  expect(parseIdentity(text)).toEqual({ kind: 'unreadable', why: expect.stringMatching(why) });
});
