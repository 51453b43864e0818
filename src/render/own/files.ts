import { CaBundle } from '../../tls/ca-bundle';
import type { Fields } from '../fields';

export interface SecretFiles {
  readonly secretName: string;
  /** Which key of the Secret is the file of that name; none when all keys are files under their own names. */
  keyOf(path: string): string | undefined;
}

/** Files from a Secret: `secretName`, and `items` when its keys have other names. */
export function secretFiles(fields: Fields, paths: readonly string[]): SecretFiles {
  const items = itemsOf(fields, paths);
  return { secretName: fields.required('secretName'), keyOf: (path) => items.get(path) };
}

/** `ca.crt` from a Secret or a ConfigMap. */
export function caBundle(fields: Fields | undefined): CaBundle | undefined {
  if (!fields) return undefined;
  const items = itemsOf(fields, ['ca.crt']);
  const secretName = fields.text('secretName');
  const configMapName = fields.text('configMapName');
  if ((secretName === undefined) === (configMapName === undefined)) {
    fields.report.error(fields.path, 'names not exactly one of secretName and configMapName; give one of them');
    return undefined;
  }
  const key = items.get('ca.crt');
  return secretName === undefined ? CaBundle.fromConfigMap(configMapName!, key) : CaBundle.fromSecret(secretName, key);
}

function itemsOf(fields: Fields, paths: readonly string[]): Map<string, string> {
  const items = fields.objects('items').map((item) => {
    const [key, path] = [item.required('key'), item.required('path')];
    if (path !== '' && !paths.includes(path)) {
      item.report.error(item.at('path'), `is no file that can be given here; write one of ${paths.join(', ')}`);
    }
    return [path, key] as const;
  });
  return new Map(items);
}
