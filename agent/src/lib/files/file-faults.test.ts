import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../errors.ts';
import { cannotWrite, readFault } from './file-faults.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'faults-'));
});
afterEach(() => rm(directory, { recursive: true }));

const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error) => error,
  );
const codeError = (code: string) => Object.assign(new Error(`${code}: text of the system`), { code });

test('a file that cannot be read: why, and what to do', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');
  const faultOf = async (path: string) => readFault(await failure(readFile(path)));
  expect(await faultOf(join(directory, 'none'))).toBe('(ENOENT): it does not exist; check the path');
  expect(await faultOf(join(file, 'none'))).toBe('(ENOTDIR): part of the path is not a directory; check the path');
  expect(await faultOf(directory)).toBe('(EISDIR): it is a directory; name a file');
  expect(readFault(codeError('EACCES'))).toBe(
    `(EACCES): uid ${process.getuid!()} has no right to read it; change the owner or mode`,
  );
});

test('a path that cannot be written: why, and what to do', async () => {
  const gone = join(directory, 'none', 'file');
  const error = await failure(writeFile(gone, ''));
  expect(cannotWrite(gone, error, 'to')).toMatchObject({
    exitCode: ExitCode.usage,
    at: 'to',
    message: `cannot write ${gone} (ENOENT): there is no such directory; check the path`,
    cause: error,
  });
  expect(cannotWrite('/d', codeError('ENOSPC')).message).toBe(
    'cannot write /d (ENOSPC): the disk is full; make room there',
  );
  expect(cannotWrite('/d', codeError('EROFS')).message).toMatch(/^cannot write \/d \(EROFS\): .* mount it writable/);
});

test('any other error is quoted, without a guess', () => {
  expect(readFault(codeError('EMFILE'))).toBe('(EMFILE: text of the system)');
  expect(readFault(new Error('no code'))).toBe('(no code)');
  expect(readFault(codeError('constructor'))).toBe('(constructor: text of the system)');
});
