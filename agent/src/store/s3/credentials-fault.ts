import { ExitCode, messageOf } from '../../lib/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Verdict = readonly [exitCode: ExitCode, message: string];

/** The error is one of getting credentials, before any request to the bucket. */
export class CredentialsFailure extends Error {}

/** The party that gives out the credentials, and what to check there. */
function issuerOf(env: Environment): { readonly name: string; readonly check: string } {
  const { AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ENDPOINT_URL_STS, AWS_CONTAINER_CREDENTIALS_FULL_URI } = env;
  if (AWS_WEB_IDENTITY_TOKEN_FILE) {
    const at = AWS_ENDPOINT_URL_STS ? ` at ${URL.parse(AWS_ENDPOINT_URL_STS)?.origin ?? 'AWS_ENDPOINT_URL_STS'}` : '';
    return {
      name: `the token service (STS)${at}`,
      check: `check that the trust policy of ${AWS_ROLE_ARN ?? 'AWS_ROLE_ARN'} names this cluster's issuer and this ServiceAccount`,
    };
  }
  if (AWS_CONTAINER_CREDENTIALS_FULL_URI) {
    return { name: 'the agent of EKS Pod Identity', check: 'check the association of this ServiceAccount with a role' };
  }
  return { name: 'the service that gives out credentials', check: 'check the profile, and the role that it names' };
}

const remedy = 'set credentialsDirectory, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role';

/** Explains why there are no credentials. The bucket has not been asked yet, and its permissions are not at fault. */
export function credentialsVerdict(error: unknown, env: Environment = process.env): Verdict {
  const { name, code, path, $metadata } = error as NodeJS.ErrnoException & {
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const { name: issuer, check } = issuerOf(env);
  const status = $metadata?.httpStatusCode;
  const said = messageOf(error).slice(0, 300);
  if (['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR'].includes(code ?? '')) {
    const file = path ?? env.AWS_WEB_IDENTITY_TOKEN_FILE;
    const which =
      file !== undefined && file === env.AWS_WEB_IDENTITY_TOKEN_FILE ? ' (AWS_WEB_IDENTITY_TOKEN_FILE)' : '';
    const next =
      code === 'EACCES' || code === 'EPERM'
        ? 'let this user read it; in a pod, set fsGroup'
        : 'check the path, and the mount of the token';
    return [ExitCode.usage, `no credentials: cannot read ${file ?? 'a file'}${which}: ${code}; ${next}`];
  }
  if (status !== undefined && status >= 400 && status < 500 && status !== 429) {
    return [ExitCode.storeRefused, `no credentials: ${issuer} refuses them: ${name} (${status}): ${said}; ${check}`];
  }
  if (status !== undefined) {
    return [
      ExitCode.storeUnreachable,
      `no credentials: ${issuer} failed: ${name} (${status}): ${said}; try again later`,
    ];
  }
  if (/region is missing/i.test(said)) return [ExitCode.usage, 'no region; set region, or AWS_REGION'];
  if (name === 'CredentialsProviderError') {
    const isGeneral = /^Could not load credentials from any providers/.test(said);
    return [ExitCode.usage, `no credentials found; ${remedy}${isGeneral ? '' : ` (${said})`}`];
  }
  const cause = messageOf((error as Partial<AggregateError>).errors?.[0] ?? error).slice(0, 300);
  const why = code !== undefined && !cause.includes(code) ? `${code}: ${cause}` : cause;
  return [
    ExitCode.storeUnreachable,
    `no credentials: cannot reach ${issuer}: ${why}; check the network policy, the proxy, and AWS_ENDPOINT_URL_STS and AWS_REGION`,
  ];
}
