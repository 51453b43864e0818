import { isAlias, isCollection, Lexer, Parser, parseDocument, visit } from 'yaml';

/** None of our documents has as many levels. */
const DEEPEST = 100;

/**
 * Parses one document. Throws if it is not valid YAML, and for two things that the library cannot bear: levels without
 * end, and a key that is a list or a map. It turns such keys into text, which takes hours for a few hundred of them in
 * each other.
 */
export function parseYaml(text: string): unknown {
  if (isTooDeep(text)) throw new TypeError(`has more than ${DEEPEST} levels`);
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

/**
 * The library composes a document by recursion. Thousands of levels take seconds, and may end the process: a regular
 * expression that is compiled near the end of the stack is a fatal error of V8, which nobody can catch.
 */
function isTooDeep(text: string): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme));
    if (parser.stack.length > DEEPEST) return true;
  }
  return false;
}
