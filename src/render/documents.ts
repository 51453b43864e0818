import { createRequire } from 'node:module';
import { Fields, isObject } from './fields';
import { type DocumentReport, InputError, type Report } from './report';

/** One object of the input, not yet looked into. */
export interface Document {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** As it says itself. */
  readonly namespace?: string;
  /** The namespace of its manifests. */
  readonly target?: string;
  readonly top: Fields;
  readonly metadata: Fields;
  readonly spec: Fields;
  readonly report: DocumentReport;
}

/** What is used of the YAML parser that comes with cdk8s. `Yaml.load` is not: it reads broken YAML without a word. */
interface YamlParser {
  parseAllDocuments(text: string, options: object): ParsedDocument[];
}

interface Tag {
  readonly tag: string;
  readonly format?: string;
}

interface ParsedDocument {
  readonly errors: readonly { readonly code: string; readonly linePos?: readonly { line: number; col: number }[] }[];
  toJSON(): unknown;
}

const parser: YamlParser = createRequire(require.resolve('cdk8s'))('yaml');

/** The objects in the YAML, those of Lists one by one. */
export function readDocuments(
  text: string,
  { file, namespace }: { readonly file: string; readonly namespace?: string },
  report: Report,
): Document[] {
  const objects = parse(text, file).flatMap((value, index) => expand(value, `document ${index + 1}`));
  const documents = objects.flatMap(({ value, where }, index) => documentOf(value, where, index, report) ?? []);
  return documents.map((document) => ({ ...document, target: namespace ?? document.namespace }));
}

function parse(text: string, file: string): unknown[] {
  // The version that cdk8s writes, and Kubernetes reads.
  const parsed = parser.parseAllDocuments(text, { version: '1.1', customTags: withoutTimes });
  const [error] = parsed.flatMap(({ errors }) => errors);
  if (error) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    // The parser's own message quotes the file, which may hold secrets.
    const what = error.code.toLowerCase().replaceAll('_', ' ');
    throw new InputError([`error: ${file}: line ${line}, column ${col}: is no YAML (${what}); correct it`]);
  }
  try {
    return parsed.map((document) => document.toJSON()).filter((value) => value !== null && value !== undefined);
  } catch {
    throw new InputError([`error: ${file}: has an alias without an anchor, or far too many; write it without aliases`]);
  }
}

/** To Kubernetes times are strings, and `10:20` is no number of seconds. */
function withoutTimes(tags: readonly Tag[]): Tag[] {
  return tags.filter(({ tag, format }) => !tag.endsWith(':timestamp') && format !== 'TIME');
}

interface Found {
  readonly value: unknown;
  readonly where: string;
}

/** `kubectl get -o yaml` writes a List. */
function expand(value: unknown, where: string): Found[] {
  if (!isObject(value) || !Array.isArray(value.items) || !/List$/.test(String(value.kind))) return [{ value, where }];
  return value.items.map((item, index) => ({ value: item, where: `${where}, item ${index + 1}` }));
}

function documentOf(value: unknown, where: string, index: number, report: Report): Document | undefined {
  if (!isObject(value)) {
    report.of(index, where).error('', 'is no Kubernetes object; give apiVersion, kind, metadata and spec');
    return undefined;
  }
  const metadata = isObject(value.metadata) ? value.metadata : {};
  const kind = textOf(value.kind);
  const name = textOf(metadata.name);
  const what = [kind, name].filter(Boolean).join(' ');
  const top = new Fields(value, '', report.of(index, what === '' ? where : `${what} (${where})`));
  top.ignore('apiVersion', 'kind', 'status');
  return {
    apiVersion: textOf(value.apiVersion),
    kind,
    name,
    namespace: textOf(metadata.namespace) || undefined,
    top,
    metadata: top.object('metadata') ?? new Fields({}, 'metadata', top.report),
    spec: top.object('spec') ?? new Fields({}, 'spec', top.report),
    report: top.report,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
