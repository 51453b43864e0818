/** How an S3 server encrypts the objects that it stores. */
export enum ServerSideEncryption {
  /** SSE-S3: with a key of the server's own. */
  AES256 = 'AES256',
  /** SSE-KMS: with a key of the key management service. */
  KMS = 'aws:kms',
}
