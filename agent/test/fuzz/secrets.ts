/** Secrets in the inputs of the corpus: a message with a part of one of them leaks it. */
export const secretWords = {
  token: 'tkn-Zw3qVx8LrN2mGf7K',
  passphrase: 'Open-Sesame-4711-Quux',
  password: 'Pa55-of-orders-Hv9Tq',
  key: 'SecretKey0fTheStoreXyZ',
} as const;
