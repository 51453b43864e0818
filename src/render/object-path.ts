import type { Fields } from './fields';

export interface ObjectPath {
  readonly bucket: string;
  readonly key: string;
}

/** `bucket/key`, as both older operators write where a snapshot lies. */
export function objectPath(store: Fields): ObjectPath | undefined {
  const path = store.required('path');
  if (path === '') return undefined;
  const [, bucket, key] = /^([^/{}]+)\/(.+)$/.exec(path) ?? [];
  if (bucket !== undefined && key !== undefined) return { bucket, key };
  const what = path.includes('{{') ? 'has a template for its bucket' : 'names no object within a bucket';
  store.report.error(store.at('path'), `${what}; write it like BUCKET/etcd/orders.db`);
  return undefined;
}
