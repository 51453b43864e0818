import { isAlias, isCollection, parseDocument, visit } from 'yaml';

/**
 * Parses one document. Throws if it is not valid YAML, and for a key that is a list or a map: the library turns such keys
 * into text, which takes hours for a few hundred of them in each other.
 */
export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { logLevel: 'error' });
  const [error] = document.errors;
  if (error) throw error;
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(isAlias(key) ? key.resolve(document) : key)) throw new TypeError('a key is a list or a map');
    },
  });
  return document.toJS();
}
