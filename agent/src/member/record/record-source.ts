import { fileURLToPath } from 'node:url';
import type { RecordAnswer } from '../../protocol/record-schema.ts';
import { ConfigMapRecord } from './config-map-record.ts';
import { FileRecord } from './file-record.ts';

/** Where a pod reads the record. It never writes it. */
export interface RecordSource {
  /** Throws when there is no answer: that says nothing about the record. */
  read(signal?: AbortSignal): Promise<RecordAnswer>;
}

export interface RecordPlace {
  /** The name of a ConfigMap of the namespace, or file:///path/record.json. */
  readonly record: string;
  readonly namespace: string;
  /** Of one read, in ms. */
  readonly recordTimeout: number;
}

export function openRecordSource({ record, namespace, recordTimeout }: RecordPlace): RecordSource {
  if (record.startsWith('file:')) return new FileRecord(fileURLToPath(record));
  return new ConfigMapRecord(namespace, record, recordTimeout);
}
