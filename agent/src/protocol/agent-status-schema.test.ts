import { agent, asking } from '../controllers/port/observed.fixture.ts';
import { agentStatusOf } from './agent-status-schema.ts';

const said = (status: object): unknown => JSON.parse(JSON.stringify(status));

test('the status of an agent is accepted unchanged', () => {
  const roots = { peer: { onDisk: 'a', loaded: 'b' }, client: {} };
  for (const status of [agent(0), asking(1), agent(0, { roots })])
    expect(agentStatusOf(said(status))).toEqual(said(status));
});

test('a newer agent may have further fields, states and reasons', () => {
  const status = { ...agent(0), more: 1, state: 'Dancing', reason: 'Music' };
  expect(agentStatusOf(said(status))).toMatchObject({ more: 1, state: 'Dancing' });
});

test.each<[string, unknown, RegExp]>([
  ['nothing', null, /must be an object, not null/],
  ['an empty object', {}, /v: /],
  ['no volume', { ...agent(0), volume: undefined }, /volume: is missing/],
  ['a text in the place of a number', { ...agent(0), minEpoch: '1' }, /minEpoch: must be a number/],
])('%s is refused', (_, status, message) => {
  expect(() => agentStatusOf(status)).toThrow(message);
});
