import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const read = (file: string) => readFileSync(join(__dirname, '../../gitops/argocd', file), 'utf8');

test('the ApplicationSet makes the Application that the suite applies', () => {
  const server = 'https://kubernetes.default.svc';
  const text = read('applicationset.yaml')
    .replaceAll('{{.environment}}', 'production-eu')
    .replaceAll('{{.server}}', server);
  const { template, generators } = parse(text).spec;
  expect(template.spec).toEqual(parse(read('application.yaml')).spec);
  expect(generators[0].list.elements.map(({ environment }: { environment: string }) => environment)).toContain(
    'production-eu',
  );
});
