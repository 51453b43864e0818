import { PassThrough } from 'node:stream';
import { Terminal } from './terminal.ts';

const hostile = 'a\x1b[31mb\x1b]0;t\x07c\u202ed\u2066e\x9bf\r';

function terminal() {
  const written: string[] = [];
  const out = () =>
    Object.assign(
      new PassThrough().on('data', (chunk) => written.push(`${chunk}`)),
      { isTTY: true },
    );
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const signal = new AbortController().signal;
  return { written, stdin, of: new Terminal({ stdout: out(), stderr: out(), stdin, env: {}, signal }) };
}

/** Characters that move a cursor, or turn a text around. */
const dangerous = (text: string): string[] =>
  [...text].filter((each) => {
    const code = each.codePointAt(0)!;
    return (code < 32 && each !== '\n') || (code > 126 && code < 160) || (code > 0x2029 && code < 0x2070);
  });

test.each(['print', 'note', 'draw'] as const)('%s writes nothing that moves a cursor or turns a text', (method) => {
  const { of, written } = terminal();
  of[method](hostile);
  const text = written.join('').replace('\r\x1b[K', '');
  expect(dangerous(text)).toEqual([]);
  expect(text).toMatch(/a.*b.*c.*d.*e.*f/);
});

test('ask does not either', async () => {
  const { of, written, stdin } = terminal();
  stdin.write('yes\n');
  expect(await of.ask(`${hostile}? `)).toBe('yes');
  const text = written.join('');
  for (const each of ['\x1b[31m', '\x07', '\u202e', '\u2066']) expect(text).not.toContain(each);
});

test('a colored text has only the color that was asked for', () => {
  const { of, written } = terminal();
  of.print(`${of.color(' fine', 'green')} \x1b[31m red`);
  expect(written.join('')).toBe('\x1b[32m fine\x1b[0m \\u001b[31m red\n');
});

test('what JSON has stays JSON with the same value', () => {
  const { of, written } = terminal();
  of.print(JSON.stringify({ hostile }));
  expect(JSON.parse(written.join(''))).toEqual({ hostile });
});
