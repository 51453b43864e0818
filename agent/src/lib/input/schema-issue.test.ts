import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../commands/cli/config-file.ts';
import { parseStore } from '../../store/parse.ts';
import { AgentError, ExitCode } from '../errors.ts';

/** Texts that only the validation library itself would use. */
const raw = /expected|received|Invalid|Unrecognized|Too (small|big)|record|>=|<=/;

async function refusal(call: () => unknown): Promise<string> {
  const error = await (async () => call())().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AgentError);
  const { exitCode, message } = error as AgentError;
  expect({ exitCode, isRaw: raw.test(message), message }).toEqual({ exitCode: ExitCode.usage, isRaw: false, message });
  return message;
}

test.each([
  ['s3://ab', 's3.bucket: must have at least 3 characters'],
  ['s3://bucket?serverSideEncryption=x', 's3.serverSideEncryption: must be AES256 or aws:kms'],
  ['sftp://u@h:0/x', 'sftp.port: must be at least 1'],
  ['{"sftp":{"host":"h","port":65536}}', 'sftp.port: must be at most 65535'],
  ['{"sftp":{"host":"h","port":"22"}}', 'sftp.port: must be a number, not text'],
  ['{"sftp":{"host":"h","port":2.5}}', 'sftp.port: must be a whole number'],
  ['{"sftp":{"host":"h","username":""}}', 'sftp.username: must not be empty'],
  ['{"s3":5}', 's3: must be an object, not a number'],
  ['{"s3":null}', 's3: must be an object, not null'],
  ['{"s3":{"bucket":"abc","pathStyle":"yes"}}', 's3.pathStyle: must be true or false, not text'],
  ['{"filesystem":{"path":true}}', 'filesystem.path: must be text, not true'],
  ['{"command":{"path":"/x","env":{"a b":"c"}}}', 'command.env.a b: is not a valid variable name'],
  ['{"command":{"path":"/x","env":[]}}', 'command.env: must be an object, not a list'],
  ['{"filesystem":{"path":"/x"},"retention":{"last":"3"}}', 'retention.last: must be a number, not text'],
  [
    '{"filesystem":{"path":"/x"},"retention":{"lasst":3}}',
    'retention: unknown field lasst; known: last, within, hourly, daily, weekly, monthly, yearly, minKeep, timeZone',
  ],
])('--store=%s', async (store, said) => {
  expect(() => parseStore(store)).toThrow(expect.objectContaining({ at: 'store', message: said }));
});

describe('--config', () => {
  let place: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'schema-issue-'));
  });
  afterAll(() => rm(place, { recursive: true }));

  test.each([
    ['stores: x', 'stores: must be a list, not text'],
    ['stores: [5]', 'stores.0: must be text or an object, not a number'],
    ['stores: [{s3: {bucket: x}}]', 'stores.0.s3.bucket: must have at least 3 characters'],
    ['stores: [{s33: {}}]', 'stores.0: unknown field s33; known: s3, oss, sftp, filesystem, command, retention'],
    ['retention: 5', 'retention: must be text or an object, not a number'],
    ['retention: {last: "3"}', 'retention.last: must be a number, not text'],
    ['retention: {last: 99999999999999999999}', 'retention.last: must be at most 9007199254740991'],
    ['cluster: [a]', 'cluster: must be text or a number, not a list'],
    ['endpoints: {a: b}', 'endpoints: must be text or a list, not an object'],
    ['endpoints: [5]', 'endpoints.0: must be text, not a number'],
    ['force: [a]', 'force: must be true or false'],
    ['a text', 'must be an object, not text'],
  ])('with %s', async (content, said) => {
    const file = join(place, 'config.yaml');
    await writeFile(file, `${content}\n`);
    expect(await refusal(() => readConfig(file))).toBe(`--config: ${file}: ${said}`);
  });

  test('with an unknown field the error lists the known ones', async () => {
    const file = join(place, 'config.yaml');
    await writeFile(file, 'foo: 3\n');
    expect(await refusal(() => readConfig(file))).toMatch(/: unknown field foo; known: stores, retention, endpoints, /);
  });
});
