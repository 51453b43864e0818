import { checkOf, holds } from './cel';

test.each([
  ['a quantity', "isQuantity('100m')", true],
  ['a quantity with an exponent', "isQuantity('1e3')", true],
  ['no quantity', "isQuantity('1 Gi')", false],
  ['a quantity without digits', "isQuantity('.')", false],
  ['a unit that is none', "isQuantity('1KB')", false],
  ['thousandths', "quantity('500m').compareTo(quantity('0.5')) == 0", true],
  ['powers of two', "quantity('1Gi').compareTo(quantity('1024Mi')) == 0", true],
  ['powers of ten', "quantity('1k').compareTo(quantity('1e3')) == 0", true],
  ['a smaller one', "quantity('2G').compareTo(quantity('2Gi')) < 0", true],
  ['a negative one', "quantity('-1').compareTo(quantity('0')) < 0", true],
  ['a quantity of something else', "quantity('much').compareTo(quantity('0')) < 0", false],
  ['the order of bytes', "bytes('\u{ffff}') < bytes('\u{1f600}')", true],
])('%s', (_, rule, is) => {
  expect(holds(rule, {})).toBe(is);
});

test('a rule that cannot be evaluated does not hold', () => {
  expect(holds('self.size > 1', {})).toBe(false);
  expect(holds('!self.isNothing()', 'a')).toBe(false);
  expect(() => checkOf('self.(')).toThrow();
});

test('a field that every object of JavaScript has is none', () => {
  expect(holds('has(self.constructor)', {})).toBe(false);
});

test('a field whose name is a reserved word is escaped', () => {
  expect(holds('has(self.__namespace__)', { namespace: 'shop' })).toBe(true);
  expect(holds('has(self.__namespace__)', {})).toBe(false);
});
