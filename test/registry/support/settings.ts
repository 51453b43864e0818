/** What `npm run suite -- registry` has made for these suites. */
export interface Rehearsal {
  /** Directory with `release/`, for temporary files too. */
  readonly directory: string;
  readonly version: string;
  /** Digests of the images by their last name, such as `agent`. */
  readonly digests: Readonly<Record<string, string>>;
  /** Directory of the certificate authority of the registry. */
  readonly authority: string;
  readonly address: string;
  readonly ports: { readonly pull: number; readonly push: number };
  /** Path of the program. */
  readonly cosign: string;
}

if (!process.env.REHEARSAL) throw new Error('REHEARSAL is not set; run this suite with npm run suite -- registry');
export const rehearsal: Rehearsal = JSON.parse(process.env.REHEARSAL);
