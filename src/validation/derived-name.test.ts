import fc from 'fast-check';
import { derivedName } from './derived-name';
import { nameProblem } from './names';

test.each([
  ['Orders', 'orders'],
  ['OrdersApi', 'orders-api'],
  ['ordersApi', 'orders-api'],
  ['OrdersAPI', 'orders-api'],
  ['HTTPServer', 'http-server'],
  ['EtcdV3Orders', 'etcd-v3-orders'],
  ['orders-Nightly', 'orders-nightly'],
  ['Orders-Api', 'orders-api'],
])('%s becomes %s', (id, name) => {
  expect(derivedName(id)).toBe(name);
});

test.each(['orders', 'orders-api', 'a.b', '3', ''])('%j stays', (id) => {
  expect(derivedName(id)).toBe(id);
});

test.each(['Orders_1', 'Orders für 3', 'Orders/Api', '{{ .Name }}'])('%j is left for the message', (id) => {
  expect(derivedName(id)).toBe(id);
});

// fast-check prints it when it fails.
const seed = Number(process.env.TREE_SEED || 1);

test('a valid name stays, and letters and digits give a valid one', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9]([-.a-z0-9]{0,20}[a-z0-9])?$/), (name) => {
      fc.pre(nameProblem('', name) === undefined);
      expect(derivedName(name)).toBe(name);
    }),
    { seed },
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9]{1,30}$/), (id) => {
      expect(nameProblem('', derivedName(id))).toBeUndefined();
    }),
    { seed },
  );
});
