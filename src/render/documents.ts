import { isTooDeep, mostYamlLevels, type YamlTokens } from '../lib/yaml-levels';
import { cdk8sYaml } from '../packaged/cdk8s-yaml';
import { isObject } from '../validation/plain-object';
import { Fields } from './fields';
import { type DocumentReport, InputError, type Report } from './report';

/** One object of the input. Its fields have not been read yet. */
export interface Document {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Namespace in its metadata. */
  readonly namespace?: string;
  /** Namespace of its manifests. */
  readonly target?: string;
  readonly top: Fields;
  readonly metadata: Fields;
  readonly spec: Fields;
  readonly report: DocumentReport;
}

/** The part of cdk8s' YAML parser that we use. */
interface YamlParser extends YamlTokens {
  parseAllDocuments(text: string, options: object): ParsedDocument[];
  visit(document: ParsedDocument, visitor: { Pair(key: unknown, pair: { readonly key: unknown }): void }): void;
  isCollection(node: unknown): boolean;
  isAlias(node: unknown): node is { resolve(document: ParsedDocument): unknown };
}

interface Tag {
  readonly tag: string;
  readonly format?: string;
  readonly test?: RegExp;
}

interface Fault {
  readonly code: string;
  readonly linePos?: readonly { line: number; col: number }[];
}

interface ParsedDocument {
  readonly errors: readonly Fault[];
  readonly warnings: readonly Fault[];
  toJSON(): unknown;
}

const parser: YamlParser = cdk8sYaml;

/** Returns the objects in the YAML. Each item of a List is an object of its own. */
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
  const parsed = parseAll(text, file);
  const [error] = parsed.flatMap(({ errors }) => errors);
  if (error) {
    // Do not show the parser's own message: it quotes the file, which may contain secrets.
    const what = error.code.toLowerCase().replaceAll('_', ' ');
    throw new InputError([`error: ${file}: ${positionOf(error)}: is not valid YAML (${what}); correct it`]);
  }
  const [tag] = parsed.flatMap(({ warnings }) => warnings).filter(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (tag)
    throw new InputError([
      `error: ${file}: ${positionOf(tag)}: has a tag that Kubernetes does not have; write it without`,
    ]);
  for (const document of parsed) refuseKeys(document, file);
  try {
    return parsed.map((document) => document.toJSON()).filter((value) => value !== null && value !== undefined);
  } catch {
    throw new InputError([
      `error: ${file}: has an alias without an anchor, or too many aliases; write it without aliases`,
    ]);
  }
}

function positionOf({ linePos }: Fault): string {
  const { line, col } = linePos?.[0] ?? { line: 1, col: 1 };
  return `line ${line}, column ${col}`;
}

/** The parser turns a key that is a list or a map into text, which takes hours for a few hundred of them in each other. */
function refuseKeys(document: ParsedDocument, file: string): void {
  const Pair = (_: unknown, { key }: { readonly key: unknown }) => {
    if (!parser.isCollection(parser.isAlias(key) ? key.resolve(document) : key)) return;
    throw new InputError([`error: ${file}: has a key that is a list or a map; write a name`]);
  };
  parser.visit(document, { Pair });
}

function parseAll(text: string, file: string): ParsedDocument[] {
  if (isTooDeep(text, parser))
    throw new InputError([`error: ${file}: is nested too deep: more than ${mostYamlLevels} levels; write it flatter`]);
  // YAML 1.1 is the version that cdk8s writes and Kubernetes reads.
  return parser.parseAllDocuments(text, { version: '1.1', customTags: likeKubernetes });
}

/** In Kubernetes times are strings, `10:20` is not a number of seconds, and `e830` is not a number. JSON has no sets and the like. */
function likeKubernetes(tags: readonly Tag[]): Tag[] {
  return tags
    .filter(({ tag, format }) => !/:(timestamp|set|omap|pairs|binary)$/.test(tag) && format !== 'TIME')
    .map((tag) => (tag.format === 'EXP' ? { ...tag, test: /^[-+]?(\.\d+|\d[\d_]*(\.[\d_]*)?)[eE][-+]?\d+$/ } : tag));
}

interface Found {
  readonly value: unknown;
  readonly where: string;
}

/** Returns the items of a List, which `kubectl get -o yaml` writes, otherwise the value itself. */
function expand(value: unknown, where: string): Found[] {
  if (!isObject(value) || !Array.isArray(value.items) || !/List$/.test(String(value.kind))) return [{ value, where }];
  return value.items.map((item, index) => ({ value: item, where: `${where}, item ${index + 1}` }));
}

function documentOf(value: unknown, where: string, index: number, report: Report): Document | undefined {
  if (!isObject(value)) {
    report.of(index, where).error('', 'is not a Kubernetes object; give apiVersion, kind, metadata and spec');
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
