import { identity } from './gate/gate.fixture.ts';
import { parseIdentity } from './identity.ts';

const read = (document: unknown) => parseIdentity(JSON.stringify(document));

test('what was written is read, with the fields of a later agent', () => {
  const later = { ...identity(), invented: { later: true } };
  expect(read(later)).toEqual({ kind: 'identity', identity: later });
});

test.each([
  ['', /no JSON/],
  ['null', /./],
  ['{}', /v: /],
  [JSON.stringify({ ...identity(), v: 2 }), /^it is of format 2, and this agent knows 1/],
  [JSON.stringify({ ...identity(), epoch: '1' }), /^epoch: /],
  [JSON.stringify({ ...identity(), ordinal: -1 }), /^ordinal: /],
  [JSON.stringify({ ...identity(), state: 'new' }), /^state: /],
  [JSON.stringify({ ...identity(), lastVersion: '' }), /^lastVersion: /],
])('%s says nothing to rely on', (text, why) => {
  expect(parseIdentity(text)).toEqual({ kind: 'unreadable', why: expect.stringMatching(why) });
});
