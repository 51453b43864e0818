import { isAlias, isCollection, Lexer, Parser, parseDocument, visit } from 'yaml';
import { isTooDeep, mostYamlLevels } from '../../../../src/lib/yaml-levels.ts';

/**
 * Parses one document. Throws if it is not valid YAML, and for two things that the library cannot bear: levels without
 * end, and a key that is a list or a map. It turns such keys into text, which takes hours for a few hundred of them in
 * each other.
 */
export function parseYaml(text: string): unknown {
  if (isTooDeep(text, { Lexer, Parser })) throw new TypeError(`has more than ${mostYamlLevels} levels`);
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
