import { type Document, isAlias, isCollection, Lexer, Parser, parseDocument, visit, type YAMLParseError } from 'yaml';
import { isTooDeep, mostYamlLevels } from '../../../../src/lib/yaml-levels.ts';

/**
 * Parses one document. Throws if it is not valid YAML, and for two things that the library cannot bear: levels without
 * end, and a key that is a list or a map. It turns such keys into text, which takes hours for a few hundred of them in
 * each other.
 */
export const parseYaml = (text: string): unknown => parse(text, () => true).toJS();

/** Parses the first document, and ignores all others, as the kubelet does. */
export const parseFirstYaml = (text: string): unknown => parse(text, ({ code }) => code !== 'MULTIPLE_DOCS').toJS();

/** Sets one value in a document, and leaves the rest with its comments. */
export function setYaml(text: string, path: readonly string[], value: string): string {
  const document = parse(text, () => true);
  document.setIn(path, value);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function parse(text: string, counts: (error: YAMLParseError) => boolean): Document.Parsed {
  if (isTooDeep(text, { Lexer, Parser })) throw new TypeError(`has more than ${mostYamlLevels} levels`);
  const document = parseDocument(text, { logLevel: 'error' });
  const error = document.errors.find(counts);
  if (error) throw error;
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(isAlias(key) ? key.resolve(document) : key)) throw new TypeError('a key is a list or a map');
    },
  });
  return document;
}
