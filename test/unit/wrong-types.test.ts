// Values that plain JavaScript may pass to each property of each public interface. Each must cause one line with the
// construct's path and the property.
import { Chart, Testing } from 'cdk8s';
import { drivers, type Make, propertiesOf, publicInterfaces } from '../interfaces';

/** Returns values of a wrong type, given the text of the right type. */
function wrongFor(declared: string): readonly unknown[] {
  // An object without a name is as wrong as for a text.
  const type = declared.replace(/\(?string \| INamed\)?/, 'string');
  if (type === 'string') return [3, true, {}, ['a'], null];
  if (type === 'number') return ['3', true, {}, null, Number.NaN];
  if (type === 'boolean') return ['true', 1, {}, null];
  if (type === 'string[]') return ['a', 3, {}, [3], null];
  if (type.endsWith('[]')) return ['a', 3, {}, ['a'], [null], null];
  if (type.includes('any }')) return ['a', 3, null];
  if (type.startsWith('{')) return ['a', 3, ['a'], { a: 3 }, null];
  return ['nonsense', 3, {}, ['a'], null];
}

/** Interfaces for which an empty object is valid. */
const mayBeEmpty =
  /^(EtcdVolume|BackupResources|ReconcilerResources|ControlPlaneCertificates|ControlPlaneFiles|MemberContainers|ProbeTimes|ServiceOptions|DisruptionBudgetOptions|\w*ContainerOptions)$/;

/** Returns all messages of an app about its mistakes. */
function linesOf(make: Make, props: unknown): string[] {
  const app = Testing.app();
  const chart = new Chart(app, 'shop', { namespace: 'shop' });
  try {
    make(chart, props);
    const lines = app.node.findAll().flatMap(({ node }) => node.validate().map((line) => `${node.path}: ${line}`));
    if (lines.length === 0) Testing.synth(chart);
    return lines;
  } catch (error) {
    return [`${(error as Error).message}`];
  }
}

test('every public interface of properties has a driver', () => {
  expect(publicInterfaces).toContain('EtcdClusterProps');
  expect(Object.keys(drivers).sort()).toEqual([...publicInterfaces].sort());
});

test.each(Object.entries(drivers))('%s without a mistake reports none', (_, make) => {
  expect(linesOf(make, {})).toEqual([]);
});

const cases = Object.entries(drivers).flatMap(([name, make]) =>
  propertiesOf(name).flatMap(({ name: property, type, isRequired }) =>
    [...wrongFor(type), ...(isRequired ? [undefined] : [])]
      .filter((value) => !(mayBeEmpty.test(type) && JSON.stringify(value) === '{}'))
      .map((value) => ({ of: name, property, value, make })),
  ),
);

test.each(cases)('$of: $property: $value', ({ property, value, make }) => {
  const lines = linesOf(make, { [property]: value });
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^shop/\\S+: (.*[^\\w])?${property}\\b`)));
  expect(lines.join()).not.toMatch(/is not a function|Cannot |not iterable|TypeError/);
});

test.each(Object.entries(drivers))('%s: an unknown property', (_, make) => {
  expect(linesOf(make, { sise: 3 })).toEqual([expect.stringMatching(/^shop\/\S+: .*\bsise: is not a property/)]);
});
