import { amountOf } from './quantity';

test.each([
  ['8Gi', 8 * 2 ** 30],
  ['0.5Gi', 2 ** 29],
  ['500M', 5e8],
  ['1e9', 1e9],
  ['2E', 2e18],
  ['128974848', 128974848],
  ['100m', 0.1],
  ['0', 0],
  ['8 Gi', undefined],
  ['-1Gi', undefined],
  ['8gb', undefined],
  ['', undefined],
])('%s', (quantity, amount) => {
  expect(amountOf(quantity)).toBe(amount);
});
