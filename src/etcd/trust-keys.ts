/** Keys of the Secret with the authorities of both sources of certificates, by the certificate beside which they lie. */
export const trustKeys = {
  peer: 'peer-ca.crt',
  server: 'server-ca.crt',
  client: 'client-ca.crt',
  root: 'client-ca.crt',
} as const;
