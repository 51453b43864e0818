/** The part of the `yaml` library that splits a text. The agent and cdk8s have copies of their own. */
export interface YamlTokens {
  readonly Lexer: new () => { lex(text: string): Iterable<string> };
  readonly Parser: new () => { readonly stack: { readonly length: number }; next(lexeme: string): Iterable<unknown> };
}

/** No document of ours has as many levels. */
export const mostYamlLevels = 100;

const indicator = /^[-?:!&]/;
const space = /^[ \t]+$/;

/**
 * The library composes a document by recursion. Thousands of levels take seconds, and may end the process: a regular
 * expression that is compiled near the end of the stack is a fatal error of V8, which nobody can catch. The indicators
 * of a line (`- - - x`) are read by recursion as well, even where none of them is a level.
 */
export function isTooDeep(text: string, { Lexer, Parser }: YamlTokens): boolean {
  const parser = new Parser();
  let indicators = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (!space.test(lexeme)) indicators = indicator.test(lexeme) ? indicators + 1 : 0;
    Array.from(parser.next(lexeme));
    if (Math.max(parser.stack.length, indicators) > mostYamlLevels) return true;
  }
  return false;
}
