import { CaBundle } from '../../tls/ca-bundle';
import type { Fields } from '../fields';

export interface SecretFiles {
  readonly secretName: string;
  /** Returns the key of the Secret for this file. Undefined means that every key is a file with the same name. */
  keyOf(path: string): string | undefined;
}

/** Reads files from a Secret: `secretName`, and `items` if its keys have other names. */
export function secretFiles(fields: Fields, paths: readonly string[]): SecretFiles {
  const items = itemsOf(fields, paths);
  return { secretName: fields.required('secretName'), keyOf: (path) => items.get(path) };
}

/** Reads `ca.crt` from a Secret or a ConfigMap. */
export function caBundle(fields: Fields | undefined): CaBundle | undefined {
  if (!fields) return undefined;
  const items = itemsOf(fields, ['ca.crt']);
  const secretName = fields.text('secretName');
  const configMapName = fields.text('configMapName');
  if ((secretName === undefined) === (configMapName === undefined)) {
    fields.report.error(fields.path, 'needs exactly one of secretName and configMapName; give one of them');
    return undefined;
  }
  const key = items.get('ca.crt');
  return secretName === undefined ? CaBundle.fromConfigMap(configMapName!, key) : CaBundle.fromSecret(secretName, key);
}

function itemsOf(fields: Fields, paths: readonly string[]): Map<string, string> {
  const items = fields.objects('items').map((item) => {
    const [key, path] = [item.required('key'), item.required('path')];
    if (path !== '' && !paths.includes(path)) {
      item.report.error(item.at('path'), `is not a file that is used here; write one of ${paths.join(', ')}`);
    }
    return [path, key] as const;
  });
  return new Map(items);
}
