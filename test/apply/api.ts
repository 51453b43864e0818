import type { ChildProcess } from 'node:child_process';
import { kubectlProxy } from '../e2e/support/kubectl';
import type { Manifest } from '../synth';

/** The API server itself, through `kubectl proxy`: it reports a refusal field by field. */
export class Api {
  static async connect(): Promise<Api> {
    const { proxy, url } = await kubectlProxy();
    return new Api(proxy, url);
  }

  private constructor(
    private readonly proxy: ChildProcess,
    private readonly url: string,
  ) {}

  close(): void {
    this.proxy.kill();
  }

  /** Creates an object in a dry run, and returns the API server's answer. */
  async tryCreate(path: string, manifest: Manifest): Promise<Answer> {
    return this.ask('POST', `${path}?dryRun=All&fieldValidation=Strict`, 'application/json', manifest);
  }

  async create(path: string, manifest: Manifest): Promise<Answer> {
    return this.ask('POST', `${path}?fieldValidation=Strict`, 'application/json', manifest);
  }

  /** The same for a JSON merge patch. */
  async tryPatch(path: string, patch: Manifest): Promise<Answer> {
    return this.ask('PATCH', `${path}?dryRun=All&fieldValidation=Strict`, 'application/merge-patch+json', patch);
  }

  private async ask(method: string, path: string, contentType: string, body: Manifest): Promise<Answer> {
    const headers = { 'content-type': contentType };
    const response = await fetch(this.url + path, { method, headers, body: JSON.stringify(body) });
    const object = (await response.json()) as Manifest;
    if (response.ok) return { object, refusals: [] };
    const causes: Manifest[] = object.details?.causes ?? [{ message: object.message }];
    return { refusals: causes.map(({ field, message }) => `${field}: ${message}`) };
  }
}

export interface Answer {
  readonly object?: Manifest;
  /** `field: message`. */
  readonly refusals: readonly string[];
}
