/** The lines of a stream of bytes, one after the other. */
export async function* lines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((part) => part !== '');
  }
  if (rest.trim() !== '') yield rest;
}
