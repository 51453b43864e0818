import { sharedFields } from './support/owners';

test('a field with two owners is found, a parent of two is not', () => {
  const field = (manager: string, fieldsV1: object) => ({ manager, fieldsV1 });
  const replicas = { 'f:spec': { 'f:replicas': {} } };
  const metadata = {
    managedFields: [
      field('argocd', { 'f:spec': { 'f:template': { '.': {}, 'f:x': {} } } }),
      field('reconciler', replicas),
      field('someone', replicas),
    ],
  };
  expect(sharedFields({ metadata })).toEqual(['/f:spec/f:replicas: reconciler, someone']);
});

test('an object that does not say who owns its fields is not one without shared fields', () => {
  expect(sharedFields({ metadata: {} })).toBeUndefined();
});
